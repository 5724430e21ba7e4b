"""Uniform numbers keyed by (seed, round): the same round of the same learner draws the same numbers.

Counter-based, so nothing of it is state: number i of a round is SplitMix64's output i steps after a start
that is a hash of seed and round (Steele, Lea and Flood 2014). Making a numpy generator per round would take
twenty times as long as all else that a small round needs.
"""

import numpy as np
from numba import njit, uint64

GOLDEN = 0x9E3779B97F4A7C15


@njit(uint64(uint64), cache=True, nogil=True, inline="always")
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def uniforms(seed, round_number, count):
    """`count` numbers from [0, 1) with 53 random bits each."""
    z = _mix(_mix(np.uint64(seed) + np.uint64(GOLDEN)) ^ (np.uint64(round_number) * np.uint64(GOLDEN)))
    numbers = np.empty(count)
    for i in range(count):
        z += np.uint64(GOLDEN)
        numbers[i] = (_mix(z) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return numbers


def warm_up() -> None:
    uniforms(np.uint64(0), np.uint64(0), 1)
