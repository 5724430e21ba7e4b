"""Bandit feedback under a logarithmic barrier: only the gain of the shown path is revealed.

The path is drawn by the Markov walk on the flow, so that the surprise of one path's gain is shared out over the
transitions without bias by `walk_estimate`. Predictions of transitions' gains are a linear fit to the gains of
paths, by small steps. See `barrier_learner`.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths import walk_estimate
from galloon.learners.paths.barrier_learner import BarrierLearner
from galloon.learners.paths.protocol import BanditFeedback, Feedback, FloatArray, IntArray, Memory, Setting

STEP = 0.1  # the share of a path's surprise by which its prediction moves


class BarrierBandit(BarrierLearner):
    """Follow the regularised leader on A', told the shown path's gain."""

    name = "barrier_bandit"
    setting = Setting.BANDIT

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        largest = edge_bound * context.longest_path
        super().__init__(
            context, edge_bound, largest, horizon=horizon, learning_rate=learning_rate, seed=seed
        )

    def _lesson(self, memory: Memory, feedback: Feedback) -> None:
        assert isinstance(feedback, BanditFeedback)
        path = memory.edges
        missed = feedback.gain - float(self.predictions[path].sum())
        edges, y = walk_estimate.coefficients(
            self.context, path, memory.numbers[: self._number_count(path.size)]
        )
        surprise = np.zeros(self.scores.size)
        surprise[edges] = missed * y
        last = self._solver.targets == self.context.state_count - 1
        self._pay(surprise, surprise - missed * last)  # every path has one last transition
        self.scores += self.predictions + surprise
        moved = self.predictions[path] + STEP * missed / path.size
        self.predictions[path] = np.clip(moved, 0.0, self.edge_bound)

    def _numbers(self, edges: IntArray) -> FloatArray:
        return walk_estimate.numbers(self.context, self.flow, edges)

    def _number_count(self, path_length: int) -> int:
        return 2 * path_length - 1
