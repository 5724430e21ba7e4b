"""The share of each context in the trust of a slot: `context_weights`."""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.bounded_table import find
from galloon.learners.kernels.tied import ASLEEP, Contexts, Seen


def context_weights(
    table: Contexts, ids: NDArray[np.int64], seen: Seen, rate: float, slot: int
) -> list[tuple[int, int, float]]:
    """Key and level of each context that is awake in the slot, and its share of the specialists' weight there.

    The same sums as in `kernels.tied.trust`, by context instead of by expert.
    """
    awake = [(int(key), level) for level, key in enumerate(seen.keys[slot].tolist()) if key != ASLEEP]
    rows = [find(table.keys, np.uint64(key)) for key, _ in awake]
    scores = np.array([table.scores[row, ids] if row >= 0 else np.zeros(len(ids)) for row in rows])
    weights = (table.priors[ids] * np.exp(rate * (scores - scores.max()))).sum(axis=1)
    shares = weights / weights.sum()
    return [(*context, share) for context, share in zip(awake, shares.tolist(), strict=True)]
