"""The paper's CDCB: gains estimated through the pseudo-inverse of E[v v^T], v the incidence of a drawn path."""

import numpy as np

from tests.reference.enumeration import normalised


class ComBand:
    def __init__(self, paths, start=None):
        self.paths = paths
        self.explored = paths.flows(np.full(len(paths), 1.0 / len(paths))) if start is None else start
        self.scores = np.zeros(paths.context.transition_count)

    def law(self, learner):
        """The Markov walk on the mixed flows: the paper's mixture has the same flows."""
        k_m = learner.path_bound * self.paths.context.transition_count
        gamma = min(0.5, learner.learning_rate * k_m)
        learned = normalised(gamma / k_m * self.paths.incidence @ self.scores)
        return self.paths.markov_law((1 - gamma) * self.paths.flows(learned) + gamma * self.explored)

    def learn(self, learner, chosen, law, feedback):
        del learner
        self.scores += feedback.gain * estimator(self.paths, law) @ self.paths.incidence[chosen]


def estimator(paths, law):
    """The pseudo-inverse of the correlation matrix of paths drawn from this law."""
    correlation = (paths.incidence.T * law) @ paths.incidence
    return np.linalg.pinv(correlation, hermitian=True, rcond=1e-12)
