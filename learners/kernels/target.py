"""The true tokens aligned to slots: which slot each of them belongs to.

`place_target` minimises, first, the edits that even a perfect choice in every slot would leave; among those
alignments, the unlikeness of the true token to what the experts offer in its slot. Whole numbers throughout.
"""

import numpy as np
from numba import njit

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


def warm_up() -> None:
    slots = np.array([[1, 0], [2, 2]], dtype=np.int32)
    costs = np.array([[1, 1], [0, 2], [2, 0]], dtype=np.int32)
    place_target(slots, np.array([1, 2], dtype=np.int32), costs, 1)
