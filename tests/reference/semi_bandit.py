"""György et al.'s algorithm over all paths, with each of the three biases."""

import numpy as np

from tests.reference.enumeration import normalised


class SemiBandit:
    def __init__(self, paths, covering):
        """`covering` lists the covering paths of A'."""
        self.paths = paths
        self.scores = np.zeros(paths.context.transition_count)
        self.explored = np.zeros(len(paths))
        for edges in covering:
            self.explored[paths.index(paths.context.expert_path(edges))] += 1 / len(covering)

    def law(self, learner):
        learned = normalised(learner.learning_rate * self.paths.incidence @ self.scores)
        return (1 - learner.exploration) * learned + learner.exploration * self.explored

    def learn(self, learner, chosen, law, feedback):
        """`law` is the one that the path was drawn from, and so are its flows, of the whole mixture."""
        flow = self.paths.flows(law)
        bonus = law_bonus(learner, learner.rounds_learned - 1)
        edges = self.paths.context_paths[chosen]
        gains = np.zeros(flow.size)
        gains[edges] = feedback.path_gains
        on_path = self.paths.incidence[chosen] > 0
        match learner.bias:
            case "everywhere":
                self.scores += (gains + bonus) / flow
            case "none":
                self.scores += np.where(on_path, gains / flow, 0.0)
            case "implicit":
                self.scores += np.where(on_path, gains / (flow + bonus / learner.edge_bound), 0.0)


def law_bonus(learner, rounds_before):
    """beta = B sqrt(K ln(M / delta) / (M T)), at most B; T unknown counts as twice the rounds so far."""
    k, m = learner.context.longest_path, learner.context.transition_count
    t = learner.rate.horizon or 2 * (rounds_before + 1)
    return learner.edge_bound * min(1.0, np.sqrt(k * np.log(m / learner.confidence) / (m * t)))
