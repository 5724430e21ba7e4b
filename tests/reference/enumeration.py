"""All paths of an A', one by one: laws and flows as sums over paths.

`Enumeration` lists the paths; `product_law`, `markov_law` and `flows` are what their names say, literally.
"""

import numpy as np


class Enumeration:
    """The paths of A, those of A' beside them, and which transition of A' lies on which path."""

    def __init__(self, context):
        self.context = context
        self.paths = [np.array(path, dtype=np.int32) for path in context.expert.paths()]
        self.context_paths = [context.context_path(path) for path in self.paths]
        self.number = {tuple(path.tolist()): i for i, path in enumerate(self.paths)}
        self.incidence = np.zeros((len(self.paths), context.transition_count))
        for i, edges in enumerate(self.context_paths):
            self.incidence[i, edges] = 1.0

    def __len__(self):
        return len(self.paths)

    def index(self, path):
        """The number of a path of A."""
        return self.number[tuple(int(edge) for edge in path)]

    def product_law(self, log_weights):
        """Probabilities proportional to e**(sum of the transitions' log weights)."""
        return normalised(self.incidence @ log_weights)

    def markov_law(self, flow):
        """The walk that leaves each state in proportion to the flow of its transitions."""
        sources, _ = self.context.source_targets()
        leaving = np.bincount(sources, weights=flow, minlength=self.context.state_count)
        return np.array([np.prod(flow[edges] / leaving[sources[edges]]) for edges in self.context_paths])

    def flows(self, law):
        """The probability that a path drawn from this law uses each transition."""
        return self.incidence.T @ law


def normalised(log_weights):
    """e**log_weights, scaled to a sum of 1."""
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()
