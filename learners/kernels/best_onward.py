"""The best sum from every state to the sink: what guides the search for the k best paths.

Transitions come in an order in which all that leave a state stand before all that leave its successors, as
both kinds of A' have them.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_onward(values, sources, targets, onward):
    """Fill onward[s] with the largest sum of values on a way from state s to the last state."""
    onward[:] = -np.inf
    onward[-1] = 0.0
    for e in range(values.size - 1, -1, -1):
        onward[sources[e]] = max(onward[sources[e]], values[e] + onward[targets[e]])


def warm_up() -> None:
    ends = np.zeros(1, dtype=np.int32)
    best_onward(np.zeros(1), ends, ends + np.int32(1), np.empty(2))
