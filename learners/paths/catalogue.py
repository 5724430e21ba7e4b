"""The learners by name: what each is called, what it learns from, and what it can do.

Nothing of a learner is imported before it is made (`paths.build.make_learner`, `combiners.build`), so that a
client can look names up here. A new path learner is its module and one entry here: the spec, the command line,
the shared checks of the tests and the plots find it by its entry. Its promise on regret is its own (`promise`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from galloon.learners.errors import InvalidInput
from galloon.learners.paths.protocol import Setting


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What callers may know of a learner without importing its class."""

    name: str
    title: str  # for people; the paper's, where it has one
    place: str  # module and class
    setting: Setting  # what it learns from, unless the spec says otherwise
    settings: tuple[Setting, ...] = ()  # all that it can learn from; empty: its own alone
    windows: bool = True  # plays windows of so many slots; else utterances of any length
    marginals: bool = True  # says at little cost how probable each transition is
    equal_lengths: bool = False  # needs paths of equal length
    on_expert: bool = False  # plays on A itself, and so learns from gains that only value whole paths
    options: Mapping[str, type] = field(default_factory=lambda: MappingProxyType({}))

    def learner_class(self) -> Any:
        """Its class; imports what it needs, compiled code too."""
        module, name = self.place.split(":")
        return getattr(import_module(module), name)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that it does not have, and values of the wrong type."""
        for option, value in options.items():
            if option not in self.options:
                known = f"it takes {', '.join(self.options) or 'none'}"
                raise InvalidInput(f"{self.name} has no option {option!r}; {known}", field="options")
            if isinstance(value, str) != (self.options[option] is str):
                wanted = "a word" if self.options[option] is str else "a number"
                raise InvalidInput(f"{option} must be {wanted}, not {value!r}", field="options")


_PATHS = "galloon.learners.paths"
CATALOGUE: Mapping[str, Capabilities] = {
    learner.name: learner
    for learner in (
        Capabilities(
            "tied",
            "Tied learner",
            "galloon.learners.tied.learner:TiedLearner",
            Setting.FULL,
            settings=tuple(Setting),
            windows=False,
        ),
        Capabilities(
            "component_hedge",
            "CDCH",
            f"{_PATHS}.component_hedge:ComponentHedge",
            Setting.FULL,
            equal_lengths=True,
            options=MappingProxyType({"tuning": str, "start": str}),
        ),
        Capabilities(
            "expanded_hedge",
            "Expanded Hedge",
            f"{_PATHS}.expanded_hedge:ExpandedHedge",
            Setting.FULL,
            options=MappingProxyType({"tuning": str}),
        ),
        Capabilities(
            "fixed_share",
            "Fixed share",
            f"{_PATHS}.fixed_share:FixedShare",
            Setting.FULL,
            options=MappingProxyType({"changes": float}),
        ),
        Capabilities(
            "perturbed_leader",
            "Perturbed leader",
            f"{_PATHS}.perturbed_leader:PerturbedLeader",
            Setting.FULL,
            marginals=False,
            equal_lengths=True,
        ),
        Capabilities(
            "semi_bandit",
            "CDSB",
            f"{_PATHS}.semi_bandit:SemiBandit",
            Setting.SEMI_BANDIT,
            options=MappingProxyType({"bias": str, "confidence": float}),
        ),
        Capabilities(
            "com_band",
            "CDCB",
            f"{_PATHS}.com_band:ComBand",
            Setting.BANDIT,
            options=MappingProxyType({"exploration": str}),
        ),
        Capabilities(
            "mirror_semi_bandit",
            "Mirror descent, semi-bandit",
            f"{_PATHS}.mirror_semi_bandit:MirrorSemiBandit",
            Setting.SEMI_BANDIT,
            equal_lengths=True,
        ),
        Capabilities(
            "barrier_semi_bandit",
            "Barrier semi-bandit",
            f"{_PATHS}.barrier_semi_bandit:BarrierSemiBandit",
            Setting.SEMI_BANDIT,
        ),
        Capabilities(
            "barrier_bandit",
            "Barrier bandit",
            f"{_PATHS}.barrier_bandit:BarrierBandit",
            Setting.BANDIT,
        ),
        Capabilities(
            "exp3_paths",
            "EXP3-AG",
            f"{_PATHS}.exp3_paths:Exp3Paths",
            Setting.BANDIT,
            marginals=False,
            on_expert=True,
            options=MappingProxyType({"exploration": str}),
        ),
    )
}
NAMES = tuple(name for name, learner in CATALOGUE.items() if learner.windows)  # of the path learners
