"""What the two learners with a logarithmic barrier share: flows that learn from partial feedback, self-tuning.

Follow the regularised leader on the unit flows of A', as Tsuchiya, Ito and Honda (2023) do for sets of arms:
the flow of a round minimises  - (scores + predictions) . f - sum of weight ln f.  `scores` are the sums of
estimated gains, `predictions` guess the next ones, and an estimate is the prediction and the surprise over the
flow: unbiased, and with a variance of surprises, not of gains. There is no forced exploration: the barrier
keeps every flow positive.

Weights start at 5/4 of the largest surprise, where every step is stable, and grow by what each round was
measured to cost (`_pay`). Regret <= U + (what weights cost the best path) + (what rounds cost), whatever the
gains; where gains are drawn from a fixed law it grows with ln T. No horizon is needed. docs/algorithms.md has
the proofs.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths import bounds
from galloon.learners.paths.barrier_flow import BarrierFlow
from galloon.learners.paths.guarantee import Guarantee, expected, none
from galloon.learners.paths.path_learner import PathLearner, check_bound
from galloon.learners.paths.protocol import Feedback, FloatArray, IntArray, Memory, foreign_memory
from galloon.learners.paths.tuning import Rate

STABLE = 1.25  # weights, in largest surprises
LARGEST_FALL = -0.9  # of a step: nearer to -1 its cost has no bound; only late feedback comes near


class BarrierLearner(PathLearner):
    """Flows under a barrier."""

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        largest_surprise: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        check_bound(edge_bound, "transition")
        count = context.transition_count
        super().__init__(context, edge_bound, Rate(1.0, 1.0, horizon, learning_rate), seed)
        self.first_weight = max(STABLE * largest_surprise, 1.0 / learning_rate if learning_rate > 0 else 0.0)
        self.weights = np.full(count, self.first_weight)
        self.costs = np.zeros(count)  # of the rounds so far, as measured
        self.predictions = np.zeros(count)
        self.potentials = np.zeros(context.state_count)
        self._solver = BarrierFlow(context)
        self.flow = self._solver.solve(np.zeros(count), self.weights, self.potentials)
        self._log_centre = np.log(self.flow)
        self._depths = _depths(context)

    def marginals(self) -> FloatArray:
        return self.flow

    def rate_at(self, rounds_learned: int) -> float:
        """1 / weight; weights are measured, and their sums enter the bound, not this."""
        del rounds_learned
        return 1.0 / self.first_weight

    def learn_many(self, lessons: list[tuple[Memory, Feedback]]) -> None:
        """One lesson after the other, but the law is brought up to date once, at the end."""
        if not lessons:
            return
        at_choice = [self._time_of(memory) for memory, _ in lessons]
        for memory, feedback in lessons:
            self._checked(memory, feedback)
            own = self._number_count(memory.edges.size)
            if not (memory.numbers[:own] > 0).all():
                raise foreign_memory()
        for memory, feedback in lessons:
            self._lesson(memory, feedback)
        self._count(at_choice)
        self._scores_changed(None)

    # What a subclass defines.

    @abstractmethod
    def _lesson(self, memory: Memory, feedback: Feedback) -> None:
        """Add the estimate to the scores, `_pay` for it, and predict better."""

    # Shared details.

    def _pay(self, *surprises: FloatArray) -> None:
        """What this round costs at most, for the cheapest of estimates that differ by a constant on all paths."""
        costs = min((self._costs_of(surprise) for surprise in surprises), key=lambda cost: float(cost.sum()))
        self.costs += costs
        if not self.rate.fixed:
            self.weights += costs / self._price(self.rounds_learned + 1)

    def _costs_of(self, surprise: FloatArray) -> FloatArray:
        """weight (z - ln(1 + z)), z = - flow * surprise / weight: how far the next step can lead away."""
        z = -self.flow * surprise / self.weights
        if z.min() <= LARGEST_FALL:
            z = np.maximum(z, LARGEST_FALL)
        cost: FloatArray = self.weights * (z - np.log1p(z))
        return cost

    def _price(self, rounds: int) -> FloatArray:
        """What a unit of weight costs the best path: - ln of a flow that is 1 / T of the centre's."""
        price: FloatArray = 1.0 + np.log(rounds) - self._log_centre
        return price

    def _promise(self) -> Guarantee:
        if self.pace.waited:
            return none(f"no bound is known for {self.name} where feedback comes after the next choice")
        grown = self.weights - self.first_weight
        bound = bounds.barrier_played(
            self.pace.rounds, self.path_bound, self.first_weight, grown, self._log_centre, self.costs
        )
        return expected(bound, ", costs of rounds as measured")

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self.flow, self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        return float(self._log_steps()[edges].sum())

    def _most_probable(self) -> IntArray:
        return self.context.best_path(self._log_steps())[0]

    def _log_steps(self) -> FloatArray:
        """ln of the probability of each transition, given the state that it leaves."""
        sources = self._solver.sources
        leaving = np.bincount(sources, weights=self.flow, minlength=self.context.state_count)
        steps: FloatArray = np.log(self.flow / leaving[sources])
        return steps

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        """Solve at once: the potentials are state, so they may depend on nothing but what was learned."""
        del touched
        costs = -(self.scores + self.predictions)
        self.flow = self._solver.solve(costs, self.weights, self.potentials)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "scores": self.scores,
            "predictions": self.predictions,
            "weights": self.weights,
            "costs": self.costs,
            "potentials": self.potentials,
            "flow": self.flow,
        }

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores, self.predictions = arrays["scores"], arrays["predictions"]
        self.weights, self.costs = arrays["weights"], arrays["costs"]
        self.potentials, self.flow = arrays["potentials"], arrays["flow"]

    def _signature(self) -> list[Any]:
        return [*super()._signature(), self.first_weight]


def _depths(context: ContextAutomaton) -> IntArray:
    """The longest way from the initial state to each state."""
    depths = np.zeros(context.state_count, dtype=np.int32)
    sources, targets = context.source_targets()
    for e in np.argsort(sources, kind="stable").tolist():
        depths[targets[e]] = max(depths[targets[e]], depths[sources[e]] + 1)
    return depths
