"""Pushing after a sparse change: the bits of a full push, for the states that can reach the change alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.product_law import ProductLaw
from galloon.learners.paths.semi_bandit import SemiBandit
from tests.learners.automata.strategies import explicit_automata, reaches
from tests.learners.paths.subjects import BOUND, feedback_on
from tests.reference.path_law import can_reach

LEARNERS = {
    "com_band": lambda context: ComBand(context, BOUND, horizon=200),
    "semi_bandit-none": lambda context: SemiBandit(context, BOUND, horizon=200, bias="none"),
    "semi_bandit-implicit": lambda context: SemiBandit(context, BOUND, horizon=200, bias="implicit"),
}


@settings(deadline=None, max_examples=60)
@given(explicit_automata(), reaches(3), st.integers(0, 2**32))
def test_an_incremental_push_is_a_full_push_to_the_bit(expert, reach, seed):
    context = context_automaton(expert, reach)
    rng = np.random.default_rng(seed)
    law = ProductLaw(context)
    scores = rng.normal(size=context.transition_count)
    law.update(0.5, scores, None)
    law.pushed()
    for _ in range(8):
        changes = [
            rng.choice(context.transition_count, rng.integers(0, 3)).astype(np.int32)
            for _ in range(rng.integers(0, 3))
        ]
        for edges in changes:
            scores[edges] += rng.normal(size=edges.size) * 10.0 ** rng.integers(-3, 4)
        law.update(0.5, scores, changes)
        touched = np.concatenate([np.empty(0, dtype=np.int32), *changes])
        assert law.states_visited <= len(can_reach(*context.source_targets(), touched))
        fresh = context.push(0.5 * scores)
        np.testing.assert_array_equal(law.pushed().flows, fresh.flows)
        assert law.pushed().log_total == fresh.log_total


@settings(deadline=None, max_examples=30)
@given(explicit_automata(), reaches(3), st.sampled_from(sorted(LEARNERS)), st.integers(0, 2**32))
def test_bandit_learners_on_explicit_automata_push_incrementally(expert, reach, name, seed):
    context = context_automaton(expert, reach)
    learner = LEARNERS[name](context)
    rng = np.random.default_rng(seed)
    for number in range(10):
        memory = learner.choose(number).memory
        learner.learn(memory, feedback_on(learner, memory, rng))
        incremental = learner._product.pushed()
        full = LEARNERS[name](context)
        full.restore(learner.to_bytes())
        fresh = full._product.pushed()
        np.testing.assert_array_equal(incremental.flows, fresh.flows)
        np.testing.assert_allclose(learner.marginals(), full.marginals(), rtol=0, atol=1e-12)


def comb(teeth):
    """Many branches of two transitions each, side by side: a change in one is none of the others' business."""
    sources = np.array([0] * teeth + list(range(1, teeth + 1)), dtype=np.int32)
    targets = np.array(list(range(1, teeth + 1)) + [teeth + 1] * teeth, dtype=np.int32)
    names = tuple(f"e{i}" for i in range(2 * teeth))
    return ExplicitAutomaton(teeth + 2, 0, (teeth + 1,), sources, targets, names)


def test_only_states_that_can_reach_the_change_are_visited():
    context = context_automaton(comb(100), Reach(1, 1))
    learner = ComBand(context, BOUND, horizon=1000)
    memory = learner.choose(0).memory
    assert learner._product.states_visited == context.state_count
    learner.learn(memory, feedback_on(learner, memory, np.random.default_rng(0)))
    learner.choose(1)
    assert learner._product.states_visited == 2  # the tooth and the root


def test_a_new_rate_moves_every_weight():
    context = context_automaton(comb(10), Reach(1, 1))
    learner = ComBand(context, BOUND)  # self-tuning
    memory = learner.choose(0).memory
    learner.learn(memory, feedback_on(learner, memory, np.random.default_rng(0)))
    learner.choose(1)
    assert learner.rate.at(1) < learner.rate.at(0)
    fresh = context.push(learner.learning_rate * learner.scores)
    np.testing.assert_array_equal(learner._product.pushed().flows, fresh.flows)


@pytest.mark.parametrize("name", LEARNERS)
def test_ensembles_are_pushed_whole(name):
    context = context_automaton(Ensemble(2, 5), Reach(2, 2))
    learner = LEARNERS[name](context)
    rng = np.random.default_rng(0)
    for number in range(5):
        memory = learner.choose(number).memory
        learner.learn(memory, feedback_on(learner, memory, rng))
        law = learner._product
        np.testing.assert_array_equal(law.pushed().flows, context.push(law._log_weights).flows)
