"""Follow the Perturbed Leader on A' (Kalai and Vempala 2005): the best path so far, after adding noise.

Each round draws an exponential number Z for every transition and follows the path with the largest
scores + Z / eta. Regret at most 2 U sqrt(T K (1 + ln(M / K))), see `bounds.perturbed_leader`. Its law has no
closed form: `log_probability` and `marginals` are frequencies over a fixed number of repeatable draws, and
nothing is ever divided by them.
"""

import math
from typing import Any

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.paths import bounds
from galloon.learners.paths.draws import exponentials
from galloon.learners.paths.guarantee import Guarantee, surely
from galloon.learners.paths.path_learner import PathLearner, check_bound
from galloon.learners.paths.protocol import FloatArray, IntArray, PathChoice, Setting
from galloon.learners.paths.tuning import Rate

DRAWS = 4096  # for estimates of the law
ESTIMATE_ROUNDS = 2**63  # their round numbers, where no real round ever is


class PerturbedLeader(PathLearner):
    """Additive noise on the transitions, then the best path."""

    name = "perturbed_leader"
    setting = Setting.FULL

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        draws: int = DRAWS,
    ) -> None:
        check_bound(edge_bound, "transition")
        if not context.equal_lengths:
            raise InvalidInput(
                "the perturbed leader needs paths of equal length", advice="give it the padded automaton"
            )
        path_bound = edge_bound * context.longest_path
        rate = Rate(noise_complexity(context), path_bound**2, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self.draws = draws
        self._sampled: list[IntArray] | None = None

    def choose(self, round_number: int) -> PathChoice:
        """The probability is left open (NaN): estimating it would cost thousands of choices."""
        edges = self._draw(round_number)
        return PathChoice(self.context.expert_path(edges), math.nan, self._memory(edges))

    def choose_best(self) -> PathChoice:
        edges = self._most_probable()
        return PathChoice(self.context.expert_path(edges), math.nan, self._memory(edges))

    def marginals(self) -> FloatArray:
        counts = np.zeros(self.context.transition_count)
        for edges in self._sample_law():
            counts[edges] += 1.0
        return counts / self.draws

    def _promise(self) -> Guarantee:
        bound = bounds.perturbed_leader_played(self.pace, noise_complexity(self.context), self.path_bound)
        return surely(bound, self.pace.rounds, self.path_bound, self.pace.note)

    def _sample_law(self) -> list[IntArray]:
        if self._sampled is None:
            rounds = range(ESTIMATE_ROUNDS, ESTIMATE_ROUNDS + self.draws)
            self._sampled = [self._draw(number) for number in rounds]
        return self._sampled

    def _draw(self, round_number: int) -> IntArray:
        noise = exponentials(self.seed, round_number, self.context.transition_count)
        return self.context.best_path(self.learning_rate * self.scores + noise)[0]

    def _log_probability(self, edges: IntArray) -> float:
        hits = sum(np.array_equal(edges, other) for other in self._sample_law())
        return math.log(hits / self.draws) if hits else -math.inf

    def _most_probable(self) -> IntArray:
        """The leader itself, without noise."""
        return self.context.best_path(self.scores)[0]

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        del touched
        self._sampled = None

    def _signature(self) -> list[Any]:
        return [*super()._signature(), self.draws]


def noise_complexity(context: ContextAutomaton) -> float:
    """A bound on the mean of the largest total noise of a path: K (1 + ln(M / K))."""
    k = context.longest_path
    return k * (1 + math.log(context.transition_count / k)) if k else 0.0
