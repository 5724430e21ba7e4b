"""A path learner of the catalogue on an expert automaton: `make_learner`.

It gives the automaton that the algorithm needs: A' for most, padded to equal lengths where the algorithm asks for
it, A itself for EXP3-AG.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from galloon.learners.automata.context import TRANSITION_BUDGET, ContextAutomaton, Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.catalogue import CATALOGUE, NAMES
from galloon.learners.paths.exp3_paths import NODE_BUDGET, Exp3Paths
from galloon.learners.paths.path_learner import PathLearner


@dataclass(frozen=True, slots=True)
class Making:
    """What all learners are made with, and the options of one."""

    edge_bound: float
    path_bound: float
    horizon: int = 0
    learning_rate: float = 0.0
    seed: int = 0
    transition_budget: int = TRANSITION_BUDGET
    node_budget: int = NODE_BUDGET
    options: Mapping[str, Any] = field(default_factory=dict)


def make_learner(name: str, expert: ExpertAutomaton, reach: Reach, making: Making) -> PathLearner | Exp3Paths:
    """The learner of this name on this expert automaton, for a gain that looks back as far as `reach`."""
    if name not in NAMES:
        raise InvalidInput(f"{name!r} is not one of {', '.join(NAMES)}", field="algorithm")
    capabilities = CATALOGUE[name]
    capabilities.check_options(making.options)
    shared: dict[str, Any] = {
        "horizon": making.horizon,
        "learning_rate": making.learning_rate,
        "seed": making.seed,
        **making.options,
    }
    if capabilities.on_expert:
        made = capabilities.learner_class()(
            expert, making.path_bound, node_budget=making.node_budget, **shared
        )
    else:
        context = fitting_context(name, expert, reach, making.transition_budget)
        made = capabilities.learner_class()(context, making.edge_bound, **shared)
    learner: PathLearner | Exp3Paths = made
    return learner


def fitting_context(
    name: str, expert: ExpertAutomaton, reach: Reach, budget: int = TRANSITION_BUDGET
) -> ContextAutomaton:
    """The A' that the learner of this name works on."""
    context = context_automaton(expert, reach, budget)
    if CATALOGUE[name].equal_lengths and isinstance(context, GraphContext):
        return context.padded()
    return context
