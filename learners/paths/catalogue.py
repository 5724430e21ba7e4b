"""The path learners by name: one place that knows how each is made.

`make_learner` gives the automaton that the algorithm needs: A' for most, padded to equal lengths where
the algorithm asks for it, A itself for EXP3-AG.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from galloon.learners.automata.context import TRANSITION_BUDGET, ContextAutomaton, Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.exp3_paths import NODE_BUDGET, Exp3Paths
from galloon.learners.paths.expanded_hedge import ExpandedHedge
from galloon.learners.paths.path_learner import PathLearner
from galloon.learners.paths.perturbed_leader import PerturbedLeader
from galloon.learners.paths.semi_bandit import SemiBandit

PATH_LEARNERS: Mapping[str, Callable[..., PathLearner]] = {
    learner.name: learner for learner in (ComponentHedge, ExpandedHedge, PerturbedLeader, SemiBandit, ComBand)
}
NAMES = (*PATH_LEARNERS, Exp3Paths.name)
NEED_EQUAL_LENGTHS = (ComponentHedge.name, PerturbedLeader.name)
OPTIONS: Mapping[str, Mapping[str, type]] = {SemiBandit.name: {"bias": str, "confidence": float}}


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
    allowed = OPTIONS.get(name, {})
    for option, value in making.options.items():
        if option not in allowed:
            known = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise InvalidInput(f"{name} has no option {option!r}; {known}", field="options")
        if isinstance(value, str) != (allowed[option] is str):
            wanted = "a word" if allowed[option] is str else "a number"
            raise InvalidInput(f"{option} must be {wanted}, not {value!r}", field="options")
    shared: dict[str, Any] = {
        "horizon": making.horizon,
        "learning_rate": making.learning_rate,
        "seed": making.seed,
    }
    if name == Exp3Paths.name:
        return Exp3Paths(expert, making.path_bound, node_budget=making.node_budget, **shared)
    if name not in PATH_LEARNERS:
        raise InvalidInput(f"{name!r} is not one of {', '.join(NAMES)}", field="algorithm")
    context = fitting_context(name, expert, reach, making.transition_budget)
    return PATH_LEARNERS[name](context, making.edge_bound, **shared, **making.options)


def fitting_context(
    name: str, expert: ExpertAutomaton, reach: Reach, budget: int = TRANSITION_BUDGET
) -> ContextAutomaton:
    """The A' that the learner of this name works on."""
    context = context_automaton(expert, reach, budget)
    if name in NEED_EQUAL_LENGTHS and isinstance(context, GraphContext):
        return context.padded()
    return context
