"""Which experts are worth listening to: `Reliability`.

An expert that repeats another, says nothing, or is hardly ever right would only dilute what is learned of the
others, so the offer model leaves it out while that is so, from `TRIALS` disputed slots on.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.offer_model import worth_listening
from galloon.learners.state import check_arrays

APART_NAME, DISPUTED_NAME = "reliability.slots_apart", "reliability.slots_disputed"
TRIALS = 64  # slots where experts differ, before anybody is left out
# The least share of right tokens in disputed slots. Random words of the language are right about once in 32;
# the worst engines that are of any use, once in 6.
HARDLY_EVER = 1 / 16


class Reliability:
    """Counts the slots in which two experts differ."""

    def __init__(self, expert_count: int) -> None:
        self._apart = np.zeros((expert_count, expert_count), dtype=np.int64)
        self._disputed = np.zeros(1, dtype=np.int64)

    def listened_to(self, right: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.int64]:
        """The experts to listen to, by their record where they differed (see `ConfidenceRecord`)."""
        useful: NDArray[np.int64] = worth_listening(
            self._apart, self._disputed, right, total, TRIALS, HARDLY_EVER
        )
        return useful

    @property
    def view(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Slots in which each pair differs, and those in which any do, as `take_in` counts them."""
        return self._apart, self._disputed

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {APART_NAME: self._apart, DISPUTED_NAME: self._disputed}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        check_arrays(arrays, self.arrays())
        self._apart, self._disputed = arrays[APART_NAME].copy(), arrays[DISPUTED_NAME].copy()
