"""Minimum Bayes risk: the words with the least expected edit distance to the paths of a lattice.

Xu, Povey, Mangu and Zhu, "Minimum Bayes Risk decoding and system combination based on a recursion for edit
distance" (2011). `expected_edits` holds a hypothesis against the whole lattice: how many edits it is away, and
what the lattice says at each of its positions. `least_risk` moves the hypothesis to what is most probable at each
position, with an empty position before, between and after its tokens where something may come in, until nothing
changes; the expected distance falls with each step.

Letters: arcs e from `sources[e]` to `targets[e]` in topological order (see `lattice`), `chances[e]` the
probability of coming to its target by this arc, `tokens[e]` a number or -1 for an arc that says nothing; q states,
m positions.
`edits[q, i]` (the paper's alpha') is the expected distance between what leads to state q and the first i
positions. The minimum is taken of expectations, so it is not less than the true expectation; where states have
one way in they are equal.
"""

import numpy as np
from numba import njit

SILENT = -1
NOTHING = -1  # an empty position of a hypothesis
PASSES = 20  # more than any lattice was seen to need
_SAID, _SKIPPED, _BETWEEN = (
    0,
    1,
    2,
)  # an arc's token stands at a position, or nothing does, or it stands between


@njit(cache=True, nogil=True)
def arrival_chances(state_count, initial, sources, targets, scores):
    """Of each arc: the probability that a path that has come to its target came by it."""
    forward = np.full(state_count, -np.inf)
    forward[initial] = 0.0
    for e in range(sources.shape[0]):
        forward[targets[e]] = np.logaddexp(forward[targets[e]], forward[sources[e]] + scores[e])
    chances = np.zeros(sources.shape[0])
    for e in range(sources.shape[0]):
        if forward[sources[e]] > -np.inf:
            chances[e] = np.exp(forward[sources[e]] + scores[e] - forward[targets[e]])
    return chances, forward


@njit(cache=True, nogil=True)
def expected_edits(
    state_count, initial, finals, ending, sources, targets, chances, tokens, vocabulary_size, positions
):
    """Returns (distance, heard): heard[i, token] is what stands at position i, its last column nothing.

    positions: int32, tokens or -1. ending: the probability that a path ends in each of the finals.
    """
    m = positions.shape[0]
    a = sources.shape[0]
    here = np.empty(m + 1)
    edits = np.zeros((state_count, m + 1))
    for i in range(m):
        edits[initial, i + 1] = edits[initial, i] + _cost(NOTHING, positions[i])
    for e in range(a):
        _through(edits[sources[e]], tokens[e], positions, here)
        into = edits[targets[e]]
        for i in range(m + 1):
            into[i] += chances[e] * here[i]
    heard = np.zeros((m, vocabulary_size + 1))
    weight = np.zeros(edits.shape)
    distance = 0.0
    for f in range(finals.shape[0]):
        distance += ending[f] * edits[finals[f], m]
        weight[finals[f], m] += ending[f]
    flow = np.empty(m + 1)
    for e in range(a - 1, -1, -1):
        before = edits[sources[e]]
        _through(before, tokens[e], positions, here)
        back = weight[sources[e]]
        for i in range(m + 1):
            flow[i] = chances[e] * weight[targets[e], i]
        for i in range(m, -1, -1):
            if flow[i] == 0.0:
                continue
            move = _move(before, tokens[e], positions, here, i)
            if move == _SAID:
                heard[i - 1, tokens[e]] += flow[i]
                back[i - 1] += flow[i]
            elif move == _SKIPPED:
                heard[i - 1, vocabulary_size] += flow[i]
                flow[i - 1] += flow[i]
            else:
                back[i] += flow[i]
    # What never stood at a position has skipped it before the first arc.
    for i in range(m):
        heard[i, vocabulary_size] += max(0.0, 1.0 - heard[i].sum())
    return distance, heard


@njit(cache=True, nogil=True)
def _cost(token, position):
    return 0.0 if token == position else 1.0


@njit(cache=True, nogil=True)
def _through(before, token, positions, here):
    """The expected edits behind an arc, given those before it."""
    if token == SILENT:
        here[:] = before
        return
    here[0] = before[0] + 1.0
    for i in range(1, here.shape[0]):
        here[i] = min(
            before[i - 1] + _cost(token, positions[i - 1]),
            before[i] + 1.0,
            here[i - 1] + _cost(NOTHING, positions[i - 1]),
        )


@njit(cache=True, nogil=True)
def _move(before, token, positions, here, i):
    """How `_through` came to its cell i. Of equal ways the one that says something at a position."""
    if token == SILENT or i == 0:
        return _BETWEEN
    if before[i - 1] + _cost(token, positions[i - 1]) <= here[i]:
        return _SAID
    if here[i - 1] + _cost(NOTHING, positions[i - 1]) <= here[i]:
        return _SKIPPED
    return _BETWEEN


@njit(cache=True, nogil=True)
def least_risk(
    state_count, initial, finals, sources, targets, scores, tokens, vocabulary_size, hypothesis, budget
):
    """Returns (tokens, distance, left): int32 tokens of least risk, from `hypothesis` on, their expected edit
    distance to the lattice, and what is left of the budget.

    The budget is in cells: positions times states, arcs and tokens, in each pass. The distance is infinite if it
    ended before the tokens stood still.
    """
    chances, forward = arrival_chances(state_count, initial, sources, targets, scores)
    total = -np.inf
    for f in finals:
        total = np.logaddexp(total, forward[f])
    ending = np.exp(forward[finals] - total)
    current = hypothesis
    least = np.inf
    for _ in range(PASSES):
        m = 2 * current.shape[0] + 1
        cells = (m + 1) * (state_count + sources.shape[0] + vocabulary_size + 1)
        if cells > budget:
            least = np.inf
            break
        budget -= cells
        positions = np.full(m, NOTHING, dtype=np.int32)
        positions[1::2] = current
        distance, heard = expected_edits(
            state_count,
            initial,
            finals,
            ending,
            sources,
            targets,
            chances,
            tokens,
            vocabulary_size,
            positions,
        )
        least = min(least, distance)
        better = np.empty(m, dtype=np.int32)
        count = 0
        for i in range(m):
            column = vocabulary_size if positions[i] == NOTHING else positions[i]
            for token in range(vocabulary_size + 1):
                if heard[i, token] > heard[i, column] + 1e-9:
                    column = token
            if column < vocabulary_size:
                better[count] = column
                count += 1
        same = count == current.shape[0] and (better[:count] == current).all()
        current = better[:count].copy()
        if same:
            break
    return current, least, budget


def warm_up() -> None:
    sources, targets = np.array([0, 0, 1], dtype=np.int32), np.array([1, 1, 2], dtype=np.int32)
    tokens = np.array([0, -1, 1], dtype=np.int32)
    least_risk(3, 0, np.array([2]), sources, targets, np.zeros(3), tokens, 2, tokens[:1], 1000)
