"""The true tokens aligned to slots: which slot each of them belongs to.

`place_target` minimises, first, the edits that even a perfect choice in every slot would leave; among those
alignments, the unlikeness of the true token to what the experts offer in its slot. Whole numbers throughout.
`place_words` does the same for words, and works out their costs where they are needed.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.token_distance import costs_against

# One edit outweighs any sum of unlikenesses: those stay below 64 experts x 2,000 x 8,192 slots and tokens.
EDIT = np.int64(1) << 31
UNPLACED = -1


@njit(cache=True, nogil=True)
def place_target(slots, target, costs, gap):
    """Returns (places, edits).

    slots: int32, slots x experts, token numbers with 0 for null. target: int32, the true tokens. costs: int32,
    of each token of the slots against each true token, by its position. gap: the cost of null. places[b] is
    the slot of true token b, or -1 if it falls between slots. edits: the errors of the best choice in
    every slot.
    """
    m, r = slots.shape
    n = target.shape[0]
    skip = np.zeros(m, dtype=np.int64)
    for slot in range(m):
        filled = 0
        for j in range(r):
            filled += slots[slot, j] != 0
        skip[slot] = gap * filled + (EDIT if filled == r and r > 0 else 0)
    between = gap * r + EDIT

    best = np.arange(n + 1) * between  # of the row above, then of this row
    came = np.zeros((m + 1, n + 1), dtype=np.uint8)
    came[0, 1:] = 3
    for a in range(1, m + 1):
        corner = best[0]
        best[0] += skip[a - 1]
        came[a, 0] = 2
        for b in range(1, n + 1):
            unlike = np.int64(0)
            offered = False
            for j in range(r):
                unlike += costs[slots[a - 1, j], b - 1]
                offered |= slots[a - 1, j] == target[b - 1]
            least = corner + unlike + (0 if offered else EDIT)
            step = 1
            if best[b] + skip[a - 1] < least:
                least = best[b] + skip[a - 1]
                step = 2
            if best[b - 1] + between < least:
                least = best[b - 1] + between
                step = 3
            corner = best[b]
            best[b] = least
            came[a, b] = step

    places = np.full(n, UNPLACED, dtype=np.int32)
    a, b = m, n
    while a > 0 or b > 0:
        step = came[a, b]
        if step == 1:
            places[b - 1] = a - 1
        a -= step != 3
        b -= step != 2
    return places, best[n] // EDIT


@njit(cache=True, nogil=True)
def place_words(slots, target, codes, starts, alphabet_size, gap, unlike):
    """Returns (tokens, unplaced, edits): the true token of each slot, 0 where there is none; as `place_target`.

    Words are numbers of a vocabulary with these letters (see `kernels.token_distance`). At the end, slots in
    which all experts offer the true word need no comparison: no other place is cheaper for it, and of equals
    `place_target` would take this one.
    """
    m, r = slots.shape
    n = target.shape[0]
    tail = 0
    alike = r > 0
    while alike and tail < min(m, n):
        for j in range(r):
            alike &= slots[m - 1 - tail, j] == target[n - 1 - tail]
        tail += alike
    wanted = np.zeros(starts.shape[0] - 1, dtype=np.bool_)
    for slot in range(m - tail):
        for j in range(r):
            wanted[slots[slot, j]] = True
    rest = target[: n - tail]
    costs = costs_against(codes, starts, alphabet_size, gap, unlike, wanted, rest)
    places, edits = place_target(slots[: m - tail], rest, costs, gap)
    tokens = np.zeros(m, dtype=np.int32)
    unplaced = 0
    for b in range(rest.shape[0]):
        if places[b] == UNPLACED:
            unplaced += 1
        else:
            tokens[places[b]] = rest[b]
    tokens[m - tail :] = target[n - tail :]
    return tokens, unplaced, edits


def warm_up() -> None:
    slots = np.array([[1, 0], [2, 2]], dtype=np.int32)
    costs = np.array([[1, 1], [0, 2], [2, 0]], dtype=np.int32)
    target = np.array([1, 2], dtype=np.int32)
    place_target(slots, target, costs, 1)
    codes, starts = np.array([1, 2], dtype=np.int32), np.array([0, 0, 1, 2], dtype=np.int64)
    place_words(slots, target, codes, starts, 3, 1, np.array([0, 2], dtype=np.int64))
