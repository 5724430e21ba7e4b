"""Alignment of several token sequences into slots of least total cost.

The cost of a slot is the sum over pairs of sequences, each pair weighted by both weights, of the cost of
their two tokens there (null against a token is the gap cost, null against null nothing). `exact_alignment`
finds the least sum over all slots by a dynamic programme in as many dimensions as there are sequences;
`profile_alignment` joins one sequence after the other, the most central first, and then re-aligns each
against the profile of the others until nothing gets cheaper. Costs are whole numbers: ties are exact.

Letters: k sequences; `tokens` int32, all sequences one after the other; `starts` int64 of length k+1;
`weights` int64; `costs` int64 of all token pairs (row and column 0: null); `times` float64, midpoint and
half length of each token, NaN where unknown; `time_cost` int64, added to a pair of tokens that lie apart.
An alignment is int32, slots x k: the position within its sequence of the token in that slot, or -1.
"""

import numpy as np
from numba import njit

ABSENT = -1


@njit(cache=True, nogil=True)
def pair_cost(a, b, tokens, costs, times, time_cost):
    """The cost of item a facing item b: unlikeness, and how far apart they were spoken or written."""
    cost = costs[tokens[a], tokens[b]]
    if time_cost > 0:
        distance = abs(times[a, 0] - times[b, 0])
        reach = times[a, 1] + times[b, 1]
        # With a NaN on either side no comparison holds, and no cost is added.
        if distance >= reach:
            cost += time_cost
        elif distance > 0.0:
            cost += np.int64(time_cost * distance / reach + 0.5)
    return cost


@njit(cache=True, nogil=True)
def exact_alignment(tokens, starts, weights, costs, times, time_cost):
    """The alignment of least cost. Time and memory grow with the product of the lengths."""
    k = weights.shape[0]
    full = (1 << k) - 1
    lengths = starts[1:] - starts[:-1]
    strides = np.ones(k, dtype=np.int64)
    for i in range(k - 2, -1, -1):
        strides[i] = strides[i + 1] * (lengths[i + 1] + 1)
    cells = strides[0] * (lengths[0] + 1)
    gap = costs[0, costs.shape[0] - 1] if costs.shape[0] > 1 else np.int64(0)

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
                for j in range(i):
                    if place[j] > 0:
                        pairs[i, j] = (
                            weights[i]
                            * weights[j]
                            * pair_cost(
                                starts[i] + place[i] - 1,
                                starts[j] + place[j] - 1,
                                tokens,
                                costs,
                                times,
                                time_cost,
                            )
                        )
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
def alignment_cost(alignment, tokens, starts, weights, costs, times, time_cost):
    """The sum of pairs of an alignment."""
    total = np.int64(0)
    slots, k = alignment.shape
    gap = costs[0, costs.shape[0] - 1] if costs.shape[0] > 1 else np.int64(0)
    for slot in range(slots):
        for i in range(k):
            for j in range(i):
                p, q = alignment[slot, i], alignment[slot, j]
                if p >= 0 and q >= 0:
                    pair = pair_cost(starts[i] + p, starts[j] + q, tokens, costs, times, time_cost)
                elif p >= 0 or q >= 0:
                    pair = gap
                else:
                    pair = np.int64(0)
                total += weights[i] * weights[j] * pair
    return total


