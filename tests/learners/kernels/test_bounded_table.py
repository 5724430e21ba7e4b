"""Bounded tables behave as a dictionary until they are full, then the least goes first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.bounded_table import BoundedTable
from galloon.learners.errors import DamagedState
from galloon.learners.kernels.bounded_table import EVICTED, FOUND, FREE, STRETCH, claim, find, key_of, mix


@settings(deadline=None, max_examples=60)
@given(keys=st.lists(st.integers(1, 2**32 - 1), max_size=60))
def test_a_table_with_room_is_a_dictionary(keys):
    table = BoundedTable(1 << 12, {"numbers": (1, np.float64)})
    held = {}
    for n, key in enumerate(keys):
        table.make_room(1)
        row, came = claim(table.keys, table.columns["numbers"], np.uint64(key))
        assert came == (FOUND if key in held else FREE)
        table.used[0] += came == FREE
        table.columns["numbers"][row, 0] = n
        held[key] = n
    for key, number in held.items():
        assert table.columns["numbers"][find(table.keys, np.uint64(key)), 0] == number
    for key in (7, 2**31, 2**32 - 1):
        assert (find(table.keys, np.uint64(key)) >= 0) == (key in held)


def test_a_full_stretch_gives_up_its_least():
    keys, ranks = np.zeros(STRETCH, np.uint32), np.zeros((STRETCH, 1))
    for n in range(STRETCH):
        row, came = claim(keys, ranks, np.uint64(n + 1))
        assert came == FREE
        ranks[row, 0] = 10 + n
    row, came = claim(keys, ranks, np.uint64(99))
    assert came == EVICTED
    assert ranks[row, 0] == 10
    assert find(keys, np.uint64(1)) == -1
    assert find(keys, np.uint64(99)) == row


def test_growing_keeps_every_row_and_storing_keeps_every_place():
    limit = 1 << 13
    table, other = (BoundedTable(limit, {"ranks": (1, np.float32), "more": (2, np.int64)}) for _ in "ab")
    for n in range(3000):
        table.make_room(1)
        row, came = claim(table.keys, table.columns["ranks"], np.uint64(7919 * n + 1))
        table.used[0] += came == FREE
        table.columns["ranks"][row], table.columns["more"][row] = n, (n, -n)
    assert len(table.keys) == limit
    assert table.used[0] == 3000
    other.restore("t", table.arrays("t"))
    for kept in (table, other):
        for n in range(3000):
            row = find(kept.keys, np.uint64(7919 * n + 1))
            assert kept.columns["more"][row].tolist() == [n, -n]
    assert other.used[0] == 3000
    assert other.keys.tobytes() == table.keys.tobytes()


def test_a_damaged_table_is_refused():
    table = BoundedTable(64, {"ranks": (1, np.float32)})
    stored = {**table.arrays("t"), "t.rows": np.array([100])}
    with pytest.raises(DamagedState, match="cannot have 100 rows"):
        table.restore("t", stored)
    stored = {**table.arrays("t"), "t.ranks": np.zeros((0, 2), np.float32)}
    with pytest.raises(DamagedState, match="other columns"):
        table.restore("t", stored)


def test_limits_are_powers_of_two():
    with pytest.raises(ValueError, match="power of two"):
        BoundedTable(100, {"ranks": (1, np.float32)})


def test_mixing_depends_on_order():
    """For pairs at random: some pair of all there are must collide, and of few bits some do."""
    pairs = np.random.default_rng(1).integers(0, 2**63, (10_000, 2), dtype=np.uint64)
    assert all(mix(a, b) != mix(b, a) for a, b in pairs)


@settings(deadline=None, max_examples=100)
@given(mixed=st.integers(0, 2**64 - 1))
def test_a_key_is_never_that_of_an_empty_row(mixed):
    assert 0 < key_of(np.uint64(mixed)) < 2**32
