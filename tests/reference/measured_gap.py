"""AdaHedge by its definition: over all paths for Expanded Hedge, by values of the optimum for Component Hedge."""

import numpy as np

from tests.reference.component_hedge import ComponentHedge
from tests.reference.enumeration import normalised
from tests.reference.expanded_hedge import ExpandedHedge
from tests.reference.projection import project

FIRST_RATE = 16.0


class GapExpandedHedge(ExpandedHedge):
    """eta = ln N / Delta; the gap of a round is its mix gain less its mean gain."""

    def __init__(self, paths):
        super().__init__(paths)
        self.totals = np.zeros(len(paths))
        self.delta = None

    def _rate(self, learner):
        complexity = max(np.log(len(self.paths)), 1e-12)
        if self.delta is None:
            self.delta = complexity * learner.edge_bound / FIRST_RATE
        return complexity / self.delta

    def law(self, learner):
        if learner.gap is None:
            return super().law(learner)
        return normalised(self._rate(learner) * self.totals)

    def learn(self, learner, chosen, law, feedback):
        super().learn(learner, chosen, law, feedback)
        gains = self.paths.incidence @ feedback.edge_gains
        rate = self._rate(learner)
        mix = np.log((law * np.exp(rate * gains)).sum()) / rate
        self.delta += max(0.0, mix - law @ gains)
        self.totals += gains


class GapComponentHedge(ComponentHedge):
    """eta = D / Delta; a gap is the growth of max <w, S> - KL(w || start) / eta less the mean gain."""

    def __init__(self, paths, start=None):
        super().__init__(paths, start)
        self.gains = np.zeros(self.flow.size)
        self.delta = None

    def learn(self, learner, chosen, law, feedback):
        if learner.gap is None:
            super().learn(learner, chosen, law, feedback)
            return
        complexity = max(1e-12, *(-np.log(self.start[edges]).sum() for edges in self.paths.context_paths))
        if self.delta is None:
            self.delta = complexity * learner.edge_bound / FIRST_RATE
        rate, fresh = complexity / self.delta, self.gains + feedback.edge_gains
        growth = self._value(rate, fresh) - self._value(rate, self.gains)
        self.delta += max(0.0, growth - self.flow @ feedback.edge_gains)
        self.gains = fresh
        self.flow = self._best(complexity / self.delta, fresh)

    def _best(self, rate, gains):
        return project(np.log(self.start) + rate * gains, *self.paths.context.source_targets())

    def _value(self, rate, gains):
        flow = self._best(rate, gains)
        used = flow > 0
        divergence = (
            (flow[used] * np.log(flow[used] / self.start[used])).sum() - flow.sum() + self.start.sum()
        )
        return flow @ gains - divergence / rate