@njit(cache=True, nogil=True)
def join(profile, members, newcomer, tokens, starts, weights, costs, times, time_cost, band):
    """Aligns one sequence to the profile of others: the best place for all of its tokens at once.

    profile: an alignment of which only the columns in `members` (bool) count. Returns the new alignment,
    with the newcomer's column filled, and the cost of the newcomer against the members. Cells further than
    `band` off the diagonal are left out; the band is doubled until no path outside could be better.
    """
    k = weights.shape[0]
    m = profile.shape[0]
    n = starts[newcomer + 1] - starts[newcomer]
    first = starts[newcomer]
    gap = costs[0, costs.shape[0] - 1] if costs.shape[0] > 1 else np.int64(0)
    others = np.int64(0)
    for i in range(k):
        if members[i]:
            others += weights[i]
    # Without the weight of the newcomer, which is a common factor.
    alone = gap * others  # a token that gets a slot of its own
    skip = np.zeros(m, dtype=np.int64)  # a slot in which the newcomer has none
    for slot in range(m):
        for i in range(k):
            if members[i] and profile[slot, i] >= 0:
                skip[slot] += gap * weights[i]

    # Row a is slot a of the profile, column b token b. In each row the band holds `width` columns.
    far = np.int64(1) << 60
    half = min(max(band, 1), max(m, n)) if band > 0 else max(m, n)
    while True:
        low = min(0, n - m) - half
        width = abs(n - m) + 2 * half + 1
        best = np.full((m + 1, width), far, dtype=np.int64)
        came = np.zeros((m + 1, width), dtype=np.uint8)
        best[0, -low] = 0
        for a in range(m + 1):
            for b in range(max(0, a + low), min(n, a + low + width - 1) + 1):
                c = b - a - low
                if a == 0 and b == 0:
                    continue
                least, step = far, 0
                # Of equals: both, then a slot without the newcomer, then a token alone.
                if a > 0 and b > 0 and best[a - 1, c] < far:
                    cost = best[a - 1, c]
                    for i in range(k):
                        if members[i]:
                            p = profile[a - 1, i]
                            if p >= 0:
                                cost += weights[i] * pair_cost(
                                    starts[i] + p, first + b - 1, tokens, costs, times, time_cost
                                )
                            else:
                                cost += weights[i] * gap
                    if cost < least:
                        least, step = cost, 1
                if a > 0 and c + 1 < width and best[a - 1, c + 1] + skip[a - 1] < least:
                    least, step = best[a - 1, c + 1] + skip[a - 1], 2
                if b > 0 and c > 0 and best[a, c - 1] + alone < least:
                    least, step = best[a, c - 1] + alone, 3
                best[a, c] = least
                came[a, c] = step
        cost = best[m, n - m - low]
        # A path that leaves the band on the upper side has more than `half` tokens beyond the balance in
        # slots of their own; one that leaves on the lower side has to come back by as many.
        if half >= max(m, n) or cost <= alone * half:
            break
        half = min(2 * half, max(m, n))

    slots = 0
    a, b = m, n
    while a > 0 or b > 0:
        step = came[a, b - a - low]
        a -= step != 3
        b -= step != 2
        slots += 1
    result = np.full((slots, k), ABSENT, dtype=np.int32)
    a, b = m, n
    for slot in range(slots - 1, -1, -1):
        step = came[a, b - a - low]
        if step != 3:
            a -= 1
            for i in range(k):
                if members[i]:
                    result[slot, i] = profile[a, i]
        if step != 2:
            b -= 1
            result[slot, newcomer] = b
    return result, cost * weights[newcomer]


@njit(cache=True, nogil=True)
def profile_alignment(tokens, starts, weights, costs, times, time_cost, passes, band):
    """Joins the sequences one by one, the most central first, then refines. Returns an alignment."""
    k = weights.shape[0]
    order = central_order(tokens, starts, weights, costs, times, time_cost, band)
    members = np.zeros(k, dtype=np.bool_)
    alignment = np.full((starts[order[0] + 1] - starts[order[0]], k), ABSENT, dtype=np.int32)
    for slot in range(alignment.shape[0]):
        alignment[slot, order[0]] = slot
    members[order[0]] = True
    for i in order[1:]:
        alignment, _ = join(alignment, members, i, tokens, starts, weights, costs, times, time_cost, band)
        members[i] = True
    cost = alignment_cost(alignment, tokens, starts, weights, costs, times, time_cost)
    for _ in range(passes):
        better = False
        # The outermost first: they were placed when the profile knew most, but the centre can move now.
        for i in order:
            members[i] = False
            rest = without(alignment, members)
            candidate, _ = join(rest, members, i, tokens, starts, weights, costs, times, time_cost, band)
            members[i] = True
            price = alignment_cost(candidate, tokens, starts, weights, costs, times, time_cost)
            if price < cost:
                alignment, cost, better = candidate, price, True
        if not better:
            break
    return alignment


@njit(cache=True, nogil=True)
def without(alignment, members):
    """The slots in which any of the members has a token."""
    slots, k = alignment.shape
    keep = 0
    result = np.empty_like(alignment)
    for slot in range(slots):
        occupied = False
        for i in range(k):
            if members[i] and alignment[slot, i] >= 0:
                occupied = True
        if occupied:
            result[keep] = alignment[slot]
            keep += 1
    return result[:keep].copy()


