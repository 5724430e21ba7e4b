"""The paper's CDCH, step by step: multiply the flow by e**(-eta * loss), project it, walk on it.

With a rate that moves, the step is taken from the first flow by all losses so far (dual averaging); with a
constant one that is the same thing, which is what the test is about.
"""

import numpy as np

from tests.reference.projection import project


class ComponentHedge:
    def __init__(self, paths, start=None):
        self.paths = paths
        self.start = paths.flows(np.full(len(paths), 1.0 / len(paths))) if start is None else start
        self.flow = self.start
        self.losses = np.zeros(self.flow.size)

    def law(self, learner):
        del learner
        return self.paths.markov_law(self.flow)

    def learn(self, learner, chosen, law, feedback):
        """`learner` has already learned: its rate is the one for the next flow."""
        del chosen, law
        loss = learner.edge_bound - feedback.edge_gains
        self.losses += loss
        ends = self.paths.context.source_targets()
        if learner.rate.is_constant:
            self.flow = project(np.log(self.flow) - learner.learning_rate * loss, *ends)
        else:
            self.flow = project(np.log(self.start) - learner.learning_rate * self.losses, *ends)
