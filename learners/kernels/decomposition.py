"""One step of a flow's decomposition into paths: take the next path off what is left of the flow.

Transitions that leave state s are `order[first[s]:first[s + 1]]`; the sink is the last state.
Letter: x what is left of the flow [M].
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def peel(x, order, first, target, path):
    """Follow the strongest transition from each state, and take the weakest weight on that path off all of it.

    Fills `path`; returns how many transitions it has, and the weight. At least one transition is left with
    nothing, so there are at most as many steps as transitions. Where rounding has left nothing beyond a
    state, the weight is 0 and the transition that led there is emptied.
    """
    sink = first.size - 2
    state, length = 0, 0
    weight = np.inf
    while state != sink:
        strongest = order[first[state]]
        for i in range(first[state] + 1, first[state + 1]):
            if x[order[i]] > x[strongest]:
                strongest = order[i]
        if x[strongest] <= 0.0:
            if length > 0:
                x[path[length - 1]] = 0.0
            return length, 0.0
        path[length] = strongest
        length += 1
        weight = min(weight, x[strongest])
        state = target[strongest]
    for i in range(length):
        x[path[i]] -= weight  # the weakest comes out as exactly 0
    return length, weight


def warm_up() -> None:
    order = np.arange(2, dtype=np.int64)
    first = np.array([0, 1, 2, 2], dtype=np.int64)
    target = np.array([1, 2], dtype=np.int32)
    peel(np.ones(2), order, first, target, np.empty(2, dtype=np.int32))
