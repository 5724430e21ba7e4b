"""CDCH, Context-dependent Component Hedge: full information (section 4.1 of the paper).

Keeps a unit flow w on A'. Lazily: the flow nearest in relative entropy to w_1 e**(eta * gains so far), which
is what the paper's step-by-step projections come to, without their rounding errors piling up. The potentials
of the last projection are the start of the next. A path is drawn by the Markov walk on the flow, which has
the same marginals as the paper's decomposition into paths and costs O(K r).

Acceptance of a projection: |in - out| <= 1e-9 at every state, and |ln in/out| <= 1e-6 where the flow is at
least 1e-12; below that floor only the absolute test holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import projection
from galloon.learners.paths import bounds
from galloon.learners.paths.centre_flow import starting_flow
from galloon.learners.paths.guarantee import Guarantee, surely
from galloon.learners.paths.measured_gap import MeasuredGap, measures_gap
from galloon.learners.paths.path_learner import PathLearner, check_bound
from galloon.learners.paths.protocol import FloatArray, IntArray, Setting
from galloon.learners.paths.tuning import Rate

ABSOLUTE_GOAL = 1e-9
RELATIVE_GOAL = 1e-6
FLOW_FLOOR = 1e-12
MOST_STEPS = 200
TINY = 1e-300  # stands for a flow of nothing where a logarithm or a quotient needs a number


@dataclass(slots=True)
class Work:
    """What the last projection took, and whether it reached its goals."""

    converged: bool = True
    evaluations: int = 0
    newton_steps: int = 0
    solver_iterations: int = 0
    sweeps: int = 0


class ComponentHedge(PathLearner):
    """Component Hedge on A'."""

    name = "component_hedge"
    setting = Setting.FULL

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        tuning: str = "gap",
        start: str = "even",
    ) -> None:
        check_bound(edge_bound, "transition")
        if not context.equal_lengths:
            raise InvalidInput(
                "Component Hedge needs paths of equal length", advice="give it the padded automaton"
            )
        flow = starting_flow(context, start)
        self._log_start = np.log(flow)
        self.divergence = context.best_path(-self._log_start)[1]
        rate = Rate(self.divergence, edge_bound**2 * context.longest_path / 2, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self._layout = _layout(context)
        self.potentials = np.zeros(context.state_count)
        self.flow = flow
        self._start = start
        if measures_gap(tuning, self.rate):
            roughness = edge_bound**2 * context.longest_path
            self.gap = MeasuredGap.fresh(self.divergence, roughness, self.path_bound, edge_bound)
        self._outflow: FloatArray | None = None
        self.work = Work()

    def marginals(self) -> FloatArray:
        return self.flow

    def _promise(self) -> Guarantee:
        if self.gap is not None:
            return self._promise_of_gap(self.gap)
        length = self.context.longest_path
        bound = bounds.component_hedge_played(self.pace, length, self.edge_bound, self.divergence)
        return surely(bound, self.pace.rounds, self.path_bound, self.pace.note)

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self.flow, self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        sources, _ = self.context.source_targets()
        with np.errstate(divide="ignore"):
            return float(np.log(self.flow[edges] / self._leaving()[sources[edges]]).sum())

    def _most_probable(self) -> IntArray:
        sources, _ = self.context.source_targets()
        return self.context.best_path(np.log(np.maximum(self.flow / self._leaving()[sources], TINY)))[0]

    def _leaving(self) -> FloatArray:
        """The flow that leaves each state."""
        if self._outflow is None:
            sources, _ = self.context.source_targets()
            flow = np.bincount(sources, weights=self.flow, minlength=self.context.state_count)
            self._outflow = np.maximum(flow, TINY)
        return self._outflow

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        """Project at once: the potentials are state, so they may depend on nothing but what was learned."""
        del touched
        self._project(self.learning_rate, self.scores)

    def _gap_of(self, gains: FloatArray) -> float:
        """The dual's value is the initial state's potential: how much it grows, at the rate that stands."""
        rate, before, gained = self.learning_rate, float(self.potentials[0]), float(self.flow @ gains)
        self._project(rate, self.scores + gains)
        return (float(self.potentials[0]) - before) / rate - gained

    def _project(self, rate: float, scores: FloatArray) -> None:
        counts = np.zeros(4, dtype=np.int64)
        flow = np.empty(self.context.transition_count)
        converged = projection.project(
            self._log_start + rate * scores,
            self.potentials,
            *self._layout,
            ABSOLUTE_GOAL,
            RELATIVE_GOAL,
            FLOW_FLOOR,
            MOST_STEPS,
            flow,
            counts,
        )
        self.flow = flow
        self._outflow = None
        self.work = Work(bool(converged), *counts.tolist())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"scores": self.scores, "potentials": self.potentials, "flow": self.flow}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores, self.potentials, self.flow = arrays["scores"], arrays["potentials"], arrays["flow"]
        self._outflow = None

    def _signature(self) -> list[Any]:
        return [*super()._signature(), *([] if self._start == "even" else [self._start])]


def _layout(context: ContextAutomaton) -> tuple[NDArray[Any], ...]:
    """The arrays that the projection walks: ends of transitions, layers, and the ensemble's arithmetic."""
    edge_first, state_first = context.layers()
    drops = context.drops if isinstance(context, EnsembleContext) else np.zeros_like(edge_first[:-1])
    return (*context.source_targets(), edge_first, state_first, drops)
