"""Follow the regularised leader with a logarithmic barrier, by definition: dense Newton steps on the flow."""

import numpy as np

STABLE = 1.25


class _Barrier:
    def __init__(self, paths):
        self.paths = paths
        size = paths.context.transition_count
        self.scores, self.predictions = np.zeros(size), np.zeros(size)
        self.weights, self.centre = None, least(paths, np.zeros(size), np.ones(size))
        self.depths = np.zeros(paths.context.state_count, dtype=int)
        for edges in paths.context_paths:  # the longest way to each state, by every path
            targets = paths.context.source_targets()[1][edges]
            self.depths[targets] = np.maximum(self.depths[targets], 1 + np.arange(edges.size))
        for _ in range(self.depths.size):
            for source, target in zip(*paths.context.source_targets(), strict=True):
                self.depths[target] = max(self.depths[target], self.depths[source] + 1)

    def law(self, learner):
        if self.weights is None:
            first = STABLE * self.largest(learner)
            self.fixed = learner.rate.fixed
            self.weights = np.full(self.scores.size, max(first, 1 / self.fixed if self.fixed else 0.0))
        return self.paths.markov_law(least(self.paths, -(self.scores + self.predictions), self.weights))

    def pay(self, learner, flow, alternatives):
        """The costs of a step on the cheaper of two estimates of the surprise, then weights grow by them."""
        costs = []
        for surprise in alternatives:
            z = np.maximum(-flow * surprise / self.weights, -0.9)
            costs.append(self.weights * (z - np.log(1 + z)))
        cost = min(costs, key=np.sum)
        if not self.fixed:
            self.weights = self.weights + cost / (1 + np.log(learner.rounds_learned / self.centre))


class BarrierSemiBandit(_Barrier):
    def __init__(self, paths):
        super().__init__(paths)
        self.seen = [[0.0] for _ in self.scores]

    def largest(self, learner):
        return learner.edge_bound

    def learn(self, learner, chosen, law, feedback):
        flow, path = self.paths.flows(law), self.paths.context_paths[chosen]
        surprise, across = np.zeros(flow.size), np.zeros(flow.size)
        sources, targets = self.paths.context.source_targets()
        for edge, gain in zip(path, feedback.path_gains, strict=True):
            surprise[edge] = (gain - self.predictions[edge]) / flow[edge]
            depth = self.depths[sources[edge]]
            crossing = (self.depths[sources] <= depth) & (depth < self.depths[targets])
            assert (self.paths.incidence[:, crossing].sum(axis=1) == 1).all()  # a cut
            across[crossing] += gain - self.predictions[edge]
            self.seen[edge].append(gain)
        self.pay(learner, flow, [surprise, surprise - across])
        self.scores += self.predictions + surprise
        self.predictions = np.array([np.mean(gains) for gains in self.seen])


class BarrierBandit(_Barrier):
    def largest(self, learner):
        return learner.path_bound

    def learn(self, learner, chosen, law, feedback):
        flow, path = self.paths.flows(law), self.paths.context_paths[chosen]
        _, targets = self.paths.context.source_targets()
        missed = feedback.gain - self.predictions[path].sum()
        y = np.zeros(flow.size)
        y[path] += 1 / flow[path]
        for state in targets[path[:-1]]:
            y[targets == state] -= 1 / flow[targets == state].sum()
        last = (targets == targets[path[-1]]).astype(float)
        self.pay(learner, flow, [missed * y, missed * (y - last)])
        self.scores += self.predictions + missed * y
        self.predictions[path] += 0.1 * missed / path.size
        self.predictions = np.clip(self.predictions, 0, learner.edge_bound)


def least(paths, costs, weights):
    """The unit flow that minimises costs . f - sum of weights ln f, over the affine hull of all paths."""
    flow = paths.flows(np.full(len(paths), 1 / len(paths)))
    basis = np.linalg.svd(paths.incidence - paths.incidence[0])
    directions = basis[2][: int((basis[1] > 1e-9).sum())].T  # in which flows can move
    for _ in range(500):
        gradient = directions.T @ (costs - weights / flow)
        hessian = (directions.T * (weights / flow**2)) @ directions
        step = directions @ np.linalg.solve(hessian, -gradient) if gradient.size else np.zeros(flow.size)
        decrement = np.sqrt((step**2 * weights / flow**2).sum())
        if decrement < 1e-11 * np.sqrt(weights.max()):
            break
        flow = flow + step / (1 + (decrement / np.sqrt(weights.min()) if decrement > 1e-3 else 0))
        assert (flow > 0).all()
    return flow
