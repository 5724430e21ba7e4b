"""A different automaton in each round, such as a lattice: weights are tied by features of transitions.

A transition has the sum of the weights of its features (which engine, how sure it was, ...) as its score, a
path the sum of its transitions', and p(path) is proportional to e**score. The loss of a round is convex in the
weights and at least what the drawn path is expected to miss of the best one (softmax margin, Gimpel and Smith
2010):

    loss(theta) = ln sum over paths of e**(score + missed) - score of the best path,   missed = its gain - g(path).

Its gradient is one push. The weights follow the regularised leader on these losses (docs/algorithms.md has the
bound).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import graph
from galloon.learners.paths.protocol import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class FeatureLattice:
    """An acyclic automaton with features: states in topological order, initial 0, the one final state the last."""

    first: NDArray[np.int64]  # transitions that leave state s are first[s]:first[s + 1]
    targets: IntArray
    features: IntArray  # [transitions, features of each]

    def __post_init__(self) -> None:
        sources = self.sources
        if self.targets.size == 0 or not (self.targets > sources).all():
            raise InvalidInput("states of a lattice must be numbered so that transitions lead upwards")
        if self.features.shape[:1] != self.targets.shape:
            raise InvalidInput("each transition needs its features")

    @property
    def sources(self) -> IntArray:
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first)).astype(np.int32)

    def scores(self, weights: FloatArray) -> FloatArray:
        """The sum of the weights of each transition's features."""
        scores: FloatArray = weights[self.features].sum(axis=1)
        return scores

    def best_path(self, values: FloatArray) -> tuple[IntArray, float]:
        path, value = graph.best_path(values, self.first, self.targets)
        return path, float(value)

    def push(self, log_weights: FloatArray) -> tuple[FloatArray, float]:
        """Flows of the law, and the log of its total weight."""
        distances, flows = np.empty(self.first.size - 1), np.empty(self.targets.size)
        graph.distances(log_weights, self.first, self.targets, distances)
        graph.flows(log_weights, distances, self.first, self.targets, flows)
        return flows, float(distances[0])


class FeatureLearner:
    """Weights of features, learned from the gains of all transitions of each round's own automaton."""

    def __init__(self, feature_count: int) -> None:
        self._gradients: FloatArray = np.zeros(feature_count)  # added up
        self._squares = 0.0  # of their lengths
        self._paid = 0.0  # half the sum of rate times squared length
        self.lost = 0.0  # the losses, added up: what the drawn paths missed is at most this

    @property
    def rate(self) -> float:
        return 1.0 / math.sqrt(1.0 + self._squares)

    @property
    def weights(self) -> FloatArray:
        return -self.rate * self._gradients

    def flows(self, lattice: FeatureLattice) -> FloatArray:
        """How probable each transition is: paths are drawn by the walk on these."""
        return lattice.push(lattice.scores(self.weights))[0]

    def learn(self, lattice: FeatureLattice, gains: FloatArray) -> float:
        """One round's gains; returns what the drawn path was expected to miss of the best one."""
        weights, (best, most) = self.weights, lattice.best_path(gains)
        missed = most - float(self.flows(lattice) @ gains)
        loss, gradient = margin_loss(lattice, gains, weights, best, most)
        square = float(gradient @ gradient)
        self._paid += self.rate * square / 2
        self.lost += loss
        self._gradients = self._gradients + gradient
        self._squares += square
        return missed

    def bound(self, others_loss: float, other: FloatArray) -> float:
        """On what was missed in all rounds, by weights that would have had this loss in all of them."""
        return others_loss + float(other @ other) / (2 * self.rate) + self._paid


def margin_loss(
    lattice: FeatureLattice, gains: FloatArray, weights: FloatArray, best: IntArray, most: float
) -> tuple[float, FloatArray]:
    """The loss of one round and its gradient; `best` is the path of most gain."""
    scores = lattice.scores(weights)
    flows, log_total = lattice.push(scores - gains)
    flows[best] -= 1.0
    gradient = np.zeros(weights.size)
    np.add.at(gradient, lattice.features, flows[:, None])
    return log_total + most - float(scores[best].sum()), gradient
