"""Many sequences aligned one after the other: to the profile of those already aligned, then refined.

`profile_alignment` starts from the most central sequence, joins the others in the order of their distance, and
then takes each out and joins it again until nothing gets cheaper. The cost is that of `exact_alignment`, with
the same arguments; costs are whole numbers, so that "cheaper" is exact.

`band` and `widest` are the first and the greatest half-width of the diagonal band in which tables are filled. A
band is doubled until no path outside it could be better, or it is the widest.
"""

import numpy as np
from numba import njit

ABSENT = -1


@njit(cache=True, nogil=True)
def profile_alignment(tokens, starts, weights, costs, passes, band, widest):
    """Joins the sequences one by one, the most central first, then refines, at most `passes` times."""
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


def warm_up() -> None:
    tokens, starts = np.array([1, 2, 2, 1], dtype=np.int32), np.array([0, 2, 3, 4], dtype=np.int64)
    costs = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]], dtype=np.int32)
    profile_alignment(tokens, starts, np.ones(3, dtype=np.int64), costs, 2, 1, 9)
