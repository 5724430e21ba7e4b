"""The unit flow on A' nearest in relative entropy to given weights, and the walk on it: `FlowProjection`.

`move` projects start * e**(rate * scores), from the potentials of the last projection. Component Hedge plays the
flow with full information, `mirror_semi_bandit` with estimated gains.

Acceptance: |in - out| <= 1e-9 at every state, and |ln in/out| <= 1e-6 where the flow is at least 1e-12; below
that floor only the absolute test holds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import projection
from galloon.learners.paths.protocol import FloatArray, IntArray

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


class FlowProjection:
    """A flow that moves, and its potentials; both are state of the learner that holds this."""

    def __init__(self, context: ContextAutomaton, start: FloatArray, who: str) -> None:
        if not context.equal_lengths:
            raise InvalidInput(f"{who} needs paths of equal length", advice="give it the padded automaton")
        self._context = context
        self._log_start = np.log(start)
        self._layout = _layout(context)
        self._outflow: FloatArray | None = None
        self.flow = start
        self.potentials = np.zeros(context.state_count)
        self.work = Work()

    def move(self, rate: float, scores: FloatArray) -> None:
        """Project the start times e**(rate * scores)."""
        counts = np.zeros(4, dtype=np.int64)
        flow = np.empty(self._context.transition_count)
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
        self.put(flow, self.potentials)
        self.work = Work(bool(converged), *counts.tolist())

    def put(self, flow: FloatArray, potentials: FloatArray) -> None:
        """Another flow, with the potentials that belong to it."""
        self.flow, self.potentials = flow, potentials
        self._outflow = None

    def log_probability(self, edges: IntArray) -> float:
        """Of a path of A', drawn by the walk."""
        sources, _ = self._context.source_targets()
        with np.errstate(divide="ignore"):
            return float(np.log(self.flow[edges] / self._leaving()[sources[edges]]).sum())

    def most_probable(self) -> IntArray:
        """The path that the walk takes most often."""
        sources, _ = self._context.source_targets()
        return self._context.best_path(np.log(np.maximum(self.flow / self._leaving()[sources], TINY)))[0]

    def _leaving(self) -> FloatArray:
        """The flow that leaves each state."""
        if self._outflow is None:
            sources, _ = self._context.source_targets()
            flow = np.bincount(sources, weights=self.flow, minlength=self._context.state_count)
            self._outflow = np.maximum(flow, TINY)
        return self._outflow


def _layout(context: ContextAutomaton) -> tuple[NDArray[Any], ...]:
    """The arrays that the projection walks: ends of transitions, layers, and the ensemble's arithmetic."""
    edge_first, state_first = context.layers()
    drops = context.drops if isinstance(context, EnsembleContext) else np.zeros_like(edge_first[:-1])
    return (*context.source_targets(), edge_first, state_first, drops)
