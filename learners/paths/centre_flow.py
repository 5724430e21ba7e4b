"""The centre of the unit flows on A': the flow with the largest sum of logarithms (docs/algorithms.md).

Every path has the same sum of 1 / flow on it, and that sum is M, the number of transitions: no transition is
rarer than a path through it can afford. On an ensemble it is the flow of the even law over paths. On an explicit
automaton the even law starves transitions that few paths use; there `kernels.centre` finds the centre.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import centre
from galloon.learners.paths.protocol import FloatArray

STARTS = ("even", "centre")
GOAL = 1e-9  # |in - out| as a share of a state's flow
MOST_STEPS = 500


def even_flow(context: ContextAutomaton) -> FloatArray:
    """The flow of a path drawn evenly from all."""
    return context.push(np.zeros(context.transition_count)).flows


def starting_flow(context: ContextAutomaton, start: str) -> FloatArray:
    """The flow by its name."""
    if start not in STARTS:
        raise InvalidInput(f"{start!r} is not one of {', '.join(STARTS)}", field="options")
    return centre_flow(context) if start == "centre" else even_flow(context)


def centre_flow(context: ContextAutomaton) -> FloatArray:
    """The centre; the even flow, which is as good as any, should the solver not reach its goal."""
    if not isinstance(context, GraphContext):
        return even_flow(context)
    m, k = context.transition_count, context.longest_path
    flow, potentials = np.empty(m), np.empty(context.state_count)
    centre.start(context.first, context.targets, m / max(k, 1), potentials)
    steps = centre.solve(context.first, context.targets, GOAL, MOST_STEPS, potentials, flow)
    return walked(context, flow) if steps >= 0 else even_flow(context)


def walked(context: GraphContext, flow: FloatArray) -> FloatArray:
    """The flow of the walk that leaves each state in these proportions: in and out agree to the last bits."""
    leaving = np.bincount(context.sources, weights=flow, minlength=context.state_count)
    with np.errstate(divide="ignore"):
        return context.push(np.log(flow / leaving[context.sources])).flows
