"""Do two engines' times mean the same? A line through the words that both said once.

`fit_clock` finds the map time -> slope * time + offset from one engine's times to another's. Identity is
preferred, for engines that heard the same recording share a clock; one that saw a scaled image does not.
`middles_of` turns starts and ends into midpoints and half lengths, if they make sense.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fit_clock(tokens, times, reference_tokens, reference_times, anchors_needed):
    """Returns (slope, offset, fits).

    tokens: int32; times: float64, midpoint and half length of each. Anchors are tokens that occur once on
    both sides. A map fits if, for at least half of the anchors, the mapped midpoint falls within the
    reference token. The identity needs one anchor, a fitted line `anchors_needed`.
    """
    n, m = tokens.shape[0], reference_tokens.shape[0]
    mine = np.empty(n, dtype=np.int64)
    theirs = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        here, there, place = 0, 0, -1
        for j in range(n):
            here += tokens[j] == tokens[i]
        for j in range(m):
            if reference_tokens[j] == tokens[i]:
                there += 1
                place = j
        if here == 1 and there == 1:
            mine[count] = i
            theirs[count] = place
            count += 1
    if count == 0:
        return 1.0, 0.0, False
    if _within(mine[:count], theirs[:count], times, reference_times, 1.0, 0.0):
        return 1.0, 0.0, True
    if count < anchors_needed:
        return 1.0, 0.0, False
    mean_x, mean_y = 0.0, 0.0
    for a in range(count):
        mean_x += times[mine[a], 0] / count
        mean_y += reference_times[theirs[a], 0] / count
    xx, xy = 0.0, 0.0
    for a in range(count):
        x = times[mine[a], 0] - mean_x
        xx += x * x
        xy += x * (reference_times[theirs[a], 0] - mean_y)
    if xx <= 0.0 or xy <= 0.0:
        return 1.0, 0.0, False
    slope = xy / xx
    offset = mean_y - slope * mean_x
    return slope, offset, _within(mine[:count], theirs[:count], times, reference_times, slope, offset)


@njit(cache=True, nogil=True)
def middles_of(spans):
    """Returns (times, usable): midpoint and half length of each [start, end].

    Usable if all are finite (an absent one is NaN), none ends before it starts, and they start in order.
    """
    times = np.empty_like(spans)
    before = -np.inf
    for i in range(spans.shape[0]):
        start, end = spans[i, 0], spans[i, 1]
        if not before <= start <= end < np.inf or start == -np.inf:
            return times, False
        before = start
        times[i, 0] = (start + end) / 2
        times[i, 1] = (end - start) / 2
    return times, True


@njit(cache=True, nogil=True)
def _within(mine, theirs, times, reference_times, slope, offset):
    inside = 0
    for a in range(mine.shape[0]):
        mapped = slope * times[mine[a], 0] + offset
        inside += abs(mapped - reference_times[theirs[a], 0]) <= reference_times[theirs[a], 1]
    return 2 * inside >= mine.shape[0]


def warm_up() -> None:
    tokens = np.array([1, 2, 3], dtype=np.int32)
    times = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    fit_clock(tokens, times, tokens, times, 3)
    middles_of(times)
