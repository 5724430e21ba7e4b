"""A' built directly, whatever the kind of A: the construction that learners use."""

from galloon.learners.automata.context import TRANSITION_BUDGET, ContextAutomaton, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble, ExpertAutomaton
from galloon.learners.automata.graph_context import EXPLICIT_TRANSITION_BUDGET, GraphContext


def context_automaton(
    expert: ExpertAutomaton, reach: Reach, budget: int = TRANSITION_BUDGET
) -> ContextAutomaton:
    """The context-dependent automaton of A for a gain that looks back as far as `reach` says."""
    if isinstance(expert, Ensemble):
        return EnsembleContext(expert, reach, budget)
    return GraphContext(expert, reach, min(budget, EXPLICIT_TRANSITION_BUDGET))
