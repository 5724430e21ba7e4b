"""CDCB, Context-dependent ComBand: only the gain of the shown path is revealed (section 4.3 of the paper).

After Cesa-Bianchi and Lugosi (2012), with the sign of the paper's update corrected. The played law is the
Markov walk with the flows f = (1 - gamma) f_p + gamma f_mu, p proportional to e**(eta * scores), mu even over
all paths: the paper's mixture has the same flows, so the same expected gain, but only for a Markov law is E[v
v^T] inverted in closed form: instead of a pseudo-inverse of an M x M matrix, the estimate of the transitions'
gains is that of `walk_estimate`. Checked against the pseudo-inverse in the tests; docs/algorithms.md has the
proof.
"""

from typing import Any

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths import bounds, walk_estimate
from galloon.learners.paths.centre_flow import starting_flow
from galloon.learners.paths.expanded_hedge import log_count
from galloon.learners.paths.guarantee import Guarantee, expected, none
from galloon.learners.paths.path_learner import Gains, PathLearner, check_bound
from galloon.learners.paths.product_law import ProductLaw
from galloon.learners.paths.protocol import BanditFeedback, Feedback, FloatArray, IntArray, Memory, Setting
from galloon.learners.paths.tuning import Rate


class ComBand(PathLearner):
    """ComBand on A', without a matrix."""

    name = "com_band"
    setting = Setting.BANDIT

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        exploration: str = "even",
    ) -> None:
        check_bound(edge_bound, "transition")
        path_bound = edge_bound * context.longest_path
        roughness = 2 * path_bound**2 * context.transition_count
        rate = Rate(log_count(context.path_count), roughness, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self._explored = starting_flow(context, exploration)
        self._explores = exploration
        self.rarity = context.best_path(1.0 / self._explored)[1]
        self._product = ProductLaw(context)
        self._product.update(self.learning_rate, self.scores, None)
        self._mixed: FloatArray | None = None

    @property
    def exploration(self) -> float:
        """The share gamma = eta U M, at most 1/2."""
        return self._exploration_at(self.rounds_learned)

    def rate_at(self, rounds_learned: int) -> float:
        """The rate, held where gamma is capped: an estimate times it must stay below 1."""
        return self._exploration_at(rounds_learned) / (self.path_bound * self.context.transition_count)

    def _exploration_at(self, rounds_learned: int) -> float:
        wanted = self.rate.at(rounds_learned) * self.path_bound * self.context.transition_count
        return min(0.5, wanted)

    def _promise(self) -> Guarantee:
        context = self.context
        if self.starved:
            return none(
                f"{self._explores} exploration leaves transitions of A' too rare: their 1 / flow sum to "
                f"{self.rarity:,.0f} on a path, the theorem needs {context.transition_count:,}"
            )
        if self.pace.waited:
            return none("no bound is known for CDCB where feedback comes after the next choice")
        log_paths = log_count(context.path_count)
        return expected(
            bounds.com_band_played(self.pace, context.transition_count, log_paths, self.path_bound)
        )

    @property
    def starved(self) -> bool:
        """Whether exploration misses the theorem's condition: no path's sum of 1 / flow above M."""
        return self.rarity > self.context.transition_count * (1 + 1e-6)

    def marginals(self) -> FloatArray:
        """The flows of the played walk."""
        if self._mixed is None:
            gamma = self.exploration
            self._mixed = self._product.pushed().flows * (1 - gamma)
            self._mixed += gamma * self._explored
        return self._mixed

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self.marginals(), self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        flows = self.marginals()
        through = walk_estimate.through_inner(self.context, flows, edges)
        return float(np.log(flows[edges]).sum() - np.log(through).sum())

    def _most_probable(self) -> IntArray:
        sources, _ = self.context.source_targets()
        flows = self.marginals()
        return self.context.best_path(np.log(flows / self.context.state_flows(flows)[sources]))[0]

    def _numbers(self, edges: IntArray) -> FloatArray:
        return walk_estimate.numbers(self.context, self.marginals(), edges)

    def _number_count(self, path_length: int) -> int:
        return 2 * path_length - 1

    def _increment(self, memory: Memory, feedback: Feedback) -> Gains:
        assert isinstance(feedback, BanditFeedback)
        path = memory.edges
        divisors = memory.numbers[: self._number_count(path.size)]
        edges, y = walk_estimate.coefficients(self.context, path, divisors)
        return Gains(feedback.gain * y, edges)

    def _signature(self) -> list[Any]:
        return [*super()._signature(), *([] if self._explores == "even" else [self._explores])]

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        self._product.update(self.learning_rate, self.scores, touched)
        self._mixed = None
