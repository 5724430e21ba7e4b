"""Semi-bandit feedback under a logarithmic barrier: the gains of the shown path's transitions are revealed.

An estimate is the prediction and, on the path, the surprise over the flow. A transition is predicted to gain the
mean of what it was seen to gain, and one zero. See `barrier_learner`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths.barrier_learner import BarrierLearner
from galloon.learners.paths.protocol import (
    Feedback,
    FloatArray,
    IntArray,
    Memory,
    SemiBanditFeedback,
    Setting,
)


class BarrierSemiBandit(BarrierLearner):
    """Follow the regularised leader on A', told the shown transitions' gains."""

    name = "barrier_semi_bandit"
    setting = Setting.SEMI_BANDIT

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(
            context, edge_bound, edge_bound, horizon=horizon, learning_rate=learning_rate, seed=seed
        )
        self._seen = np.zeros(context.transition_count)

    def _lesson(self, memory: Memory, feedback: Feedback) -> None:
        assert isinstance(feedback, SemiBanditFeedback)
        path = memory.edges
        missed = feedback.path_gains - self.predictions[path]
        surprise = np.zeros(self.scores.size)
        surprise[path] = missed / memory.numbers[: path.size]
        self._pay(surprise, surprise - self._across(path, missed))
        self.scores += self.predictions + surprise
        self._seen[path] += 1.0
        self.predictions[path] += missed / (self._seen[path] + 1.0)

    def _across(self, path: IntArray, missed: FloatArray) -> FloatArray:
        """A sum that all paths share: what a transition passes, in depth, of the path's surprises."""
        sources, targets = self._solver.sources, self._solver.targets
        passed = np.zeros(self._depths[-1] + 1)
        passed[self._depths[sources[path]] + 1] = missed
        until = np.cumsum(passed)
        across: FloatArray = until[self._depths[targets]] - until[self._depths[sources]]
        return across

    def _numbers(self, edges: IntArray) -> FloatArray:
        """The flows to divide by."""
        return self.flow[edges]

    def _number_count(self, path_length: int) -> int:
        return path_length

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {**super()._arrays(), "seen": self._seen}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._set_arrays(arrays)
        self._seen = arrays["seen"]
