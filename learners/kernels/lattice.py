"""Lattices: how probable each arc is, and into which slot it falls.

`sorted_arcs` puts arcs in topological order, `posteriors` is the forward-backward pass (sums in the log
domain), `best_scores` the same with maxima, for pruning, `nearest_path` what is
nearest to a truth. `place_arcs` runs the best path through each arc, in
its best alignment to the slots, by a forward and a backward pass over states x slot boundaries.

Letters: arcs e from `sources[e]` to `targets[e]` (int32) with natural-log `scores` (float64); a arcs, q states,
m slots. Arcs are sorted so that all arcs into a state stand before all arcs out of it.
"""

import numpy as np
from numba import njit

NOWHERE = -1


@njit(cache=True, nogil=True)
def sorted_arcs(state_count, sources, targets):
    """Returns (order, acyclic): int64 numbers of the arcs in topological order of their sources."""
    a = sources.shape[0]
    incoming = np.zeros(state_count, dtype=np.int64)
    first = np.zeros(state_count + 1, dtype=np.int64)
    for e in range(a):
        incoming[targets[e]] += 1
        first[sources[e] + 1] += 1
    for q in range(state_count):
        first[q + 1] += first[q]
    leaving = np.empty(a, dtype=np.int64)  # arcs by source, in the given order
    filled = first[:-1].copy()
    for e in range(a):
        leaving[filled[sources[e]]] = e
        filled[sources[e]] += 1
    ready = np.empty(state_count, dtype=np.int64)
    count = 0
    for q in range(state_count):
        if incoming[q] == 0:
            ready[count] = q
            count += 1
    order = np.empty(a, dtype=np.int64)
    done, placed = 0, 0
    while done < count:
        q = ready[done]
        done += 1
        for i in range(first[q], first[q + 1]):
            e = leaving[i]
            order[placed] = e
            placed += 1
            incoming[targets[e]] -= 1
            if incoming[targets[e]] == 0:
                ready[count] = targets[e]
                count += 1
    return order, count == state_count


@njit(cache=True, nogil=True)
def posteriors(state_count, initial, finals, sources, targets, scores):
    """The probability of each arc when paths have probability proportional to exp of their score.

    All zero if no path leads from the initial to a final state.
    """
    forward = np.full(state_count, -np.inf)
    backward = np.full(state_count, -np.inf)
    forward[initial] = 0.0
    for e in range(sources.shape[0]):
        forward[targets[e]] = np.logaddexp(forward[targets[e]], forward[sources[e]] + scores[e])
    total = -np.inf
    for f in finals:
        backward[f] = 0.0
        total = np.logaddexp(total, forward[f])
    for e in range(sources.shape[0] - 1, -1, -1):
        backward[sources[e]] = np.logaddexp(backward[sources[e]], scores[e] + backward[targets[e]])
    result = np.zeros(sources.shape[0])
    if total > -np.inf:
        for e in range(sources.shape[0]):
            result[e] = np.exp(forward[sources[e]] + scores[e] + backward[targets[e]] - total)
    return result


@njit(cache=True, nogil=True)
def best_scores(state_count, initial, finals, sources, targets, scores):
    """For each arc the score of the best complete path through it; -inf if there is none."""
    forward = np.full(state_count, -np.inf)
    backward = np.full(state_count, -np.inf)
    forward[initial] = 0.0
    for e in range(sources.shape[0]):
        forward[targets[e]] = max(forward[targets[e]], forward[sources[e]] + scores[e])
    for f in finals:
        backward[f] = 0.0
    for e in range(sources.shape[0] - 1, -1, -1):
        backward[sources[e]] = max(backward[sources[e]], scores[e] + backward[targets[e]])
    result = np.empty(sources.shape[0])
    for e in range(sources.shape[0]):
        result[e] = forward[sources[e]] + scores[e] + backward[targets[e]]
    return result


@njit(cache=True, nogil=True)
def nearest_path(state_count, initial, finals, sources, targets, tokens, truth):
    """The arcs of the path that is fewest edits away from the true tokens, last first, as int64.

    tokens: int32 as in `place_arcs`; truth: int32. Edit distances to all beginnings of the truth, state by state.
    """
    m = truth.shape[0]
    far = state_count + m + 1  # more edits than any path needs
    edits = np.full((state_count, m + 1), far, dtype=np.int32)
    came = np.full((state_count, m + 1), NOWHERE, dtype=np.int64)  # by which arc, or -1 by leaving a word out
    step = np.zeros((state_count, m + 1), dtype=np.int32)  # how many true tokens that took
    closed = np.zeros(state_count, dtype=np.bool_)
    edits[initial, 0] = 0
    for e in range(sources.shape[0] + 1):
        last = e == sources.shape[0]
        for q in finals if last else sources[e : e + 1].astype(np.int64):
            if closed[q]:
                continue
            closed[q] = True
            for i in range(m):
                if edits[q, i] + 1 < edits[q, i + 1]:
                    edits[q, i + 1] = edits[q, i] + 1
                    came[q, i + 1], step[q, i + 1] = NOWHERE, 1
        if last:
            break
        q, t = sources[e], targets[e]
        for i in range(m + 1):
            if edits[q, i] >= far:
                continue
            cost = edits[q, i] + (1 if tokens[e] >= 0 else 0)
            if cost < edits[t, i]:
                edits[t, i], came[t, i], step[t, i] = cost, e, 0
            if tokens[e] >= 0 and i < m:
                cost = edits[q, i] + (0 if tokens[e] == truth[i] else 1)
                if cost < edits[t, i + 1]:
                    edits[t, i + 1], came[t, i + 1], step[t, i + 1] = cost, e, 1
    state, i = finals[0], m
    for f in finals:
        if edits[f, m] < edits[state, m]:
            state = f
    path = np.empty(sources.shape[0], dtype=np.int64)
    count = 0
    while state != initial or i > 0:
        e = came[state, i]
        if e == NOWHERE and step[state, i] == 0:
            break  # no path leads here
        i -= step[state, i]
        if e != NOWHERE:
            path[count] = e
            count += 1
            state = sources[e]
    return path[:count]


