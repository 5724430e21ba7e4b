"""Hedge over all paths, of any length, of an automaton with cycles; a push is one sparse linear system.

The prior is a walk: at a final state it stops with probability `stop`, else all ways on are equally likely. The
law is p(path) proportional to prior(path) e**(-eta * loss so far). Losses are not negative, so every weight is at
most that of the prior, and the sum over infinitely many paths is finite whatever is dealt.

Letters: w weight of a transition; z(s) sum over all ways from state s to the end, z = W z + stop; h(s) the
cheapest of these ways, taken off before solving so that no number is too small.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from galloon.learners.automata.expert import Graph
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.protocol import FloatArray, IntArray

FIRST_RATE = 16.0  # before anything was measured
STEPS_AT_ONCE = 64  # of a walk, for which random numbers are drawn together


@dataclass(frozen=True, slots=True)
class Walk:
    """The law as a walk: what each way on and stopping have as their probabilities."""

    onward: FloatArray  # of each transition, given its source
    stopping: FloatArray  # of each state
    log_total: float  # the log of the sum over all paths of prior e**(-eta * loss)


class StoppingHedge:
    """Full information on a graph with cycles; the rate is by the measured gap."""

    def __init__(self, graph: Graph, stop: float = 0.25, seed: int = 0) -> None:
        if not 0 < stop < 1:
            raise InvalidInput(f"the probability to stop must lie between 0 and 1, got {stop}")
        self.graph, self.seed = graph, seed
        ways = np.bincount(graph.sources, minlength=graph.state_count)
        final = np.isin(np.arange(graph.state_count), graph.finals)
        if not (final | (ways > 0)).all():
            raise InvalidInput("a state has no way on and is not final", advice="remove it")
        self._stopping = np.where(final, np.where(ways > 0, stop, 1.0), 0.0)
        self._log_prior = np.log((1 - self._stopping)[graph.sources] / ways[graph.sources])
        self.losses: FloatArray = np.zeros(graph.edge_count)
        _cheapest(graph, self._log_prior, self._log_ends())  # refuses states that reach no end
        self._complexity = self._entropy()
        self._gaps = 0.0
        self.walk = self._push(self.losses)

    @property
    def rate(self) -> float:
        """How many paths matter, over what was lost to not knowing which: it never rises."""
        return self._complexity / (self._complexity / FIRST_RATE + self._gaps)

    def draw(self, round_number: int) -> IntArray:
        """A path, of any length."""
        path: list[int] = []
        state, numbers = self.graph.initial, np.empty(0)
        while True:
            if len(path) % STEPS_AT_ONCE == 0:
                numbers = uniforms(self.seed, round_number, len(path) + STEPS_AT_ONCE)
            left = numbers[len(path)] - self.walk.stopping[state]
            if left < 0:
                break
            for edge in self.graph.outgoing[state]:
                left -= self.walk.onward[edge]
                if left < 0:
                    break
            path.append(edge)  # rounding may leave a rest: then the last way on is taken
            state = int(self.graph.targets[edge])
        return np.array(path, dtype=np.int32)

    def visits(self) -> FloatArray:
        """How often a path takes each transition, in expectation: another solve."""
        through = _solve(self._matrix(self.walk.onward).T, _unit(self.graph.state_count, self.graph.initial))
        return self.walk.onward * through[self.graph.sources]

    def learn(self, losses: FloatArray) -> float:
        """One round's loss of each transition; returns what the law expected to lose."""
        if losses.shape != self.losses.shape or not (np.isfinite(losses).all() and (losses >= 0).all()):
            raise InvalidInput("each transition needs one loss, finite and not negative")
        expected = float(self.visits() @ losses)
        after = self._push(self.losses + losses)
        self._gaps += max(expected + (after.log_total - self.walk.log_total) / self.rate, 0.0)
        self.losses = self.losses + losses
        self.walk = self._push(self.losses)  # at the new rate
        return expected

    def bound(self, path: IntArray) -> float:
        """On the regret to this path: ln 1/prior over the rate, and the gaps."""
        last = int(self.graph.targets[path[-1]]) if path.size else self.graph.initial
        log_prior = float(self._log_prior[path].sum() + np.log(self._stopping[last]))
        return -log_prior / self.rate + self._gaps

    def _push(self, losses: FloatArray) -> Walk:
        graph = self.graph
        weights = self._log_prior - self.rate * losses
        ends = self._log_ends()
        h = _cheapest(graph, weights, ends)
        matrix = self._matrix(np.exp(weights + h[graph.sources] - h[graph.targets]))
        stops = np.exp(ends + h)
        z = _solve(matrix, stops)
        onward = np.exp(weights + h[graph.sources] - h[graph.targets]) * z[graph.targets] / z[graph.sources]
        return Walk(onward, stops / z, float(np.log(z[graph.initial]) - h[graph.initial]))

    def _log_ends(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            ends: FloatArray = np.log(self._stopping)
        return ends

    def _matrix(self, weights: FloatArray) -> Any:
        """I - W, sparse."""
        sparse = _scipy()
        graph = self.graph
        shape = (graph.state_count, graph.state_count)
        return sparse.identity(graph.state_count, format="csc") - sparse.csc_matrix(
            (weights, (graph.sources, graph.targets)), shape=shape
        )

    def _entropy(self) -> float:
        """Of the prior's paths: what a path costs to name, in expectation."""
        prior = np.exp(self._log_prior)
        through = _solve(self._matrix(prior).T, _unit(self.graph.state_count, self.graph.initial))
        ends = np.where(self._stopping > 0, self._stopping, 1.0)
        return float(
            -(prior * self._log_prior * through[self.graph.sources]).sum()
            - (self._stopping * np.log(ends) * through).sum()
        )


def _cheapest(graph: Graph, weights: FloatArray, ends: FloatArray) -> FloatArray:
    """Of each state the least cost (minus log weight) of a way to the end (Bellman and Ford)."""
    h = -ends
    for _ in range(graph.state_count):
        better = h.copy()
        np.minimum.at(better, graph.sources, h[graph.targets] - weights)
        if (better == h).all():
            break
        h = better
    if not np.isfinite(h).all():
        raise InvalidInput("a state cannot reach a final one", advice="remove it")
    return h


def _unit(size: int, place: int) -> FloatArray:
    unit = np.zeros(size)
    unit[place] = 1.0
    return unit


def _solve(matrix: Any, values: FloatArray) -> FloatArray:
    solved: FloatArray = _scipy().linalg.splu(matrix.tocsc()).solve(values)
    return solved


def _scipy() -> Any:
    """Sparse systems; imported late, because nothing else of the product needs them."""
    try:
        from scipy import sparse  # type: ignore[import-untyped]
        from scipy.sparse import linalg  # type: ignore[import-untyped]  # noqa: F401  # loads `sparse.linalg`
    except ImportError as error:
        raise InvalidInput(
            "automata with cycles need scipy", advice="pip install 'galloon[science]'"
        ) from error
    return sparse
