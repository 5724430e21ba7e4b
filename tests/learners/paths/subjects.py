"""The learners under test, all built and fed in one way, each with its slow reference by enumeration.

`KINDS` names every learner with its options; `Subject(kind, expert, reach)` builds it; `CASES` are random
automata of both sorts, each with a reach that fits.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.paths.barrier_learner import BarrierLearner
from galloon.learners.paths.catalogue import CATALOGUE, NAMES
from galloon.learners.paths.centre_flow import centre_flow
from galloon.learners.paths.fixed_share import FixedShare
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, SemiBanditFeedback, Setting
from tests.learners.automata.strategies import ensembles, explicit_automata, reaches
from tests.reference.barrier import BarrierBandit as SlowBarrierBandit
from tests.reference.barrier import BarrierSemiBandit as SlowBarrierSemiBandit
from tests.reference.com_band_pinv import ComBand as SlowComBand
from tests.reference.component_hedge import ComponentHedge as SlowComponentHedge
from tests.reference.enumeration import Enumeration
from tests.reference.exp3 import Exp3 as SlowExp3
from tests.reference.expanded_hedge import ExpandedHedge as SlowExpandedHedge
from tests.reference.fixed_share import FixedShare as SlowFixedShare
from tests.reference.measured_gap import GapComponentHedge, GapExpandedHedge
from tests.reference.mirror_semi_bandit import MirrorSemiBandit as SlowMirrorSemiBandit
from tests.reference.semi_bandit import SemiBandit as SlowSemiBandit

BOUND = 0.7  # of a transition's gain, and of a path's for EXP3-AG: not 1, where a forgotten factor would hide
# Every path learner of the catalogue, with options where it is to be tried in several ways.
VARIANTS = {
    "expanded_hedge": [{}, {"tuning": "paper"}],
    "component_hedge": [{}, {"tuning": "paper"}, {"start": "centre"}],
    "com_band": [{}, {"exploration": "centre"}],
    "exp3_paths": [{}, {"exploration": "implicit"}],
    "perturbed_leader": [{"draws": 400}],
    "semi_bandit": [{"bias": "everywhere"}, {"bias": "none"}, {"bias": "implicit"}],
}
KINDS = {
    "-".join([name, *(str(value) for value in options.values() if len(VARIANTS[name]) > 1)]): partial(
        CATALOGUE[name].learner_class(), **options
    )
    for name in NAMES
    for options in VARIANTS.get(name, [{}])
}
SLOW = {
    "expanded_hedge": GapExpandedHedge,
    "component_hedge": GapComponentHedge,
    "expanded_hedge-paper": SlowExpandedHedge,
    "component_hedge-paper": SlowComponentHedge,
    "com_band": SlowComBand,
    "exp3_paths": SlowExp3,
    "exp3_paths-implicit": SlowExp3,
    "fixed_share": SlowFixedShare,
    "mirror_semi_bandit": SlowMirrorSemiBandit,
    "barrier_semi_bandit": SlowBarrierSemiBandit,
    "barrier_bandit": SlowBarrierBandit,
}
CASES = st.tuples(st.one_of(ensembles(), explicit_automata()), reaches(3)).filter(
    lambda case: not isinstance(case[0], Ensemble) or case[1].shortest <= case[0].slots
)


@dataclass(frozen=True)
class Subject:
    """A learner to be, on one automaton. `rate` are the arguments that say how fast it learns."""

    kind: str
    expert: Any
    reach: Any
    rate: tuple[tuple[str, float], ...] = ()

    def build(self, seed=0):
        make = KINDS[self.kind]
        on = self.expert if self.capabilities.on_expert else self.context
        return make(on, BOUND, seed=seed, **dict(self.rate))

    @property
    def capabilities(self):
        return CATALOGUE[self.kind.partition("-")[0]]

    @property
    def order_matters(self):
        """Whether it tunes itself by what it measures, or forgets: then the order of lessons is state."""
        learner = self.build()
        return isinstance(learner, BarrierLearner | FixedShare) or getattr(learner, "gap", None) is not None

    @cached_property
    def context(self):
        """The automaton whose transitions the learner speaks of."""
        if self.capabilities.on_expert:
            return self.build().graph
        context = context_automaton(self.expert, self.reach)
        if isinstance(context, GraphContext) and self.capabilities.equal_lengths:
            return context.padded()
        return context

    @cached_property
    def paths(self):
        return Enumeration(self.context)

    def reference(self, learner):
        if learner.name == "semi_bandit":
            listed = [learner.covering.path(i) for i in range(learner.covering.count)]
            return SlowSemiBandit(self.paths, listed)
        if self.kind.endswith("-centre"):  # the centre itself is checked in `test_centre_flow`
            return SLOW[self.kind.removesuffix("-centre")](self.paths, start=centre_flow(self.context))
        return SLOW[self.kind](self.paths)

    def law(self, learner):
        """The probability of every path, as the learner says."""
        return np.exp([learner.log_probability(path) for path in self.paths.paths])


def feedback_on(learner, memory, rng):
    """Random gains of the kind that this learner takes, some at the ends of their range."""
    match learner.setting:
        case Setting.FULL:
            return FullFeedback(_gains(rng, learner.context.transition_count))
        case Setting.SEMI_BANDIT:
            return SemiBanditFeedback(_gains(rng, memory.edges.size))
        case _:
            return BanditFeedback(float(_gains(rng, 1)[0]) / BOUND * learner.path_bound)


def play(learner, rounds, rng, first_round=0):
    """Choose and learn, round after round."""
    for number in range(first_round, first_round + rounds):
        memory = learner.choose(number).memory
        learner.learn(memory, feedback_on(learner, memory, rng))


def _gains(rng, count):
    gains = rng.random(count)
    return BOUND * np.where(rng.random(count) < 0.3, np.round(gains), gains)
