"""States that fit a learner by name and checksum, but not by content, never get in."""

import numpy as np
import pytest

from galloon.learners import state
from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import BoundExceeded, DamagedState
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.expanded_hedge import ExpandedHedge
from galloon.learners.paths.protocol import FullFeedback
from tests.learners.paths.subjects import BOUND, play

CONTEXT = context_automaton(Ensemble(2, 4), Reach(2, 2))


def repacked(learner, *, meta=None, arrays=None):
    found = state.unpack(learner.to_bytes(), learner.name, 1)
    return state.pack(learner.name, 1, {**found.meta, **(meta or {})}, {**found.arrays, **(arrays or {})})


@pytest.mark.parametrize("make", [ExpandedHedge, ComponentHedge], ids=lambda make: make.name)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"arrays": {"scores": np.zeros(3)}}, "not float64"),
        ({"arrays": {"scores": np.zeros((12, 1))}}, "not float64"),
        ({"arrays": {"scores": np.zeros(12, dtype=np.int64)}}, "not float64"),
        ({"arrays": {"scores": np.full(12, np.nan)}}, "not finite"),
        ({"arrays": {"extra": np.zeros(1)}}, "holds"),
        ({"meta": {"rounds_learned": -1}}, "not a count"),
        ({"meta": {"rounds_learned": "many"}}, "not a count"),
        ({"meta": {"rounds_learned": None}}, "not a count"),
        ({"meta": {"signature": None}}, "built otherwise"),
    ],
    ids=str,
)
def test_a_forged_state_is_refused_and_changes_nothing(make, change, why):
    learner = make(CONTEXT, BOUND)
    play(learner, 3, np.random.default_rng(0))
    before = learner.digest()
    with pytest.raises(DamagedState, match=why):
        learner.restore(repacked(learner, **change))
    assert learner.digest() == before


@pytest.mark.parametrize(
    "other",
    [
        lambda: ExpandedHedge(context_automaton(Ensemble(3, 4), Reach(2, 2)), BOUND),
        lambda: ExpandedHedge(CONTEXT, BOUND / 2),
        lambda: ExpandedHedge(CONTEXT, BOUND, horizon=10),
        lambda: ExpandedHedge(CONTEXT, BOUND, learning_rate=0.1),
        lambda: ExpandedHedge(CONTEXT, BOUND, seed=1),
    ],
    ids=["automaton", "bound", "horizon", "rate", "seed"],
)
def test_a_state_of_a_learner_built_otherwise_is_refused(other):
    with pytest.raises(DamagedState, match="built otherwise"):
        ExpandedHedge(CONTEXT, BOUND).restore(other().to_bytes())


def test_a_gain_may_pass_its_bound_by_the_rounding_of_a_sum():
    learner = ExpandedHedge(CONTEXT, BOUND)
    memory = learner.choose(0).memory
    learner.learn(memory, FullFeedback(np.full(12, BOUND * (1 + 1e-12))))
    with pytest.raises(BoundExceeded, match=r"0\.70001, outside of 0 to 0\.7: build .* larger gain bound"):
        learner.learn(memory, FullFeedback(np.full(12, BOUND + 1e-5)))


def test_the_caller_s_arrays_are_neither_kept_nor_changed():
    learner = ExpandedHedge(CONTEXT, BOUND)
    gains = np.full(12, 0.5)
    learner.learn(learner.choose(0).memory, FullFeedback(gains))
    assert gains.tolist() == [0.5] * 12
    before = learner.digest()
    gains[:] = 9.0
    assert learner.digest() == before
