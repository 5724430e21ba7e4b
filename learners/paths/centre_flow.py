"""The centre of the unit flows on A': the flow with the largest sum of logarithms (docs/algorithms.md).

Every path has the same sum of 1 / flow on it, and that sum is M, the number of transitions: no transition is
rarer than a path through it can afford. On an ensemble it is the flow of the even law over paths. On an explicit
automaton the even law starves transitions that few paths use; there `kernels.barrier` finds the centre.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.barrier_flow import BarrierFlow
from galloon.learners.paths.protocol import FloatArray

STARTS = ("even", "centre")


def even_flow(context: ContextAutomaton) -> FloatArray:
    """The flow of a path drawn evenly from all."""
    return context.push(np.zeros(context.transition_count)).flows


def starting_flow(context: ContextAutomaton, start: str) -> FloatArray:
    """The flow by its name."""
    if start not in STARTS:
        raise InvalidInput(f"{start!r} is not one of {', '.join(STARTS)}", field="options")
    return centre_flow(context) if start == "centre" else even_flow(context)


def centre_flow(context: ContextAutomaton) -> FloatArray:
    """The centre, walked once more, so that in and out agree to the last bits."""
    if not isinstance(context, GraphContext):
        return even_flow(context)
    solver, count = BarrierFlow(context), context.transition_count
    flow = solver.solve(np.zeros(count), np.ones(count), np.zeros(context.state_count))
    return solver.walked(flow)
