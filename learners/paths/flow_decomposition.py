"""A unit flow as a mixture of paths: the paper's way to draw a path from Component Hedge's flow.

`decompose` takes path after path off the flow, each with the SMALLEST weight on it: the paper's pseudo-code
says the largest, which would leave negative flows (docs/algorithms.md, erratum 3). At most M paths come out,
and a path drawn from the mixture has the flow as its marginals, as the Markov walk of
`ContextAutomaton.sample` has, which needs no decomposition and is what `ComponentHedge` uses.
"""

from dataclasses import dataclass

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import decomposition
from galloon.learners.paths.protocol import FloatArray, IntArray

BALANCE = 1e-6  # in may differ from out by this: far more is no flow, and less is a projection's tolerance


@dataclass(frozen=True, slots=True)
class PathMixture:
    """Paths of A' and the probability of each; the probabilities sum to one."""

    paths: tuple[IntArray, ...]
    weights: FloatArray

    def sample(self, uniform: float) -> IntArray:
        """The path that a number from [0, 1) falls on."""
        number = int(np.searchsorted(np.cumsum(self.weights), uniform, side="right"))
        return self.paths[min(number, len(self.paths) - 1)]

    def marginals(self, transition_count: int) -> FloatArray:
        """The probability that a drawn path uses each transition."""
        flow = np.zeros(transition_count)
        for path, weight in zip(self.paths, self.weights, strict=True):
            flow[path] += weight
        return flow


def decompose(context: ContextAutomaton, flow: FloatArray) -> PathMixture:
    """The unit flow on A' as a convex combination of at most `transition_count` paths."""
    sources, targets = context.source_targets()
    _check_flow(flow, sources, targets, context.state_count)
    order = np.argsort(sources, kind="stable")
    first = np.searchsorted(sources[order], np.arange(context.state_count + 1))
    rest = flow.astype(np.float64)  # a copy
    room = np.empty(context.longest_path, dtype=np.int32)
    paths, weights = [], []
    while True:
        length, weight = decomposition.peel(rest, order, first, targets, room)
        if length == 0:
            break
        if weight > 0:
            paths.append(room[:length].copy())
            weights.append(weight)
    return PathMixture(tuple(paths), np.array(weights) / sum(weights))


def _check_flow(flow: FloatArray, sources: IntArray, targets: IntArray, states: int) -> None:
    if flow.shape != sources.shape or not np.all(np.isfinite(flow)) or flow.min(initial=0.0) < 0:
        raise InvalidInput(f"a flow has a number of at least 0 for each of the {sources.size} transitions")
    net = np.bincount(targets, flow, states) - np.bincount(sources, flow, states)
    net[0] += 1.0
    net[-1] -= 1.0
    worst = int(np.argmax(np.abs(net)))
    if abs(net[worst]) > BALANCE:
        raise InvalidInput(
            f"this is no unit flow: in minus out of state {worst} is off by {net[worst]:.3g}; project it first"
        )
