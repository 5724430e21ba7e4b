"""Alignment of several token sequences into slots of least total cost.

The cost of a slot is the sum over pairs of sequences, each pair weighted by both weights, of the cost of
their two tokens there (null against a token is the gap cost, null against null nothing). `exact_alignment`
finds the least sum over all slots by a dynamic programme in as many dimensions as there are sequences;
`profile_alignment` joins one sequence after the other, the most central first, and then re-aligns each
against the profile of the others until nothing gets cheaper. Costs are whole numbers: ties are exact.

Letters: k sequences; `tokens` int32, all sequences one after the other; `starts` int64 of length k+1;
`weights` int64; `costs` int32 of all token pairs (row and column 0: null, the gap cost everywhere).
An alignment is int32, slots x k: the position within its sequence of the token in that slot, or -1.
"""

import numpy as np
from numba import njit

ABSENT = -1
EXACT_SEQUENCES = 14  # a step of the exact programme is a set of sequences, held in 16 bits
TIMED_TOKENS = 2048  # beyond, the matrix of all pairs of timed tokens would grow too large


@njit(cache=True, nogil=True)
def align_sequences(tokens, starts, weights, costs, times, time_cost, exact_steps, passes, band, widest):
    """Slots from sequences: what all share at both ends, and between them the best affordable alignment.

    Sequences that all begin (or end) with the same token have an optimal alignment with these tokens in one
    slot: moving them there makes no pair of sequences dearer. times: float64, midpoint and half length of
    each token, NaN where unknown; time_cost: what two tokens cost on top that lie apart; 0: times are empty.
    exact_steps: cells times moves up to which the alignment is exact; passes, band and widest: see
    `profile_alignment`.
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
    steps = 2.0**k
    for i in range(k):
        inside = starts[i + 1] - starts[i] - head - tail
        inner_starts[i + 1] = inner_starts[i] + inside
        steps *= inside + 1
    inner = np.empty(inner_starts[k], dtype=np.int32)
    source = np.empty(inner_starts[k], dtype=np.int64)
    for i in range(k):
        for p in range(inner_starts[i + 1] - inner_starts[i]):
            source[inner_starts[i] + p] = starts[i] + head + p
            inner[inner_starts[i] + p] = tokens[starts[i] + head + p]

    if 0 < time_cost and inner.shape[0] <= TIMED_TOKENS:
        inner_costs = timed_costs(inner, times[source], costs, time_cost)
        inner = np.arange(1, inner.shape[0] + 1).astype(np.int32)
    else:
        inner_costs = costs
    if inner.shape[0] == 0:
        found = np.empty((0, k), dtype=np.int32)
    elif steps <= exact_steps and k <= EXACT_SEQUENCES:
        found = exact_alignment(inner, inner_starts, weights, inner_costs)
    else:
        found = profile_alignment(inner, inner_starts, weights, inner_costs, passes, band, widest)

    slots = found.shape[0]
    alignment = np.full((head + slots + tail, k), ABSENT, dtype=np.int32)
    for i in range(k):
        for p in range(head):
            alignment[p, i] = p
        for slot in range(slots):
            if found[slot, i] >= 0:
                alignment[head + slot, i] = head + found[slot, i]
        for p in range(tail):
            alignment[head + slots + p, i] = starts[i + 1] - starts[i] - tail + p
    return alignment


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
def profile_alignment(tokens, starts, weights, costs, passes, band, widest):
    """Joins the sequences one by one, the most central first, then refines, at most `passes` times.

    band and widest: the first and the greatest half-width of the band in which tables are filled.
    """
    k = weights.shape[0]
    order = central_order(tokens, starts, weights, costs, band, widest)
    members = np.zeros(k, dtype=np.bool_)
    alignment = np.full((starts[order[0] + 1] - starts[order[0]], k), ABSENT, dtype=np.int32)
    for slot in range(alignment.shape[0]):
        alignment[slot, order[0]] = slot
    members[order[0]] = True
    for i in order[1:]:
        alignment, _ = join(alignment, members, i, tokens, starts, weights, costs, band, widest)
        members[i] = True
    version = 0
    # The version of the alignment against which each sequence was placed last: no need to try again.
    placed = np.full(k, -1, dtype=np.int64)
    placed[order[-1]] = 0
    for _ in range(passes):
        before = version
        for i in order:
            if placed[i] == version:
                continue
            members[i] = False
            rest = occupied_slots(alignment, members)
            candidate, cost = join(rest, members, i, tokens, starts, weights, costs, band, widest)
            if cost < cost_of_one(alignment, i, tokens, starts, weights, costs):
                alignment = candidate
                version += 1
            members[i] = True
            placed[i] = version
        if version == before:
            break
    return alignment


@njit(cache=True, nogil=True)
def join(profile, members, newcomer, tokens, starts, weights, costs, band, widest):
    """Aligns one sequence to the profile of others: the best place for all of its tokens at once.

    profile: an alignment of which only the columns in `members` (bool) count. Returns the new alignment,
    with the newcomer's column filled, and the cost of the newcomer against the members. Cells further than
    `band` off the diagonal are left out; the band is doubled until no path outside could be better, or it
    is `widest`.
    """
    k = weights.shape[0]
    m = profile.shape[0]
    n = starts[newcomer + 1] - starts[newcomer]
    mine = tokens[starts[newcomer] : starts[newcomer + 1]]
    gap = np.int64(costs[0, costs.shape[0] - 1])

    # What stands in each slot, equal tokens together; null counts as a token. All costs are without the
    # weight of the newcomer, which is a common factor.
    kinds = np.zeros((m, k), dtype=np.int32)
    counts = np.zeros((m, k), dtype=np.int64)
    sizes = np.zeros(m, dtype=np.int64)
    skip = np.zeros(m, dtype=np.int64)  # a slot in which the newcomer has none
    others = np.int64(0)
    for i in range(k):
        if not members[i]:
            continue
        others += weights[i]
        for slot in range(m):
            p = profile[slot, i]
            token = tokens[starts[i] + p] if p >= 0 else 0
            if token != 0:
                skip[slot] += gap * weights[i]
            c = 0
            while c < sizes[slot] and kinds[slot, c] != token:
                c += 1
            if c == sizes[slot]:
                kinds[slot, c] = token
                sizes[slot] += 1
            counts[slot, c] += weights[i]
    alone = gap * others  # a token that gets a slot of its own

    # Row a is slot a of the profile, column b token b; the band holds the columns a + low to a + high.
    far = np.int64(1) << 60
    half = max(band, 1)
    while True:
        low = min(0, n - m) - half
        high = max(0, n - m) + half
        width = high - low + 1 if 2 * half < max(m, n) else n + 1
        shifted = width != n + 1
        came = np.zeros((m + 1, width), dtype=np.uint8)
        row = np.full(n + 2, far, dtype=np.int64)  # row[b + 1] belongs to column b
        row[1] = 0
        for b in range(1, min(n, high if shifted else n) + 1):
            row[b + 1] = row[b] + alone
            came[0, b - low if shifted else b] = 3
        for a in range(1, m + 1):
            first = max(0, a + low) if shifted else 0
            last = min(n, a + high) if shifted else n
            corner = row[first]  # above and to the left
            row[first] = far
            for b in range(first, last + 1):
                # Of equals: both, then a slot without the newcomer, then a token alone.
                least = corner
                if b > 0 and corner < far:
                    for c in range(sizes[a - 1]):
                        least += counts[a - 1, c] * costs[kinds[a - 1, c], mine[b - 1]]
                else:
                    least = far
                step = 1
                corner = row[b + 1]
                if corner + skip[a - 1] < least:
                    least = corner + skip[a - 1]
                    step = 2
                if row[b] + alone < least:
                    least = row[b] + alone
                    step = 3
                row[b + 1] = least
                came[a, b - a - low if shifted else b] = step
        cost = row[n + 1]
        # A path that leaves the band has more than `half` tokens beyond the balance in slots of their own.
        if not shifted or cost <= alone * half or half >= widest:
            break
        half = min(2 * half, widest)

    slots = 0
    a, b = m, n
    while a > 0 or b > 0:
        step = came[a, b - a - low if shifted else b]
        a -= step != 3
        b -= step != 2
        slots += 1
    result = np.full((slots, k), ABSENT, dtype=np.int32)
    a, b = m, n
    for slot in range(slots - 1, -1, -1):
        step = came[a, b - a - low if shifted else b]
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
def central_order(tokens, starts, weights, costs, band, widest):
    """The sequence of least total cost to the others, then the rest by their cost against it."""
    k = weights.shape[0]
    distances = np.zeros((k, k), dtype=np.int64)
    for i in range(k):
        for j in range(i):
            distances[i, j] = pair_distance(
                tokens[starts[i] : starts[i + 1]], tokens[starts[j] : starts[j + 1]], costs, band, widest
            )
            distances[j, i] = distances[i, j]
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
def pair_distance(a, b, costs, band, widest):
    """The least cost of aligning two sequences, exact unless the band would have to be wider than `widest`."""
    gap = np.int64(costs[0, costs.shape[0] - 1])
    low, a_end, b_end = 0, a.shape[0], b.shape[0]
    while low < a_end and low < b_end and a[low] == b[low]:
        low += 1
    while a_end > low and b_end > low and a[a_end - 1] == b[b_end - 1]:
        a_end -= 1
        b_end -= 1
    m, n = a_end - low, b_end - low
    far = np.int64(1) << 60
    half = band
    while True:
        left, right = min(0, n - m) - half, max(0, n - m) + half
        row = np.full(n + 2, far, dtype=np.int64)  # row[j + 1] belongs to column j
        for j in range(min(n, right) + 1):
            row[j + 1] = j * gap
        for i in range(1, m + 1):
            first, last = max(0, i + left), min(n, i + right)
            corner = row[first]
            row[first] = far
            for j in range(first, last + 1):
                least = min(row[j + 1] + gap, row[j] + gap)
                if j > 0:
                    least = min(least, corner + costs[a[low + i - 1], b[low + j - 1]])
                corner = row[j + 1]
                row[j + 1] = least
        # A path that leaves the band has more than `half` gaps beyond the difference of the lengths.
        if row[n + 1] <= gap * half or half >= min(widest, max(m, n)):
            return row[n + 1]
        half = min(2 * half, widest)


@njit(cache=True, nogil=True)
def occupied_slots(alignment, members):
    """The slots in which any of the members has a token."""
    slots, k = alignment.shape
    keep = 0
    result = np.empty_like(alignment)
    for slot in range(slots):
        occupied = False
        for i in range(k):
            occupied |= members[i] and alignment[slot, i] >= 0
        if occupied:
            result[keep] = alignment[slot]
            keep += 1
    return result[:keep]


@njit(cache=True, nogil=True)
def cost_of_one(alignment, one, tokens, starts, weights, costs):
    """What one sequence costs against all others in an alignment."""
    slots, k = alignment.shape
    total = np.int64(0)
    for slot in range(slots):
        p = alignment[slot, one]
        mine = tokens[starts[one] + p] if p >= 0 else 0
        for i in range(k):
            if i != one:
                p = alignment[slot, i]
                theirs = tokens[starts[i] + p] if p >= 0 else 0
                total += weights[i] * costs[mine, theirs]
    return total * weights[one]


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
    costs = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]], dtype=np.int32)
    for exact_steps in (0.0, 1e6):
        align_sequences(tokens, starts, weights, costs, np.zeros((4, 2)), 1, exact_steps, 2, 1, 9)
