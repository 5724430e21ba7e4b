"""The alignment of least total cost, in as many dimensions as there are sequences.

`exact_alignment` minimises the sum over slots and pairs of sequences of the cost of their two tokens (null
against a token is the gap cost, null against null nothing), each pair weighted by both weights. `timed_costs`
makes costs that also know when a token was said. Costs are whole numbers, so ties are exact.

Letters: k sequences; `tokens` int32, all sequences one after the other; `starts` int64 of length k+1;
`weights` int64; `costs` int32 of all token pairs (row and column 0: null, the gap cost everywhere).
An alignment is int32, slots x k: the position within its sequence of the token in that slot, or -1.
"""

import numpy as np
from numba import njit

ABSENT = -1


@njit(cache=True, nogil=True)
def exact_alignment(tokens, starts, weights, costs):
    """The alignment of least cost. Time and memory grow with the product of the lengths."""
    k = weights.shape[0]
    full = (1 << k) - 1
    lengths = starts[1:] - starts[:-1]
    strides = np.ones(k, dtype=np.int64)
    for i in range(k - 2, -1, -1):
        strides[i] = strides[i + 1] * (lengths[i + 1] + 1)
    cells = strides[0] * (lengths[0] + 1)
    gap = np.int64(costs[0, costs.shape[0] - 1])

    back = np.zeros(full + 1, dtype=np.int64)  # how far back a step of these sequences leads
    gaps = np.zeros(full + 1, dtype=np.int64)
    total = weights.sum()
    for step in range(1, full + 1):
        inside = np.int64(0)
        for i in range(k):
            if step >> i & 1:
                inside += weights[i]
                back[step] += strides[i]
        gaps[step] = gap * inside * (total - inside)

    best = np.zeros(cells, dtype=np.int64)
    came = np.zeros(cells, dtype=np.int16)
    place = np.zeros(k, dtype=np.int64)
    pairs = np.zeros((k, k), dtype=np.int64)
    columns = np.zeros(full + 1, dtype=np.int64)  # pair costs among the sequences of a step
    for cell in range(1, cells):
        for i in range(k - 1, -1, -1):
            place[i] += 1
            if place[i] <= lengths[i]:
                break
            place[i] = 0
        available = 0
        for i in range(k):
            if place[i] > 0:
                available |= 1 << i
                a = tokens[starts[i] + place[i] - 1]
                for j in range(i):
                    if place[j] > 0:
                        pairs[i, j] = weights[i] * weights[j] * costs[a, tokens[starts[j] + place[j] - 1]]
        least = np.int64(-1)
        for step in range(1, available + 1):
            if step & ~available:
                continue
            highest = k - 1
            while not step >> highest & 1:
                highest -= 1
            rest = step ^ (1 << highest)
            column = columns[rest]
            for j in range(highest):
                if rest >> j & 1:
                    column += pairs[highest, j]
            columns[step] = column
            cost = best[cell - back[step]] + column + gaps[step]
            # Among equals the fullest step wins: it is met last.
            if least < 0 or cost <= least:
                least = cost
                came[cell] = step
        best[cell] = least

    slots = 0
    cell = cells - 1
    while cell > 0:
        cell -= back[came[cell]]
        slots += 1
    alignment = np.full((slots, k), ABSENT, dtype=np.int32)
    cell = cells - 1
    left = lengths.copy()
    for slot in range(slots - 1, -1, -1):
        step = came[cell]
        for i in range(k):
            if step >> i & 1:
                left[i] -= 1
                alignment[slot, i] = left[i]
        cell -= back[step]
    return alignment


@njit(cache=True, nogil=True)
def timed_costs(tokens, times, costs, time_cost):
    """Costs of all pairs of items (tokens at their place), the first being null: likeness and distance in time.

    Two items whose intervals do not overlap cost time_cost more; those that do, in proportion. Where a time is
    unknown (NaN) nothing is added, for then no comparison holds.
    """
    n = tokens.shape[0]
    result = np.zeros((n + 1, n + 1), dtype=np.int32)
    result[0, 1:] = costs[0, costs.shape[0] - 1]
    result[1:, 0] = costs[0, costs.shape[0] - 1]
    for a in range(n):
        for b in range(a):
            cost = costs[tokens[a], tokens[b]]
            distance = abs(times[a, 0] - times[b, 0])
            reach = times[a, 1] + times[b, 1]
            if distance >= reach:
                cost += time_cost
            elif distance > 0.0:
                cost += np.int32(time_cost * distance / reach + 0.5)
            result[a + 1, b + 1] = cost
            result[b + 1, a + 1] = cost
    return result


def warm_up() -> None:
    tokens, starts = np.array([1, 2, 2, 1], dtype=np.int32), np.array([0, 2, 3, 4], dtype=np.int64)
    costs = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]], dtype=np.int32)
    timed = timed_costs(tokens, np.zeros((4, 2)), costs, 1)
    exact_alignment(np.arange(1, 5, dtype=np.int32), starts, np.ones(3, dtype=np.int64), timed)
