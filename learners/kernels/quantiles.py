"""How high a number is among its own: quantile buckets of a sliding sample, one a column.

No two engines' confidences mean the same, so each is compared with that engine's own recent ones only.
`note` puts numbers into a column's ring and finds the bucket borders anew, after the first `REFRESH` of them
and then whenever an eighth of the ring is new; `buckets_of` places numbers between the borders.

Letters: `ring` float64 columns x RING; `seen` int64 columns, how many each has had; `borders` float64 columns
x (BUCKETS - 1), infinite until the first refresh.
"""

import numpy as np
from numba import njit

RING = 1024
REFRESH = 16
BUCKETS = 7
NONE, EARLY = -1, BUCKETS  # no number given; too few seen to compare with


@njit(cache=True, nogil=True)
def note(ring, seen, borders, numbers):
    """Take in numbers, rows x columns; NaN is no number."""
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            if np.isnan(numbers[i, j]):
                continue
            ring[j, seen[j] % RING] = numbers[i, j]
            seen[j] += 1
            if seen[j] % max(REFRESH, min(seen[j], RING) // 8) == 0:
                _find_borders(ring[j, : min(seen[j], RING)].copy(), borders[j])


@njit(cache=True, nogil=True)
def _find_borders(numbers, borders):
    """The border in the middle first, then those in the middle of what lies on either side."""
    count = numbers.shape[0]
    half = 1
    while 2 * half < BUCKETS:
        half *= 2
    while half > 0:
        for b in range(half, BUCKETS, 2 * half):
            low = (b - half) * count // BUCKETS + 1 if b > half else 0
            high = (b + half) * count // BUCKETS - 1 if b + half < BUCKETS else count - 1
            place = b * count // BUCKETS
            _select(numbers, low, high, place)
            borders[b - 1] = numbers[place]
        half //= 2


@njit(cache=True, nogil=True)
def _select(numbers, low, high, place):
    """Order numbers[low..high] just so far that the one at `place` is where sorting would put it (Hoare 1961)."""
    while low < high:
        pivot = numbers[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while numbers[i] < pivot:
                i += 1
            while pivot < numbers[j]:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def buckets_of(seen, borders, numbers):
    """The bucket of each number: 0 lowest, BUCKETS - 1 highest, NONE or EARLY."""
    found = np.full(numbers.shape, NONE, dtype=np.int8)
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            if np.isnan(numbers[i, j]):
                continue
            if seen[j] < REFRESH:
                found[i, j] = EARLY
                continue
            bucket = 0
            while bucket < BUCKETS - 1 and numbers[i, j] > borders[j, bucket]:
                bucket += 1
            found[i, j] = bucket
    return found


def warm_up() -> None:
    ring, seen, borders = np.zeros((1, RING)), np.zeros(1, dtype=np.int64), np.zeros((1, BUCKETS - 1))
    numbers = np.zeros((1, 1))
    note(ring, seen, borders, numbers)
    buckets_of(seen, borders, numbers)
