"""Unbiased estimates of the gains of all transitions from the gain of one drawn path (docs/algorithms.md, "CDCB").

For the path of a Markov walk with the flows f the estimate is its gain times

    y(e) = [e on the path] / f(e) - [e enters an inner state s of the path] / f(s).

`numbers` keeps the flows that it divides by; `coefficients` gives y.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths.protocol import FloatArray, IntArray


def through_inner(context: ContextAutomaton, flows: FloatArray, path: IntArray) -> FloatArray:
    """The flow through each state that the path passes between its ends."""
    if path.size < 2:
        return np.empty(0)
    entering, starts = context.entering(path[:-1])
    return np.add.reduceat(flows[entering], starts)


def numbers(context: ContextAutomaton, flows: FloatArray, path: IntArray) -> FloatArray:
    """The flows to divide by: of the path's transitions, then of its inner states; 2 K - 1 for K transitions."""
    return np.concatenate([flows[path], through_inner(context, flows, path)])


def coefficients(
    context: ContextAutomaton, path: IntArray, divisors: FloatArray
) -> tuple[IntArray, FloatArray]:
    """The transitions where y is not 0, each once, and y there."""
    on_path, through = np.split(divisors, [path.size])
    entering, starts = context.entering(path[:-1])
    group_sizes = np.diff(np.append(starts, entering.size))
    edges = np.append(entering, path[-1:])  # each transition once: the states of a path differ
    y = np.append(np.repeat(-1.0 / through, group_sizes), 0.0)
    y[edges == np.append(np.repeat(path[:-1], group_sizes), path[-1:])] += 1.0 / on_path
    return edges, y
