"""Do two engines' times mean the same? A line through the words that both said once.

`fit_clock` finds the map time -> slope * time + offset from one engine's times to another's. Identity is
preferred, for engines that heard the same recording share a clock; one that saw a scaled image does not.
`middles_of` turns starts and ends into midpoints and half lengths, if they make sense. `common_times` puts the
times of many engines on one clock, where that can be done.
"""

import numpy as np
from numba import njit

NO_TIMES, STARTS_AND_ENDS, MIDDLES = range(3)


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
def common_times(tokens, starts, owners, times, expert_starts, given, anchors_needed):
    """Midpoint and half length of each token of the sequences, NaN where nothing is known.

    tokens, starts: the different sequences in order (see `exact_alignment`); owners: int64, the sequence of each
    expert; times: float64 of the experts' tokens one after the other, expert j's from expert_starts[j] on, as
    given[j] says: NO_TIMES, STARTS_AND_ENDS or MIDDLES. Without rows if there are not two to be compared.

    The longest sequence is the reference, of equals the first: it has the most words to be compared with. Of
    experts with the same sequence one that fits is taken, in the order of their numbers' bytes, so that nothing
    depends on who came first.
    """
    k, experts = starts.shape[0] - 1, owners.shape[0]
    nothing = np.empty((0, 2))
    middles = times.copy()
    waiting = np.zeros(experts, dtype=np.bool_)
    reference = -1
    for j in range(experts):
        first, last = expert_starts[j], expert_starts[j + 1]
        waiting[j] = given[j] != NO_TIMES
        if given[j] == STARTS_AND_ENDS:
            middles[first:last], waiting[j] = middles_of(times[first:last])
        if waiting[j]:
            length = last - first
            longest = starts[reference + 1] - starts[reference] if reference >= 0 else -1
            if length > longest or (length == longest and owners[j] < reference):
                reference = owners[j]
    if reference < 0:
        return nothing
    bits = middles.view(np.int64)
    result = np.full((tokens.shape[0], 2), np.nan)
    chosen = _next(reference, owners, waiting, bits, expert_starts)
    reference_tokens = tokens[starts[reference] : starts[reference + 1]]
    reference_times = middles[expert_starts[chosen] : expert_starts[chosen + 1]]
    result[starts[reference] : starts[reference + 1]] = reference_times
    comparable = 1
    for i in range(k):
        if i == reference:
            continue
        j = _next(i, owners, waiting, bits, expert_starts)
        while j >= 0:
            mine = middles[expert_starts[j] : expert_starts[j + 1]]
            slope, offset, fits = fit_clock(
                tokens[starts[i] : starts[i + 1]], mine, reference_tokens, reference_times, anchors_needed
            )
            if fits:
                comparable += 1
                for n in range(mine.shape[0]):
                    result[starts[i] + n, 0] = mine[n, 0] * slope + offset
                    result[starts[i] + n, 1] = mine[n, 1] * slope
                break
            waiting[j] = False
            j = _next(i, owners, waiting, bits, expert_starts)
    return result if comparable > 1 else nothing


@njit(cache=True, nogil=True)
def _next(sequence, owners, waiting, bits, expert_starts):
    """Of the waiting experts with this sequence the one whose times are least, compared byte by byte; or -1."""
    best = -1
    for j in range(owners.shape[0]):
        if waiting[j] and owners[j] == sequence:
            if best < 0 or _less(bits, expert_starts[j], expert_starts[best], expert_starts[j + 1]):
                best = j
    return best


@njit(cache=True, nogil=True)
def _less(bits, mine, theirs, end):
    for i in range(end - mine):
        for c in range(2):
            a, b = bits[mine + i, c], bits[theirs + i, c]
            if a != b:
                shift = 0
                while (a >> shift & 255) == (b >> shift & 255):
                    shift += 8
                return (a >> shift & 255) < (b >> shift & 255)
    return False


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
    starts = np.array([0, 3], dtype=np.int64)
    common_times(
        tokens, starts, np.zeros(1, dtype=np.int64), times, starts, np.array([STARTS_AND_ENDS], np.int8), 3
    )
