"""Hash tables that never outgrow a limit: 32-bit keys, linear probing over a short stretch, least goes first.

`mix` and `key_of` make keys; `find` looks one up; `claim` finds or makes its row. A table has a power of two
of rows; key 0 is a free row. While there is room a new key takes a free row; if its stretch is full it takes
the row there whose rank (column 0 of `ranks`) is least, and the caller starts that row afresh. `rehash` moves
a table into a larger one. Two things share a key with probability rows / 2**32, which is let happen.
"""

import numpy as np
from numba import njit

STRETCH = 16  # rows looked at for one key
FOUND, FREE, EVICTED = 0, 1, 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def mix(state, value):
    """A 64-bit state that depends on both, on their order, and on every bit of them."""
    state = ((np.uint64(state) * _GOLDEN) ^ (np.uint64(value) + _GOLDEN)) * _MIXER
    return state ^ (state >> _HALF)


@njit(cache=True, nogil=True, inline="always")
def key_of(state):
    """The 32-bit key of a mixed state, never 0."""
    folded = (np.uint64(state) * _GOLDEN) >> _HALF
    return folded if folded != np.uint64(0) else np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _home(key, rows):
    """The first row of a key's stretch."""
    return np.int64(((key * _MIXER) & _LOW) * np.uint64(rows) >> _HALF)


@njit(cache=True, nogil=True)
def find(keys, key):
    """The row of this key, or -1."""
    rows = keys.shape[0]
    row = _home(key, rows)
    for _ in range(STRETCH):
        held = np.uint64(keys[row])
        if held == key:
            return row
        if held == np.uint64(0):
            return np.int64(-1)
        row = (row + 1) & (rows - 1)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def claim(keys, ranks, key):
    """The row of this key, made if need be, and how it was come by: FOUND, FREE or EVICTED."""
    rows = keys.shape[0]
    row = _home(key, rows)
    least = row
    for _ in range(STRETCH):
        held = np.uint64(keys[row])
        if held == key:
            return row, FOUND
        if held == np.uint64(0):
            keys[row] = key
            return row, FREE
        if ranks[row, 0] < ranks[least, 0]:
            least = row
        row = (row + 1) & (rows - 1)
    keys[least] = key
    return least, EVICTED


@njit(cache=True, nogil=True)
def power_above(number):
    """The least power of two that is greater: of twice as many keys, the size of a table that stays half empty."""
    power = 1
    while power <= number:
        power *= 2
    return power


@njit(cache=True, nogil=True)
def rehash(keys, ranks, larger_keys, larger_ranks):
    """Where each used row of a table goes in a larger, empty one (-1: unused); moves keys and ranks there.

    In the rare full stretch the least goes.
    """
    places = np.full(keys.shape[0], -1, dtype=np.int64)
    for row in range(keys.shape[0]):
        if keys[row] == 0:
            continue
        place, came = claim(larger_keys, larger_ranks, np.uint64(keys[row]))
        if came == EVICTED:
            for other in range(row):
                if places[other] == place:
                    places[other] = -1
        places[row] = place
        for column in range(ranks.shape[1]):
            larger_ranks[place, column] = ranks[row, column]
    return places


def warm_up() -> None:
    """Compile for the tables in use: counts of a language, weights of an offer model, weights of contexts."""
    power_above(3)
    for dtype in (np.uint32, np.float32, np.float64):
        keys, ranks = np.zeros(STRETCH, dtype=np.uint32), np.zeros((STRETCH, 2), dtype=dtype)
        key = key_of(mix(np.uint64(1), np.uint64(2)))
        claim(keys, ranks, key)
        find(keys, key)
        rehash(keys, ranks, np.zeros(2 * STRETCH, np.uint32), np.zeros((2 * STRETCH, 2), dtype))
