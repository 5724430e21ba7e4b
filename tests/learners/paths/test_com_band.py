"""ComBand's closed form is the pseudo-inverse's estimate, without the matrix."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.protocol import BanditFeedback
from tests.learners.paths.subjects import BOUND, CASES, play
from tests.reference.com_band_pinv import estimator
from tests.reference.enumeration import Enumeration


@settings(deadline=None, max_examples=80)
@given(CASES, st.integers(0, 2**32))
def test_the_closed_form_gives_every_path_what_the_pseudo_inverse_gives(case, seed):
    """y solves E[v v^T] y = v, and gives each path the pseudo-inverse's gain; so the estimate is unbiased."""
    context = context_automaton(*case)
    assume(context.path_count <= 150 and context.transition_count <= 100)
    paths = Enumeration(context)
    learner = ComBand(context, BOUND, horizon=500, seed=seed % 2**32)
    play(learner, 3, np.random.default_rng(seed))
    law = np.exp([learner.log_probability(path) for path in paths.paths])
    correlation = (paths.incidence.T * law) @ paths.incidence
    choice = learner.choose(17)
    chosen = paths.incidence[paths.index(choice.path)]
    y = increment(learner, choice)
    np.testing.assert_allclose(correlation @ y, chosen, rtol=0, atol=1e-9)
    slow = estimator(paths, law) @ chosen
    np.testing.assert_allclose(paths.incidence @ y, paths.incidence @ slow, rtol=1e-7, atol=1e-7)


def increment(learner, choice):
    """What a gain of 1 adds to the scores, as a whole array."""
    gains = learner._increment(choice.memory, BanditFeedback(1.0))
    y = np.zeros(learner.context.transition_count)
    np.add.at(y, gains.edges, gains.values)
    return y


def test_the_estimate_is_unbiased_for_additive_gains():
    context = context_automaton(Ensemble(2, 4), Reach(2, 2))
    paths = Enumeration(context)
    learner = ComBand(context, BOUND, horizon=100)
    play(learner, 5, np.random.default_rng(0))
    gains = np.random.default_rng(1).random(context.transition_count) * BOUND
    chosen = {paths.index(choice.path): choice for choice in map(learner.choose, range(400))}
    assert len(chosen) == len(paths)
    mean = sum(
        np.exp(choice.log_probability) * (paths.incidence[i] @ gains) * increment(learner, choice)
        for i, choice in chosen.items()
    )
    np.testing.assert_allclose(paths.incidence @ mean, paths.incidence @ gains, rtol=1e-9)


def test_exploration_keeps_every_estimate_times_the_rate_within_one():
    """What ComBand's proof needs: eta |estimate of any path| <= 1, also when the rate asked for is absurd."""
    context = context_automaton(Ensemble(2, 5), Reach(2, 2))
    paths = Enumeration(context)
    for options in ({"horizon": 10}, {"horizon": 10**6}, {"learning_rate": 50.0}, {}):
        learner = ComBand(context, BOUND, **options)
        play(learner, 20, np.random.default_rng(0))
        assert 0 < learner.exploration <= 0.5
        for number in range(100, 140):
            y = increment(learner, learner.choose(number))
            assert np.abs(learner.learning_rate * learner.path_bound * paths.incidence @ y).max() <= 1 + 1e-9


@pytest.mark.parametrize("experts", [2, 3])
@pytest.mark.parametrize("length", [1, 2])
def test_the_smallest_eigenvalue_under_even_play_is_r_to_the_minus_n(experts, length):
    """The corollary's lambda, exactly."""
    context = context_automaton(Ensemble(experts, 4), Reach(length, length))
    paths = Enumeration(context)
    even = np.full(len(paths), 1 / len(paths))
    values = np.linalg.eigvalsh((paths.incidence.T * even) @ paths.incidence)
    assert values[values > 1e-12].min() == pytest.approx(float(experts) ** -length)
