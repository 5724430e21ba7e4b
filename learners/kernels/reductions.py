"""Sum, maximum and minimum of an array in eight interleaved lanes.

One running sum waits for its own last addition, and without fast-math (which would cost us equal bits) the
compiler may not split it. Eight lanes in a fixed order are four times faster and always give the same bits.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def total_of(x):
    """The sum."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = x.size - x.size % 8
    for first in range(0, whole, 8):
        lane = x[first : first + 8]
        a += lane[0]
        b += lane[1]
        c += lane[2]
        d += lane[3]
        e += lane[4]
        f += lane[5]
        g += lane[6]
        h += lane[7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, x.size):
        total += x[i]
    return total


@njit(cache=True, nogil=True)
def largest_of(x):
    """The maximum; minus infinity for nothing."""
    a, b, c, d = -np.inf, -np.inf, -np.inf, -np.inf
    whole = x.size - x.size % 4
    for first in range(0, whole, 4):
        lane = x[first : first + 4]
        a = lane[0] if lane[0] > a else a
        b = lane[1] if lane[1] > b else b
        c = lane[2] if lane[2] > c else c
        d = lane[3] if lane[3] > d else d
    for i in range(whole, x.size):
        a = x[i] if x[i] > a else a
    a = b if b > a else a
    c = d if d > c else c
    return c if c > a else a


@njit(cache=True, nogil=True)
def smallest_of(x):
    """The minimum; infinity for nothing."""
    a, b, c, d = np.inf, np.inf, np.inf, np.inf
    whole = x.size - x.size % 4
    for first in range(0, whole, 4):
        lane = x[first : first + 4]
        a = lane[0] if lane[0] < a else a
        b = lane[1] if lane[1] < b else b
        c = lane[2] if lane[2] < c else c
        d = lane[3] if lane[3] < d else d
    for i in range(whole, x.size):
        a = x[i] if x[i] < a else a
    a = b if b < a else a
    c = d if d < c else c
    return c if c < a else a


def warm_up() -> None:
    smallest_of(np.zeros(9))
    total_of(np.zeros(9))
    largest_of(np.zeros(9))
