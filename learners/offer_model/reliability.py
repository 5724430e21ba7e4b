"""Which experts are worth listening to: `Reliability`.

An expert that repeats another, says nothing, or is hardly ever right would only dilute what is learned of the
others, so the offer model leaves it out while that is so, from `TRIALS` disputed slots on. Slots in which it did
not run count for nothing, and who repeats an expert that is absent is listened to.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState
from galloon.learners.kernels.offer_model import worth_listening
from galloon.learners.pair_counts import PairCounts

NAME = "reliability.pairs"
# Older states have a square of slots in which two differ, and how many slots were disputed.
OLD_APART, OLD_DISPUTED = "reliability.slots_apart", "reliability.slots_disputed"
TRIALS = 64  # slots where experts differ, before anybody is left out
# The least share of right tokens in disputed slots. Random words of the language are right about once in 32;
# the worst engines that are of any use, once in 6.
HARDLY_EVER = 1 / 16


class Reliability:
    """Counts for each pair of experts the disputed slots in which both ran, and those in which they differ."""

    def __init__(self) -> None:
        self._pairs = PairCounts(NAME, 2)

    def listened_to(
        self, experts: NDArray[np.int64], right: NDArray[np.float64], total: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Which of these experts to listen to (their places), by their record (see `ConfidenceRecord`)."""
        pairs = self._pairs.among(experts)
        useful: NDArray[np.int64] = worth_listening(pairs, right, total, TRIALS, HARDLY_EVER)
        return useful

    def add(self, experts: NDArray[np.int64], pairs: NDArray[np.float64]) -> None:
        """Add what `kernels.offer_model.compare_experts` counted."""
        self._pairs.add(experts, pairs)

    @property
    def state_bytes(self) -> int:
        return self._pairs.state_bytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._pairs.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]], expert_count: int) -> None:
        self._pairs = PairCounts(NAME, 2)
        if OLD_APART not in arrays:
            self._pairs.restore(arrays)
            return
        apart, disputed = arrays[OLD_APART], arrays.get(OLD_DISPUTED)
        if disputed is None or apart.shape != (expert_count, expert_count) or disputed.shape != (1,):
            raise DamagedState("what this state counted of pairs of experts is damaged")
        together = np.full(apart.shape, float(disputed[0]))
        self._pairs.add(np.arange(expert_count), np.stack([together, apart.astype(np.float64)]))
