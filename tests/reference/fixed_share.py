"""Fixed share over all paths: Bayes by enumeration, then at every state a share is dealt out evenly."""

import numpy as np

FIRST_RATE = 16.0


class FixedShare:
    def __init__(self, paths):
        self.paths, self.rounds, self.delta = paths, 0, None
        self.sources, _ = paths.context.source_targets()
        self.even = np.array([1 / (self.sources == source).sum() for source in self.sources])
        self.steps = self.even

    def law(self, learner):
        del learner
        return np.array([np.prod(self.steps[edges]) for edges in self.paths.context_paths])

    def learn(self, learner, chosen, law, feedback):
        del chosen
        gains = self.paths.incidence @ feedback.edge_gains
        rate = self._rate(learner)
        grown = law * np.exp(rate * gains)
        self.delta += max(0.0, np.log(grown.sum()) / rate - law @ gains)
        self.rounds += 1
        flow = self.paths.flows(grown / grown.sum())
        leaving = np.array([flow[self.sources == source].sum() for source in self.sources])
        alpha = 1 / (self.rounds + 1)
        self.steps = (1 - alpha) * flow / leaving + alpha * self.even

    def _rate(self, learner):
        """The learner's where it is constant; else complexity over the gaps so far."""
        complexity = (1 + learner.changes) * max(
            -np.log(self.even[edges]).sum() for edges in self.paths.context_paths
        )
        if self.delta is None:
            self.delta = max(complexity, 1e-12) * learner.edge_bound / FIRST_RATE
        return learner.learning_rate if learner.rate.is_constant else max(complexity, 1e-12) / self.delta
