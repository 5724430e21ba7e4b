"""Counts of pairs of engines in a bounded table (see `kernels.bounded_table`): `gather` and `add` those of some
engines.

Letters: keys uint32; counts float64 rows x w, the first of which ranks the rows; used int64[1]; engines int64,
their numbers, all different; square float64 w x r x r, symmetric, of which the diagonal is not kept.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FREE, claim, find, key_of, mix

_PAIR = np.uint64(0x8EBC6AF09C88C6E3)


@njit(cache=True, nogil=True, inline="always")
def _key(one, other):
    low, high = min(one, other), max(one, other)
    return key_of(mix(mix(_PAIR, np.uint64(low)), np.uint64(high)))


@njit(cache=True, nogil=True)
def gather(keys, counts, engines):
    """The counts of all pairs of these engines; 0 of a pair that has not met."""
    size = engines.shape[0]
    square = np.zeros((counts.shape[1], size, size))
    for a in range(size):
        for b in range(a):
            row = find(keys, _key(engines[a], engines[b]))
            if row >= 0:
                for w in range(counts.shape[1]):
                    square[w, a, b] = counts[row, w]
                    square[w, b, a] = counts[row, w]
    return square


@njit(cache=True, nogil=True)
def add(keys, counts, used, engines, square):
    """Add to the counts of all pairs of these engines."""
    for a in range(engines.shape[0]):
        for b in range(a):
            if square[0, a, b] == 0.0:
                continue
            row, came = claim(keys, counts, _key(engines[a], engines[b]))
            if came == FREE:
                used[0] += 1
            if came == EVICTED:
                counts[row, :] = 0.0
            for w in range(counts.shape[1]):
                counts[row, w] += square[w, a, b]


def warm_up() -> None:
    keys, counts, used = np.zeros(64, np.uint32), np.zeros((64, 2)), np.zeros(1, np.int64)
    engines = np.arange(2)
    add(keys, counts, used, engines, np.ones((2, 2, 2)))
    gather(keys, counts, engines)
