"""From a spec to a combiner: the one table of what hosts what."""

from galloon.learners.automata.context import TRANSITION_BUDGET
from galloon.learners.automaton_combiner import AutomatonCombiner
from galloon.learners.combiner import Combiner
from galloon.learners.exp3_paths import NODE_BUDGET
from galloon.learners.spec import CombinerSpec
from galloon.learners.text_combiner import TextCombiner
from galloon.learners.window_combiner import WindowCombiner


def build(
    spec: CombinerSpec, transition_budget: int = TRANSITION_BUDGET, node_budget: int = NODE_BUDGET
) -> Combiner:
    """The combiner that this spec describes. Budgets are checked by arithmetic before anything is built."""
    if spec.automaton:
        return AutomatonCombiner(spec, transition_budget, node_budget)
    if spec.algorithm == "tied":
        return TextCombiner(spec)
    return WindowCombiner(spec, transition_budget, node_budget)
