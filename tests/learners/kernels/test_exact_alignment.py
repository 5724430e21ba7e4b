"""The exact alignment against trying everything."""

import numpy as np
from hypothesis import given, settings

from galloon.learners.kernels.exact_alignment import exact_alignment, timed_costs
from tests.learners.kernels.small_vocabulary import (
    COSTS,
    GAP,
    SEQUENCES,
    WEIGHTS,
    check_complete,
    cost,
    flat,
    total_cost,
)
from tests.reference.alignment import fullest_alignment, least_cost


@given(sequences=SEQUENCES, weights=WEIGHTS)
@settings(deadline=None, max_examples=80)
def test_the_exact_alignment_has_the_least_sum_of_pairs(sequences, weights):
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    found = exact_alignment(*flat(sequences), w, COSTS)
    check_complete(found, sequences)
    expected = least_cost(tuple(map(tuple, sequences)), tuple(w.tolist()), cost)
    assert total_cost(found, sequences, w.tolist()) == expected


@given(sequences=SEQUENCES, weights=WEIGHTS)
@settings(deadline=None, max_examples=40)
def test_of_equals_it_is_the_fullest_whatever_was_left_out(sequences, weights):
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    expected = fullest_alignment(sequences, w.tolist(), cost)
    assert exact_alignment(*flat(sequences), w, COSTS).tolist() == expected


def test_tokens_that_lie_apart_cost_more_and_unknown_times_nothing():
    tokens = np.array([1, 1, 4], dtype=np.int32)
    times = np.array([[1.0, 1.0], [2.0, 1.0], [np.nan, np.nan]])
    found = timed_costs(tokens, times, COSTS, 200)
    expected = [[0, GAP, GAP, GAP], [GAP, 0, 100, 1000], [GAP, 100, 0, 1000], [GAP, 1000, 1000, 0]]
    assert found.tolist() == expected
    times[1] = 9.0, 1.0
    assert timed_costs(tokens, times, COSTS, 200)[1, 2] == 200
