"""Hedge over all paths, one weight each."""

import numpy as np

from tests.reference.enumeration import normalised


class ExpandedHedge:
    def __init__(self, paths):
        self.paths = paths
        self.gains = np.zeros(len(paths))

    def law(self, learner):
        return normalised(learner.learning_rate * self.gains)

    def learn(self, learner, chosen, law, feedback):
        del learner, chosen, law
        self.gains += self.paths.incidence @ feedback.edge_gains
