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
_FAR = np.int64(1) << 60


@njit(cache=True, nogil=True)
def exact_alignment(tokens, starts, weights, costs):
    """The alignment of least cost. Time and memory may grow with the product of the lengths, but seldom do.

    No alignment is cheaper than the sum over pairs of what each pair costs at least when aligned alone. So a
    cell is left out if going through it makes the pairs together dearer than that by more than `slack`; an
    alignment found within the slack is the best of all (Carrillo and Lipman 1988). Engines that heard the same
    mostly need none.
    """
    k = weights.shape[0]
    lengths = starts[1:] - starts[:-1]
    strides = np.ones(k, dtype=np.int64)
    for i in range(k - 2, -1, -1):
        strides[i] = strides[i + 1] * (lengths[i + 1] + 1)
    gap = np.int64(costs[0, costs.shape[0] - 1])
    detours, first_places, least = _detours(tokens, starts, weights, costs, gap)
    best = np.empty(strides[0] * (lengths[0] + 1), dtype=np.int64)
    came = np.empty(best.shape[0], dtype=np.int16)
    slack = np.int64(0)
    while True:
        best[:] = _FAR
        _fill(tokens, starts, weights, costs, gap, strides, detours, first_places, slack, best, came)
        found = best[-1]
        if found <= least + slack:
            break
        # What was found is an upper bound: no need to look at anything dearer.
        slack = max(2 * slack, gap) if found == _FAR else found - least
    return _traced(came, lengths, strides)


@njit(cache=True, nogil=True)
def _detours(tokens, starts, weights, costs, gap):
    """How much dearer each pair of sequences gets if both are forced through a pair of places, weighted.

    Returns the tables of all pairs (j < i) one after the other, each row by row of j, the index of the first
    number of pair (i, j) in [i, j], and the sum of the least costs of all pairs.
    """
    k = weights.shape[0]
    lengths = starts[1:] - starts[:-1]
    first_places = np.zeros((k, k), dtype=np.int64)
    size = np.int64(0)
    for i in range(k):
        for j in range(i):
            first_places[i, j] = size
            size += (lengths[i] + 1) * (lengths[j] + 1)
    detours = np.zeros(size, dtype=np.int64)
    least = np.int64(0)
    for i in range(k):
        mine = tokens[starts[i] : starts[i + 1]]
        n = lengths[i]
        for j in range(i):
            other = tokens[starts[j] : starts[j + 1]]
            m = lengths[j]
            weight = weights[i] * weights[j]
            table = detours[first_places[i, j] : first_places[i, j] + (m + 1) * (n + 1)].reshape(m + 1, n + 1)
            for a in range(m + 1):  # the least cost up to here
                for b in range(n + 1):
                    if a == 0 or b == 0:
                        table[a, b] = (a + b) * gap
                    else:
                        both = table[a - 1, b - 1] + costs[other[a - 1], mine[b - 1]]
                        table[a, b] = min(both, table[a - 1, b] + gap, table[a, b - 1] + gap)
            alone = table[m, n]
            least += weight * alone
            below = np.empty(n + 1, dtype=np.int64)  # and the least cost from here on, from the end backwards
            for a in range(m, -1, -1):
                corner = np.int64(0)
                for b in range(n, -1, -1):
                    if a == m or b == n:
                        onwards = (m - a + n - b) * gap
                    else:
                        both = corner + costs[other[a], mine[b]]
                        onwards = min(both, below[b] + gap, below[b + 1] + gap)
                    corner = below[b]
                    below[b] = onwards
                    table[a, b] = weight * (table[a, b] + onwards - alone)
    return detours, first_places, least


@njit(cache=True, nogil=True)
def _fill(tokens, starts, weights, costs, gap, strides, detours, first_places, slack, best, came):
    """The least cost to each cell that lies within the slack, and the step that leads there."""
    k = weights.shape[0]
    lengths = starts[1:] - starts[:-1]
    full = (1 << k) - 1
    back = np.zeros(full + 1, dtype=np.int64)  # how far back a step of these sequences leads
    gaps = np.zeros(full + 1, dtype=np.int64)
    tops = np.zeros(full + 1, dtype=np.int64)  # the highest sequence of a step
    total = weights.sum()
    for step in range(1, full + 1):
        inside = np.int64(0)
        for i in range(k):
            if step >> i & 1:
                inside += weights[i]
                back[step] += strides[i]
                tops[step] = i
        gaps[step] = gap * inside * (total - inside)
    columns = np.zeros(full + 1, dtype=np.int64)  # pair costs among the sequences of a step
    against = np.zeros(full + 1, dtype=np.int64)  # of one sequence against those of a step
    pairs = np.zeros(k, dtype=np.int64)
    place = np.zeros(k, dtype=np.int64)
    detour = np.zeros(k + 1, dtype=np.int64)  # of the places of the sequences before each
    best[0] = 0
    cell = np.int64(0)
    i = 0  # places before this one are chosen and cheap enough
    while True:
        # Go down to a whole cell, leaving out whatever is too dear already.
        while i < k:
            dearer = detour[i]
            for j in range(i):
                width = lengths[i] + 1
                dearer += detours[first_places[i, j] + place[j] * width + place[i]]
            if dearer > slack:
                break
            detour[i + 1] = dearer
            i += 1
        if i == k:
            i = k - 1
            if cell > 0:
                available = 0
                for h in range(k):
                    if place[h] > 0:
                        available |= 1 << h
                least, by = _FAR, 0
                for h in range(k):
                    if not available >> h & 1:
                        continue
                    token = tokens[starts[h] + place[h] - 1]
                    for j in range(h):
                        if place[j] > 0:
                            other = tokens[starts[j] + place[j] - 1]
                            pairs[j] = weights[h] * weights[j] * costs[token, other]
                    for rest in range(1 << h):
                        if rest & ~available:
                            continue
                        if rest > 0:
                            against[rest] = against[rest ^ (1 << tops[rest])] + pairs[tops[rest]]
                        step = rest | 1 << h
                        columns[step] = columns[rest] + against[rest]
                        cost = best[cell - back[step]] + columns[step] + gaps[step]
                        # Among equals the fullest step wins: it is met last.
                        if cost <= least:
                            least, by = cost, step
                if least < _FAR:
                    best[cell] = least
                    came[cell] = by
        # On to the next place of the last sequence that has one.
        while i >= 0 and place[i] == lengths[i]:
            cell -= place[i] * strides[i]
            place[i] = 0
            i -= 1
        if i < 0:
            break
        place[i] += 1
        cell += strides[i]


@njit(cache=True, nogil=True)
def _traced(came, lengths, strides):
    """The alignment that the steps lead through."""
    k = lengths.shape[0]
    last = np.int64(0)
    for i in range(k):
        last += strides[i] * lengths[i]
    slots = 0
    cell = last
    while cell > 0:
        for i in range(k):
            if came[cell] >> i & 1:
                last -= strides[i]
        cell = last
        slots += 1
    alignment = np.full((slots, k), ABSENT, dtype=np.int32)
    left = lengths.copy()
    cell = (left * strides).sum()
    for slot in range(slots - 1, -1, -1):
        step = came[cell]
        for i in range(k):
            if step >> i & 1:
                left[i] -= 1
                alignment[slot, i] = left[i]
        cell = (left * strides).sum()
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
