"""Online mirror descent on the flow polytope: CDCH's projection, told the gains of the shown path's transitions.

As Component Hedge, but the losses are estimated: (B - gain) / flow on the shown path and 0 elsewhere, the flow
that it was drawn from. They are unbiased and never negative, which is all that relative entropy asks for: there is
no forced exploration (Audibert, Bubeck and Lugosi 2014; the paper's CDSB explores and adds a bonus instead). A
lesson costs one projection, as one of Component Hedge.

The start is the centre of the unit flows, and the rate eta = D / Delta, D the divergence of a path from the start
and Delta the sum of what rounds were measured to cost at most: sum of flow (e**-z - 1 + z) / eta over the path,
z = eta * loss. No horizon is needed. docs/algorithms.md has the proof.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths import bounds
from galloon.learners.paths.centre_flow import centre_flow
from galloon.learners.paths.flow_projection import FlowProjection
from galloon.learners.paths.guarantee import Guarantee, expected, none
from galloon.learners.paths.measured_gap import MeasuredGap
from galloon.learners.paths.path_learner import Gains, PathLearner, check_bound
from galloon.learners.paths.protocol import (
    Feedback,
    FloatArray,
    IntArray,
    Memory,
    SemiBanditFeedback,
    Setting,
    foreign_memory,
)
from galloon.learners.paths.tuning import Rate


class MirrorSemiBandit(PathLearner):
    """Component Hedge on estimated losses."""

    name = "mirror_semi_bandit"
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
        del horizon
        check_bound(edge_bound, "transition")
        flow = centre_flow(context)
        self._projection = FlowProjection(context, flow, "mirror descent")
        self.divergence = context.best_path(-np.log(flow))[1]
        roughness = edge_bound**2 * context.transition_count / 2
        super().__init__(context, edge_bound, Rate(self.divergence, roughness, 0, learning_rate), seed)
        if not self.rate.is_constant:
            self.gap = MeasuredGap.fresh(self.divergence, 2 * roughness, self.path_bound, edge_bound)

    @property
    def flow(self) -> FloatArray:
        return self._projection.flow

    def marginals(self) -> FloatArray:
        return self._projection.flow

    def _promise(self) -> Guarantee:
        if self.pace.waited:
            return none(f"no bound is known for {self.name} where feedback comes after the next choice")
        worst = self.path_bound * self.pace.rounds
        if self.gap is not None:
            return expected(min(worst, self.gap.bound(self.pace.climb)), ", costs of rounds as measured")
        count = self.context.transition_count
        played = bounds.mirror_played(self.pace, count, self.edge_bound, self.divergence)
        return expected(min(worst, played))

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self._projection.flow, self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        return self._projection.log_probability(edges)

    def _most_probable(self) -> IntArray:
        return self._projection.most_probable()

    def _numbers(self, edges: IntArray) -> FloatArray:
        """The rate, if it is measured, and the flows to divide by."""
        return np.concatenate([super()._numbers(edges), self._projection.flow[edges]])

    def _number_count(self, path_length: int) -> int:
        return super()._number_count(path_length) + path_length

    def _increment(self, memory: Memory, feedback: Feedback) -> Gains:
        """Losses, so less than nothing."""
        assert isinstance(feedback, SemiBanditFeedback)
        own = super()._number_count(memory.edges.size)
        flows = memory.numbers[own : own + memory.edges.size]
        if not (flows > 0).all():
            raise foreign_memory()
        gains = np.zeros(self.scores.size)
        gains[memory.edges] = (feedback.path_gains - self.edge_bound) / flows
        return Gains(gains)

    def _gap_of(self, gains: FloatArray) -> float:
        """At most so much: what the potential would grow by if nothing had to be projected."""
        edges, rate = np.flatnonzero(gains), self.learning_rate
        z = -rate * gains[edges]
        return float(self._projection.flow[edges] @ (np.expm1(-z) + z)) / rate

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        """Project at once: the potentials are state, so they may depend on nothing but what was learned."""
        del touched
        self._projection.move(self.learning_rate, self.scores)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        held = self._projection
        return {"scores": self.scores, "potentials": held.potentials, "flow": held.flow}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores = arrays["scores"]
        self._projection.put(arrays["flow"], arrays["potentials"])