@njit(cache=True, nogil=True)
def place_arcs(
    state_count,
    initial,
    finals,
    sources,
    targets,
    scores,
    tokens,
    fits,
    skips,
    alone,
    times,
    slot_times,
    late,
):
    """The slot of each arc on the best path through it, or -1 if its token stands between slots there.

    tokens: int32, a number per arc, -1 for an arc that says nothing. fits: float64, tokens x slots, what it
    scores to put a token into a slot. skips: float64, what it scores to leave a slot empty. alone: to put a
    token between slots. times: float64, start and end of each arc; slot_times: those of each slot; both
    NaN where unknown, and late: what it scores to put an arc into a slot with which it does not overlap.
    """
    m = skips.shape[0]
    forward = np.full((state_count, m + 1), -np.inf)
    backward = np.full((state_count, m + 1), -np.inf)
    closed = np.zeros(state_count, dtype=np.bool_)
    forward[initial, 0] = 0.0
    for e in range(sources.shape[0]):
        q, t, token, score = sources[e], targets[e], tokens[e], scores[e]
        if not closed[q]:
            # All arcs into q are done: now slots may be left empty there.
            for b in range(m):
                forward[q, b + 1] = max(forward[q, b + 1], forward[q, b] + skips[b])
            closed[q] = True
        if token < 0:
            for b in range(m + 1):
                forward[t, b] = max(forward[t, b], forward[q, b] + score)
        else:
            for b in range(m):
                lateness = _lateness(times, e, slot_times, b, late)
                forward[t, b + 1] = max(forward[t, b + 1], forward[q, b] + score + fits[token, b] + lateness)
                forward[t, b] = max(forward[t, b], forward[q, b] + score + alone)
            forward[t, m] = max(forward[t, m], forward[q, m] + score + alone)
    for f in finals:
        backward[f, m] = 0.0
    closed[:] = False
    for e in range(sources.shape[0] - 1, -1, -1):
        q, t, token, score = sources[e], targets[e], tokens[e], scores[e]
        if not closed[t]:
            for b in range(m - 1, -1, -1):
                backward[t, b] = max(backward[t, b], backward[t, b + 1] + skips[b])
            closed[t] = True
        if token < 0:
            for b in range(m + 1):
                backward[q, b] = max(backward[q, b], backward[t, b] + score)
        else:
            for b in range(m):
                lateness = _lateness(times, e, slot_times, b, late)
                backward[q, b] = max(
                    backward[q, b],
                    backward[t, b + 1] + score + fits[token, b] + lateness,
                    backward[t, b] + score + alone,
                )
            backward[q, m] = max(backward[q, m], backward[t, m] + score + alone)
    places = np.full(sources.shape[0], NOWHERE, dtype=np.int32)
    for e in range(sources.shape[0]):
        q, t, token = sources[e], targets[e], tokens[e]
        if token < 0:
            continue
        best = -np.inf
        for b in range(m):
            through = forward[q, b] + fits[token, b] + _lateness(times, e, slot_times, b, late)
            if through + backward[t, b + 1] > best:
                best = through + backward[t, b + 1]
                places[e] = b
        for b in range(m + 1):
            if forward[q, b] + alone + backward[t, b] > best:
                places[e] = NOWHERE
                break
    return places


@njit(cache=True, nogil=True)
def _lateness(times, arc, slot_times, slot, late):
    # With a NaN neither comparison holds.
    if times[arc, 0] >= slot_times[slot, 1] or times[arc, 1] <= slot_times[slot, 0]:
        return late
    return 0.0


def warm_up() -> None:
    sources, targets = np.array([0, 0, 1], dtype=np.int32), np.array([1, 1, 2], dtype=np.int32)
    scores, finals = np.zeros(3), np.array([2], dtype=np.int64)
    sorted_arcs(3, sources, targets)
    posteriors(3, 0, finals, sources, targets, scores)
    best_scores(3, 0, finals, sources, targets, scores)
    tokens, nan = np.array([0, -1, 0], dtype=np.int32), np.full((3, 2), np.nan)
    nearest_path(3, 0, finals, sources, targets, tokens, tokens[:1])
    place_arcs(
        3,
        0,
        finals,
        sources,
        targets,
        scores,
        tokens,
        np.zeros((1, 2)),
        np.zeros(2),
        -1.0,
        nan,
        nan[:2],
        -1.0,
    )
