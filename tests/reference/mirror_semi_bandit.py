"""Mirror descent by its definition: the dense projection of the start times e**(-rate * estimated losses)."""

import numpy as np

from galloon.learners.paths.centre_flow import centre_flow
from tests.reference.projection import project

FIRST_RATE = 16.0


class MirrorSemiBandit:
    def __init__(self, paths):
        self.paths = paths
        self.start = centre_flow(paths.context)  # checked by its own tests
        self.flow = self.start
        self.losses = np.zeros(self.flow.size)
        self.complexity = max(1e-12, *(-np.log(self.start[edges]).sum() for edges in paths.context_paths))
        self.delta = None

    def law(self, learner):
        del learner
        return self.paths.markov_law(self.flow)

    def learn(self, learner, chosen, law, feedback):
        del law
        if self.delta is None:
            self.delta = self.complexity * learner.edge_bound / FIRST_RATE
        rate = learner.learning_rate if learner.gap is None else self.complexity / self.delta
        for edge, gain in zip(self.paths.context_paths[chosen], feedback.path_gains, strict=True):
            loss = (learner.edge_bound - gain) / self.flow[edge]
            self.losses[edge] += loss
            self.delta += self.flow[edge] * (np.exp(-rate * loss) - 1 + rate * loss) / rate
        rate = learner.learning_rate if learner.gap is None else self.complexity / self.delta
        ends = self.paths.context.source_targets()
        self.flow = project(np.log(self.start) - rate * self.losses, *ends)
