"""CDCH, Context-dependent Component Hedge: full information (section 4.1 of the paper).

Keeps a unit flow w on A'. Lazily: the flow nearest in relative entropy to w_1 e**(eta * gains so far), which
is what the paper's step-by-step projections come to, without their rounding errors piling up (`FlowProjection`).
A path is drawn by the Markov walk on the flow, which has the same marginals as the paper's decomposition into
paths and costs O(K r).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths import bounds
from galloon.learners.paths.centre_flow import starting_flow
from galloon.learners.paths.flow_projection import FlowProjection, Work
from galloon.learners.paths.guarantee import Guarantee, surely
from galloon.learners.paths.measured_gap import MeasuredGap, measures_gap
from galloon.learners.paths.path_learner import PathLearner, check_bound
from galloon.learners.paths.protocol import FloatArray, IntArray, Setting
from galloon.learners.paths.tuning import Rate


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
        flow = starting_flow(context, start)
        self._projection = FlowProjection(context, flow, "Component Hedge")
        self.divergence = context.best_path(-np.log(flow))[1]
        rate = Rate(self.divergence, edge_bound**2 * context.longest_path / 2, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self._start = start
        if measures_gap(tuning, self.rate):
            roughness = edge_bound**2 * context.longest_path
            self.gap = MeasuredGap.fresh(self.divergence, roughness, self.path_bound, edge_bound)

    @property
    def flow(self) -> FloatArray:
        return self._projection.flow

    @property
    def work(self) -> Work:
        """What the last projection took."""
        return self._projection.work

    def marginals(self) -> FloatArray:
        return self._projection.flow

    def _promise(self) -> Guarantee:
        if self.gap is not None:
            return self._promise_of_gap(self.gap)
        length = self.context.longest_path
        bound = bounds.component_hedge_played(self.pace, length, self.edge_bound, self.divergence)
        return surely(bound, self.pace.rounds, self.path_bound, self.pace.note)

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self._projection.flow, self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        return self._projection.log_probability(edges)

    def _most_probable(self) -> IntArray:
        return self._projection.most_probable()

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        """Project at once: the potentials are state, so they may depend on nothing but what was learned."""
        del touched
        self._projection.move(self.learning_rate, self.scores)

    def _gap_of(self, gains: FloatArray) -> float:
        """The dual's value is the initial state's potential: how much it grows, at the rate that stands."""
        held, rate = self._projection, self.learning_rate
        before, gained = float(held.potentials[0]), float(held.flow @ gains)
        held.move(rate, self.scores + gains)
        return (float(held.potentials[0]) - before) / rate - gained

    def _arrays(self) -> dict[str, NDArray[Any]]:
        held = self._projection
        return {"scores": self.scores, "potentials": held.potentials, "flow": held.flow}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores = arrays["scores"]
        self._projection.put(arrays["flow"], arrays["potentials"])

    def _signature(self) -> list[Any]:
        return [*super()._signature(), *([] if self._start == "even" else [self._start])]
