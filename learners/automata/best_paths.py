"""The k best paths of an A', exactly and one at a time: the best first, each next one when it is asked for.

`best_paths(context, values)` is an iterator over `RankedPath`. Every path leaves the paths before it at some
first transition; the best of each such class is known from the best sums onward, so a heap holds them all and
a path costs its length times the out-degree, and a logarithm.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.best_onward import best_onward
from galloon.learners.paths.protocol import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RankedPath:
    """A path of A' and the sum of the values along it."""

    edges: IntArray
    value: float


@dataclass(frozen=True, slots=True)
class _Prefix:
    """The beginning of a path as a chain of transitions, shared by all that go on from it."""

    edge: int
    before: "_Prefix | None"
    value: float


def best_paths(context: ContextAutomaton, values: FloatArray) -> Iterator[RankedPath]:
    """The paths of A' by the sum of their values, largest first; paths with a value of -inf are left out."""
    if values.shape != (context.transition_count,) or np.isnan(values).any() or np.isposinf(values).any():
        raise InvalidInput(f"best paths need {context.transition_count} values, none of them NaN or +inf")
    sources, targets = context.source_targets()
    onward = np.empty(context.state_count)
    best_onward(values, sources, targets, onward)
    leaving = np.argsort(sources, kind="stable")
    first = np.searchsorted(sources[leaving], np.arange(context.state_count + 1))
    return _ranked(values, targets, onward, leaving.astype(np.int32), first.astype(np.int32))


def _ranked(
    values: FloatArray, targets: IntArray, onward: FloatArray, leaving: IntArray, first: IntArray
) -> Iterator[RankedPath]:
    sink = onward.size - 1
    ticket = count()  # among equals, first come first served: the order is the same every time
    heap: list[tuple[float, int, _Prefix | None, int]] = []

    def offer(prefix: _Prefix | None, state: int) -> None:
        total = (prefix.value if prefix else 0.0) + float(onward[state])
        if total > -np.inf:
            heapq.heappush(heap, (-total, next(ticket), prefix, state))

    offer(None, 0)
    while heap:
        _, _, prefix, state = heapq.heappop(heap)
        while state != sink:
            edges = leaving[first[state] : first[state + 1]]
            totals = values[edges] + onward[targets[edges]]
            best = int(np.argmax(totals))
            so_far = prefix.value if prefix else 0.0
            for i, edge in enumerate(edges.tolist()):
                if i != best:
                    offer(_Prefix(edge, prefix, so_far + float(values[edge])), int(targets[edge]))
            edge = int(edges[best])
            prefix = _Prefix(edge, prefix, so_far + float(values[edge]))
            state = int(targets[edge])
        yield _path(prefix)


def _path(prefix: _Prefix | None) -> RankedPath:
    value = prefix.value if prefix else 0.0
    edges: list[int] = []
    while prefix:
        edges.append(prefix.edge)
        prefix = prefix.before
    return RankedPath(np.array(edges[::-1], dtype=np.int32), value)
