"""Fixed share on A': full information, and regret against a sequence of paths that changes now and then.

The law is a Markov walk: at each state a probability for each way on. A round's gains move it as in Expanded
Hedge, p' proportional to p e**(eta * gains), by one push; then at every state a share alpha of the probability
is dealt out evenly again, by one more sweep (Herbster and Warmuth 1998, at every state instead of over all
paths). So no path is ever forgotten, and one that differs from the last by a few transitions is found again at
the price of those few.

`changes` is how often the path that the promise compares with may change; alpha after t rounds is 1 / (t + 2), the
rate is by the measured gap. Every number of changes has its bound (docs/algorithms.md); the promise prints one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.paths import bounds
from galloon.learners.paths.guarantee import Guarantee, none, surely
from galloon.learners.paths.measured_gap import MeasuredGap
from galloon.learners.paths.path_learner import PathLearner, check_bound
from galloon.learners.paths.protocol import FloatArray, IntArray, Setting
from galloon.learners.paths.tuning import Rate

FORGOTTEN = 1e-290  # a state with less flow than this has no proportions that floats could tell


class FixedShare(PathLearner):
    """Hedge on A' that shares."""

    name = "fixed_share"
    setting = Setting.FULL

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        changes: float = 3.0,
    ) -> None:
        check_bound(edge_bound, "transition")
        if not 0 <= changes < 1e6:
            raise InvalidInput(f"changes {changes} must be a count from 0 on", field="options")
        sources, _ = context.source_targets()
        ways = np.bincount(sources, minlength=context.state_count)[sources]
        self._even = 1.0 / ways
        self.log_ways = context.best_path(np.log(ways.astype(float)))[1]  # of the path with most of them
        self.changes = changes
        complexity = (1 + changes) * self.log_ways
        path_bound = edge_bound * context.longest_path
        del horizon  # the measured gap does better than a horizon
        rate = Rate(complexity, path_bound**2 / 8, fixed=learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        if not rate.is_constant:
            self.gap = MeasuredGap.fresh(complexity, path_bound**2, path_bound, edge_bound)
        self._sources = sources
        self.log_law = np.log(self._even)  # of each transition, given the state that it leaves
        self._taken = self.scores.copy()  # what the law knows of the scores
        self._step_rate = self.learning_rate
        self._flows: FloatArray | None = None

    def marginals(self) -> FloatArray:
        if self._flows is None:
            self._flows = self.context.push(self.log_law).flows
        return self._flows

    def bound(self, changes: float) -> float:
        """On expected regret against any sequence of paths that changes so often."""
        rounds = self.pace.rounds
        if self.gap is None:
            slowness, gaps = 1 / self.learning_rate, rounds * self.learning_rate * self.path_bound**2 / 8
        else:
            slowness, gaps = 1 / self.gap.rate, self.gap.on_time
        sizes = (self.context.longest_path, self.log_ways)
        return min(self.path_bound * rounds, bounds.fixed_share(rounds, changes, *sizes, slowness, gaps))

    def _promise(self) -> Guarantee:
        if self.pace.waited:
            return none("no bound is known for fixed_share where feedback comes after the next choice")
        note = f", against every sequence of paths with at most {self.changes:g} changes"
        return surely(self.bound(self.changes), self.pace.rounds, self.path_bound, note)

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self.marginals(), self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        return float(self.log_law[edges].sum())

    def _most_probable(self) -> IntArray:
        return self.context.best_path(self.log_law)[0]

    def _gap_of(self, gains: FloatArray) -> float:
        self._step_rate = rate = self.learning_rate
        grown = self.context.push(self.log_law + rate * gains).log_total
        return grown / rate - float(self.marginals() @ gains)

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        del touched
        rate = self._step_rate if self.gap is not None else self.learning_rate
        learned = self.context.push(self.log_law + rate * (self.scores - self._taken)).flows
        leaving = np.bincount(self._sources, weights=learned, minlength=self.context.state_count)
        through = leaving[self._sources]
        told = through > FORGOTTEN
        law = np.where(told, learned / np.where(told, through, 1.0), self._even)
        share = 1.0 / (self.rounds_learned + 1)  # of the round that has just been counted
        self.log_law = np.log((1 - share) * law + share * self._even)
        self._taken = self.scores.copy()
        self._flows = None

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"scores": self.scores, "log_law": self.log_law}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores, self.log_law = arrays["scores"], arrays["log_law"]
        self._taken = self.scores.copy()
        self._flows = None

    def _signature(self) -> list[Any]:
        return [*super()._signature(), self.changes]