@njit(cache=True, nogil=True)
def central_order(tokens, starts, weights, costs, times, time_cost, band):
    """The sequence of least total cost to the others, then the rest by their cost against it."""
    k = weights.shape[0]
    distances = np.zeros((k, k), dtype=np.int64)
    members = np.zeros(k, dtype=np.bool_)
    single = np.ones(k, dtype=np.int64)
    for i in range(k):
        n = starts[i + 1] - starts[i]
        profile = np.full((n, k), ABSENT, dtype=np.int32)
        for p in range(n):
            profile[p, i] = p
        members[i] = True
        for j in range(i):
            _, distances[i, j] = join(
                profile, members, j, tokens, starts, single, costs, times, time_cost, band
            )
            distances[j, i] = distances[i, j]
        members[i] = False
    centre = 0
    for i in range(k):
        if (distances[i] * weights).sum() < (distances[centre] * weights).sum():
            centre = i
    # A stable sort by hand, for k is small: of equals the one that stands first in the canonical order.
    order = np.empty(k, dtype=np.int64)
    placed = np.zeros(k, dtype=np.bool_)
    order[0] = centre
    placed[centre] = True
    for r in range(1, k):
        nearest = -1
        for i in range(k):
            if not placed[i] and (nearest < 0 or distances[centre, i] < distances[centre, nearest]):
                nearest = i
        order[r] = nearest
        placed[nearest] = True
    return order


@njit(cache=True, nogil=True)
def align_sequences(tokens, starts, weights, costs, times, time_cost, exact_steps, passes, band):
    """Slots from sequences: what all share at both ends, and between them the best affordable alignment.

    All sequences beginning (or ending) with the same token have an optimal alignment with those tokens in one
    slot: moving them there makes no pair of sequences dearer.
    """
    k = weights.shape[0]
    shortest = starts[1] - starts[0]
    for i in range(k):
        shortest = min(shortest, starts[i + 1] - starts[i])
    head = 0
    while head < shortest and _all_equal(tokens, starts[:-1] + head):
        head += 1
    tail = 0
    while tail < shortest - head and _all_equal(tokens, starts[1:] - 1 - tail):
        tail += 1

    inner_starts = np.zeros(k + 1, dtype=np.int64)
    steps = 1.0 * 2.0**k
    for i in range(k):
        inside = starts[i + 1] - starts[i] - head - tail
        inner_starts[i + 1] = inner_starts[i] + inside
        steps *= inside + 1
    inner_tokens = np.empty(inner_starts[k], dtype=np.int32)
    inner_times = np.empty((inner_starts[k] if time_cost > 0 else 0, 2), dtype=np.float64)
    for i in range(k):
        for p in range(inner_starts[i + 1] - inner_starts[i]):
            inner_tokens[inner_starts[i] + p] = tokens[starts[i] + head + p]
            if time_cost > 0:
                inner_times[inner_starts[i] + p] = times[starts[i] + head + p]

    if inner_starts[k] == 0:
        inner = np.empty((0, k), dtype=np.int32)
    elif steps <= exact_steps and k < 15:
        inner = exact_alignment(inner_tokens, inner_starts, weights, costs, inner_times, time_cost)
    else:
        inner = profile_alignment(
            inner_tokens, inner_starts, weights, costs, inner_times, time_cost, passes, band
        )
    slots = inner.shape[0]
    alignment = np.full((head + slots + tail, k), ABSENT, dtype=np.int32)
    for i in range(k):
        for p in range(head):
            alignment[p, i] = p
        for slot in range(slots):
            if inner[slot, i] >= 0:
                alignment[head + slot, i] = head + inner[slot, i]
        for p in range(tail):
            alignment[head + slots + p, i] = starts[i + 1] - starts[i] - tail + p
    return alignment


@njit(cache=True, nogil=True)
def _all_equal(tokens, places):
    for i in range(1, places.shape[0]):
        if tokens[places[i]] != tokens[places[0]]:
            return False
    return True


def warm_up() -> None:
    tokens = np.array([1, 2, 2, 1], dtype=np.int32)
    starts = np.array([0, 2, 3, 4], dtype=np.int64)
    weights = np.ones(3, dtype=np.int64)
    costs = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]], dtype=np.int64)
    for exact_steps in (0.0, 1e6):
        align_sequences(tokens, starts, weights, costs, np.zeros((4, 2)), 1, exact_steps, 2, 1)
