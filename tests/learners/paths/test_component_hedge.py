"""Component Hedge holds its acceptance, round after round: whatever the gains, whatever the rate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.flow_projection import ABSOLUTE_GOAL, FLOW_FLOOR, RELATIVE_GOAL
from galloon.learners.paths.protocol import FullFeedback
from tests.learners.automata.strategies import explicit_automata, reaches

ROUNDS = 120


def assert_accepted(learner):
    """In and out of every state agree: absolutely, and relatively where there is any flow to speak of."""
    assert learner.work.converged
    sources, targets = learner.context.source_targets()
    into, out = (np.bincount(ends, learner.flow, learner.context.state_count) for ends in (targets, sources))
    into[0], out[-1] = 1.0, 1.0
    assert np.abs(into - out).max() <= ABSOLUTE_GOAL
    seen = np.maximum(into, out) >= FLOW_FLOOR
    assert np.abs(np.log(into[seen] / out[seen])).max() <= RELATIVE_GOAL


def planted(learner, rng, plants, number):
    """Noise, and one path that always gains most."""
    del number
    gains = rng.random(learner.context.transition_count) / 2
    gains[plants[0]] += 0.5
    return gains


def coins(learner, rng, plants, number):
    """Nothing or all: no path stands out, and the weights drift furthest apart."""
    del plants, number
    return rng.integers(0, 2, learner.context.transition_count).astype(float)


def against(learner, rng, plants, number):
    """The transitions that the learner likes least gain."""
    del rng, plants, number
    sources, _ = learner.context.source_targets()
    share = learner.flow / np.bincount(sources, learner.flow)[sources]
    return (share <= np.median(share)).astype(float)


def switching(learner, rng, plants, number):
    """One path gains all, and after half the time another."""
    del rng
    gains = np.zeros(learner.context.transition_count)
    gains[plants[number >= ROUNDS // 2]] = 1.0
    return gains


@pytest.mark.parametrize("gains", [planted, coins, against, switching], ids=lambda gains: gains.__name__)
@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("sizes", [(4, 4, 20), (2, 3, 30)], ids=str)
def test_every_projection_is_accepted(sizes, rate, gains):
    experts, length, slots = sizes
    context = context_automaton(Ensemble(experts, slots), Reach(length, length))
    learner = ComponentHedge(context, 1.0, learning_rate=rate)
    rng = np.random.default_rng(0)
    plants = [
        context.context_path((np.arange(slots) * experts + rng.integers(0, experts, slots)).astype(np.int32))
        for _ in range(2)
    ]
    for number in range(ROUNDS):
        learner.learn(learner.choose(number).memory, FullFeedback(gains(learner, rng, plants, number)))
        assert_accepted(learner)
    if gains is planted:
        assert learner.choose_best().path.tolist() == context.expert_path(plants[0]).tolist()


@settings(deadline=None, max_examples=60)
@given(explicit_automata(), reaches(3), st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 10.0, 1000.0]))
def test_explicit_automata_are_accepted_after_padding(expert, reach, seed, rate):
    context = context_automaton(expert, reach).padded()
    learner = ComponentHedge(context, 1.0, learning_rate=rate)
    rng = np.random.default_rng(seed)
    for number in range(10):
        gains = rng.random(context.transition_count)
        learner.learn(learner.choose(number).memory, FullFeedback(np.round(gains) if seed % 2 else gains))
        assert_accepted(learner)


def test_paths_of_unequal_length_are_refused():
    ends = [np.array(ends, dtype=np.int32) for ends in ([0, 0, 1], [1, 2, 2])]
    context = context_automaton(ExplicitAutomaton(3, 0, (2,), *ends, ("a", "b", "c")), Reach(1, 1))
    with pytest.raises(InvalidInput, match="padded"):
        ComponentHedge(context, 1.0)
    ComponentHedge(context.padded(), 1.0)


def test_the_divergence_is_that_of_the_farthest_path():
    """The theorem's constant: the relative entropy of a path to the first flow, n ln r for n-grams."""
    for experts, length, slots in ((2, 1, 5), (3, 2, 6), (2, 3, 7)):
        context = context_automaton(Ensemble(experts, slots), Reach(length, length))
        k = slots - length + 1
        expected = k * length * np.log(experts)
        assert ComponentHedge(context, 1.0).divergence == pytest.approx(expected)


def test_a_lazy_step_from_the_first_flow_has_no_memory_of_the_way():
    """After gains that cancel out the flow is the first one again, however far it went."""
    context = context_automaton(Ensemble(3, 8), Reach(2, 2))
    learner = ComponentHedge(context, 1.0, learning_rate=2.0)
    start = learner.flow.copy()
    rng = np.random.default_rng(0)
    gains = rng.random((30, context.transition_count))
    for number, gain in enumerate([*gains, *(1 - gains)]):
        learner.learn(learner.choose(number).memory, FullFeedback(gain))
    np.testing.assert_allclose(learner.flow, start, rtol=0, atol=1e-8)
