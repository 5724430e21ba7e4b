"""Follow the Perturbed Leader by trying every path."""

import numpy as np


class PerturbedLeader:
    def __init__(self, paths):
        self.paths = paths
        self.scores = np.zeros(paths.context.transition_count)

    def leader(self, learner, noise):
        """The number of the path with the largest score so far plus noise / eta."""
        return int(np.argmax(self.paths.incidence @ (self.scores + noise / learner.learning_rate)))

    def learn(self, feedback):
        self.scores += feedback.edge_gains
