"""CDSB, Context-dependent Semi-Bandit: the gains of the shown path's transitions are revealed (section 4.2).

After György et al. (2007). A path is drawn from (1 - gamma) p + gamma mu: p proportional to e**(eta * scores),
mu even over covering paths. Scores grow by (gain + beta) / q on the path and beta / q elsewhere, q the flow of
the *mixture* (the paper's q is ambiguous), taken when the path was drawn. Two ways to do without beta, whose
part touches every transition: beta = 0, or implicit exploration (Neu 2015), gain / (q + beta) on the path.
"""

import math
from typing import Any

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.paths import bounds
from galloon.learners.paths.covering import cover
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.expanded_hedge import log_count
from galloon.learners.paths.guarantee import Guarantee, none
from galloon.learners.paths.path_learner import Gains, PathLearner, check_bound
from galloon.learners.paths.product_law import ProductLaw
from galloon.learners.paths.protocol import (
    Feedback,
    FloatArray,
    IntArray,
    Memory,
    SemiBanditFeedback,
    Setting,
)
from galloon.learners.paths.tuning import Rate

BIASES = ("everywhere", "none", "implicit")


class SemiBandit(PathLearner):
    """György's algorithm on A'."""

    name = "semi_bandit"
    setting = Setting.SEMI_BANDIT

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        bias: str = "everywhere",
        confidence: float = 0.05,
    ) -> None:
        check_bound(edge_bound, "transition")
        if bias not in BIASES:
            raise InvalidInput(f"bias {bias!r} is not one of {', '.join(BIASES)}", field="options")
        if not 0 < confidence < 1:
            raise InvalidInput(f"confidence {confidence} must lie between 0 and 1", field="options")
        self.covering = cover(context)
        k = context.longest_path
        # eta = sqrt(ln N / (4 T K^2 |C|)) / B
        roughness = 4 * k**2 * self.covering.count * edge_bound**2
        rate = Rate(log_count(context.path_count), roughness, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self.bias = bias
        self.confidence = confidence
        self._product = ProductLaw(context)
        self._product.update(self.learning_rate, self.scores, None)
        self._mixed: FloatArray | None = None

    @property
    def exploration(self) -> float:
        """The share gamma = 2 eta K |C| B, at most 1/2."""
        k = self.context.longest_path
        return min(0.5, 2 * self.learning_rate * k * self.covering.count * self.edge_bound)

    @property
    def bonus(self) -> float:
        """The bonus beta = B sqrt(K / (M T) ln(M / delta)), at most B; T is twice the rounds if unknown."""
        if self.bias == "none":
            return 0.0
        k, m = self.context.longest_path, self.context.transition_count
        t = self.rate.horizon or 2 * (self.rounds_learned + 1)
        return self.edge_bound * min(1.0, math.sqrt(k / (m * t) * math.log(m / self.confidence)))

    def marginals(self) -> FloatArray:
        """The flows of the mixture."""
        if self._mixed is None:
            gamma = self.exploration
            self._mixed = (1 - gamma) * self._product.pushed().flows + gamma * self.covering.flows
        return self._mixed

    def _promise(self) -> Guarantee:
        """Theorem 4 and what it asks for; it speaks of the drawn paths, not of their mean."""
        horizon, context, covering = self.rate.horizon, self.context, self.covering.count
        log_paths = log_count(context.path_count)
        sizes = (context.longest_path, context.transition_count, covering, log_paths)
        if self.bias != "everywhere":
            return none(f"theorem 4 is on bias everywhere, not {self.bias}")
        if not horizon or self.rate.fixed > 0:
            return none("theorem 4 needs a known horizon and its own learning rate")
        if self.rounds_learned > horizon:
            return none(f"theorem 4 speaks of {horizon} rounds, these are {self.rounds_learned}")
        least = bounds.semi_bandit_least_rounds(*sizes, self.confidence)
        if horizon < least:
            return none(f"theorem 4 needs a horizon of at least {math.ceil(least)} rounds")
        if self.pace.waited:
            return none("theorem 4 needs feedback before the next choice")
        bound = bounds.semi_bandit(horizon, *sizes, self.edge_bound, self.confidence)
        return Guarantee(f"regret of drawn paths, with probability {1 - self.confidence:g}", bound)

    def _draw(self, round_number: int) -> IntArray:
        explore, which, *_ = numbers = uniforms(self.seed, round_number, self.context.longest_path + 2)
        if explore < self.exploration:
            return self.covering.path(int(which * self.covering.count))
        return self.context.sample(self._product.pushed().flows, numbers[2:])

    def _log_probability(self, edges: IntArray) -> float:
        gamma = self.exploration
        learned = math.log1p(-gamma) + self._product.log_probability(edges)
        share = self.covering.share(edges)
        return float(np.logaddexp(learned, math.log(gamma * share))) if share > 0 else learned

    def _most_probable(self) -> IntArray:
        """The best of all paths or the best of those that exploration favours, alike among themselves."""
        return max(self._product.most_probable(), self.covering.best(self.scores), key=self._log_probability)

    def _numbers(self, edges: IntArray) -> FloatArray:
        """The bonus and the flows to divide by: all of them where the bonus goes everywhere, else the path's."""
        flows = self.marginals()
        return np.concatenate([[self.bonus], flows if self.bias == "everywhere" else flows[edges]])

    def _number_count(self, path_length: int) -> int:
        return 1 + (self.context.transition_count if self.bias == "everywhere" else path_length)

    def _increment(self, memory: Memory, feedback: Feedback) -> Gains:
        assert isinstance(feedback, SemiBanditFeedback)
        numbers = memory.numbers[: self._number_count(memory.edges.size)]
        bonus, flows = numbers[0], numbers[1:]
        if self.bias == "everywhere":
            values = bonus / flows
            values[memory.edges] += feedback.path_gains / flows[memory.edges]
            return Gains(values)
        divisor = flows + bonus / self.edge_bound if self.bias == "implicit" else flows
        return Gains(feedback.path_gains / divisor, memory.edges)

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        self._product.update(self.learning_rate, self.scores, touched)
        self._mixed = None

    def _signature(self) -> list[Any]:
        return [*super()._signature(), self.bias, self.confidence]
