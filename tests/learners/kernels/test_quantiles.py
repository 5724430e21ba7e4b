"""A confidence's bucket is its rank among its own column's recent numbers."""

import numpy as np

from galloon.learners.kernels.quantiles import BUCKETS, EARLY, NONE, REFRESH, RING, buckets_of, note


def fresh(columns):
    return np.zeros((columns, RING)), np.zeros(columns, np.int64), np.full((columns, BUCKETS - 1), np.inf)


def test_buckets_are_of_equal_size_whatever_the_scale():
    ring, seen, borders = fresh(2)
    rng = np.random.default_rng(0)
    numbers = np.column_stack([rng.random(RING), 1e6 * rng.random(RING) ** 4])
    note(ring, seen, borders, numbers)
    counts = np.stack(
        [np.bincount(column, minlength=BUCKETS) for column in buckets_of(seen, borders, numbers).T]
    )
    assert (abs(counts - RING / BUCKETS) <= RING / 8 + 2).all()


def test_borders_are_the_quantiles_of_what_was_seen():
    ring, seen, borders = fresh(1)
    numbers = np.random.default_rng(1).random((REFRESH, 1))
    note(ring, seen, borders, numbers)
    ordered = np.sort(numbers[:, 0])
    assert borders[0].tolist() == [ordered[b * REFRESH // BUCKETS] for b in range(1, BUCKETS)]


def test_nothing_and_too_little_are_told_apart():
    ring, seen, borders = fresh(1)
    note(ring, seen, borders, np.full((REFRESH - 1, 1), 0.5))
    assert buckets_of(seen, borders, np.array([[np.nan], [0.5]]))[:, 0].tolist() == [NONE, EARLY]


def test_the_ring_forgets():
    ring, seen, borders = fresh(1)
    note(ring, seen, borders, np.zeros((RING, 1)))
    note(ring, seen, borders, np.linspace(1, 2, 2 * RING)[:, None])
    assert buckets_of(seen, borders, np.array([[0.9]]))[0, 0] == 0
    assert borders[0, 0] > 1
