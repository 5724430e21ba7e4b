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
        """Implicit exploration adds half the rate of the choice, in units of the largest loss."""
        explored = learner.path_bound * learner.rate.at(learner.rounds_learned - 1) / 2
        divisor = law[chosen] + (explored if learner.exploration == "implicit" else 0.0)
        self.losses[chosen] += (learner.path_bound - feedback.gain) / divisor
