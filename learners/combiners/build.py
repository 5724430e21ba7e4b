"""`build` makes the combiner that a spec describes."""

from galloon.learners.automata.context import TRANSITION_BUDGET
from galloon.learners.combiners.automaton import AutomatonCombiner
from galloon.learners.combiners.contract import Combiner
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.text import TextCombiner
from galloon.learners.combiners.window import WindowCombiner
from galloon.learners.paths.catalogue import CATALOGUE
from galloon.learners.paths.exp3_paths import NODE_BUDGET


def build(
    spec: CombinerSpec, transition_budget: int = TRANSITION_BUDGET, node_budget: int = NODE_BUDGET
) -> Combiner:
    """The combiner that this spec describes. Budgets are checked by arithmetic before anything is built."""
    if spec.automaton:
        return AutomatonCombiner(spec, transition_budget, node_budget)
    if CATALOGUE[spec.algorithm].windows:
        return WindowCombiner(spec, transition_budget, node_budget)
    return TextCombiner(spec)
