"""Which experts are worth listening to: `Standing`.

An expert that repeats another, says nothing, or is hardly ever right would only dilute what is learned of the
others, so the scorer leaves it out, for as long as that is so. It takes a while to find out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.scorer import compare_experts
from galloon.learners.utterance import SlotNetwork

TRIALS = 64  # slots where experts differ, before anybody is left out
# Of its tokens there are right. Random words of the language are right about once in 32, wherever they fall best;
# the worst engines that are of any use, once in 6.
HARDLY_EVER = 1 / 16


class Standing:
    """Who says the same as whom."""

    def __init__(self, expert_count: int) -> None:
        self._apart = np.zeros((expert_count, expert_count), dtype=np.int64)
        self._disputed = np.zeros(1, dtype=np.int64)
        self._earlier = np.tri(expert_count, k=-1, dtype=np.bool_)  # of each expert those listed before it

    def listened_to(self, spoken: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.int64]:
        """The experts to listen to, given how many tokens each has offered where they differed, and right ones."""
        count = len(self._apart)
        if self._disputed[0] < TRIALS:
            return np.arange(count)
        repeats = ((self._apart == 0) & self._earlier).any(axis=1)
        silent = spoken == 0
        noise = (spoken >= TRIALS) & (right <= spoken * HARDLY_EVER)
        useful = np.flatnonzero(~(repeats | silent | noise))
        return useful if useful.size else np.arange(count)

    def compare(self, network: SlotNetwork) -> None:
        """Take in what the experts said of an utterance."""
        compare_experts(network.tokens, self._apart, self._disputed)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"standing.apart": self._apart, "standing.disputed": self._disputed}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._apart, self._disputed = arrays["standing.apart"].copy(), arrays["standing.disputed"].copy()
