"""Unit flows of A' under a logarithmic barrier: `BarrierFlow.solve` minimises costs . f - sum of weight ln f.

With no costs and even weights that is the centre of the unit flows (`centre_flow`); with estimated losses as
costs it is follow the regularised leader (`barrier_learner`). `kernels.barrier` does the work, on transitions
by their source.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.kernels import barrier
from galloon.learners.paths.protocol import FloatArray

GOAL = 1e-11  # |in - out| as a share of a state's flow
MOST_STEPS = 500


class BarrierFlow:
    """One A', laid out for the solver."""

    def __init__(self, context: ContextAutomaton) -> None:
        self._context = context
        self.sources, self.targets = context.source_targets()
        self._order = np.argsort(self.sources, kind="stable")
        self._back = np.argsort(self._order, kind="stable")
        self._target = self.targets[self._order]
        states = np.arange(context.state_count + 1)
        self._first = np.searchsorted(self.sources[self._order], states).astype(np.int64)
        self.steps = 0  # that the last solution took

    def solve(self, costs: FloatArray, weights: FloatArray, potentials: FloatArray) -> FloatArray:
        """The flow; potentials are moved to its own, from where they are if that is of use."""
        cost, weight = costs[self._order], weights[self._order]
        flow = np.empty(cost.size)
        problem = (self._first, self._target, cost, weight, GOAL, MOST_STEPS, potentials, flow)
        self.steps = barrier.solve(*problem)
        if self.steps < 0:
            # The slack of a transition is its weight over its flow: M / K on average where all are alike.
            step = float(weight.mean()) * weight.size / max(self._context.longest_path, 1)
            barrier.start(self._first, self._target, cost, step, potentials)
            self.steps = barrier.solve(*problem)
        flow = flow[self._back]
        return flow if self.steps >= 0 else self.walked(flow)

    def walked(self, flow: FloatArray) -> FloatArray:
        """The flow of the walk that leaves each state in these proportions: in and out agree to the last bits."""
        leaving = np.bincount(self.sources, weights=flow, minlength=self._context.state_count)
        with np.errstate(divide="ignore"):
            return self._context.push(np.log(flow / leaving[self.sources])).flows
