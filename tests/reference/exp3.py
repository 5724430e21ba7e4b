"""EXP3 over all paths, one weight each, in its form for losses U - gain."""

import numpy as np

from tests.reference.enumeration import normalised


class Exp3:
    def __init__(self, paths):
        self.paths = paths
        self.losses = np.zeros(len(paths))

    def law(self, learner):
        return normalised(-learner.learning_rate * self.losses)

    def learn(self, learner, chosen, law, feedback):
        self.losses[chosen] += (learner.path_bound - feedback.gain) / law[chosen]
