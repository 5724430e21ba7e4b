"""Covering paths: a set C of paths of A' such that every transition lies on one of them (CDSB explores them).

In an ensemble the paths whose experts repeat with the period of A's memory do: r^span of them, and each
layer's transitions lie on equally many, as in the paper's partition. Elsewhere paths are taken greedily, each
through as many transitions not yet covered as there can be.
"""

from dataclasses import dataclass

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.paths.protocol import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Covering:
    """The covering paths, implicit for an ensemble, and the flow of a path drawn evenly from them."""

    count: int
    flows: FloatArray
    _context: ContextAutomaton
    _listed: tuple[IntArray, ...]

    def path(self, number: int) -> IntArray:
        if self._listed:
            return self._listed[number]
        context = self._context
        assert isinstance(context, EnsembleContext)
        r, span = context.expert.experts, context.reach.span
        period = number // r ** np.arange(span) % r
        slots = np.arange(context.expert.slots)
        return context.context_path((slots * r + period[slots % span]).astype(np.int32))

    def best(self, values: FloatArray) -> IntArray:
        """The covering path with the largest sum of values."""
        if self._listed:
            return max(self._listed, key=lambda path: float(values[path].sum()))
        context = self._context
        assert isinstance(context, EnsembleContext)
        r, span = context.expert.experts, context.reach.span
        period = np.arange(self.count) // r ** np.arange(span)[:, np.newaxis] % r  # [place, path]
        totals = np.zeros(self.count)
        for layer, offset in enumerate(context.offsets[:-1]):
            slots = context.reach.shortest + layer
            width = min(slots, span)
            window = np.arange(slots - width, slots) % span
            totals += values[offset + r ** np.arange(width) @ period[window]]
        return self.path(int(totals.argmax()))

    def share(self, edges: IntArray) -> float:
        """The share of covering paths that are this path: 0 or a little."""
        if self._listed:
            return sum(np.array_equal(edges, path) for path in self._listed) / self.count
        context = self._context
        assert isinstance(context, EnsembleContext)
        r, span = context.expert.experts, context.reach.span
        experts = context.expert_path(edges) % r
        return float(np.array_equal(experts[span:], experts[:-span])) / self.count


def cover(context: ContextAutomaton) -> Covering:
    """Covering paths for this A'."""
    if isinstance(context, EnsembleContext):
        flows = context.push(np.zeros(context.transition_count)).flows
        return Covering(context.expert.experts**context.reach.span, flows, context, ())
    uncovered = np.ones(context.transition_count)
    flows = np.zeros(context.transition_count)
    paths = []
    while uncovered.any():
        path, _ = context.best_path(uncovered)
        uncovered[path] = 0.0
        flows[path] += 1.0
        paths.append(path)
    return Covering(len(paths), flows / len(paths), context, tuple(paths))
