"""The perturbed leader: its law is a frequency over repeatable draws, and a lesson makes it another one."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.perturbed_leader import PerturbedLeader, noise_complexity
from tests.learners.paths.subjects import play
from tests.learners.paths.test_every_learner import TANGLE

CONTEXT = context_automaton(Ensemble(2, 4), Reach(1, 1))


def test_estimates_are_repeatable_and_forgotten_when_something_is_learned():
    learner, twin = (PerturbedLeader(CONTEXT, 1.0, learning_rate=1.0, draws=200) for _ in range(2))
    np.testing.assert_array_equal(learner.marginals(), twin.marginals())
    before = learner.marginals()
    play(learner, 3, np.random.default_rng(0))
    assert not np.array_equal(learner.marginals(), before)


def test_the_law_of_one_slot_is_known():
    """Two experts ahead by d: the leader loses when the other's noise is larger by d, with chance e**-d / 2."""
    learner = PerturbedLeader(context_automaton(Ensemble(2, 1), Reach(1, 1)), 1.0, learning_rate=1.0)
    learner.scores[:] = [1.5, 0.0]
    learner._scores_changed([])
    expected = np.exp(-1.5) / 2
    spread = np.sqrt(expected * (1 - expected) / learner.draws)
    assert abs(learner.marginals()[1] - expected) < 4 * spread


def test_a_path_never_seen_among_the_draws_has_no_probability():
    learner = PerturbedLeader(CONTEXT, 1.0, learning_rate=1000.0, draws=50)
    learner.scores[:4] = [1.0, 0.0, 1.0, 0.0]
    learner._scores_changed([])
    assert learner.log_probability(np.array([1, 3, 4, 6], dtype=np.int32)) == -np.inf


def test_noise_of_a_path_stays_below_its_complexity():
    """K (1 + ln(M / K)) bounds the mean of the largest total noise of any path."""
    learner = PerturbedLeader(CONTEXT, 1.0, learning_rate=1.0)
    rng = np.random.default_rng(0)
    best = [CONTEXT.best_path(rng.exponential(size=CONTEXT.transition_count))[1] for _ in range(500)]
    assert np.mean(best) < noise_complexity(learner.context)


def test_paths_of_unequal_length_are_refused():
    context = context_automaton(TANGLE, Reach(1, 1))
    with pytest.raises(InvalidInput, match="padded"):
        PerturbedLeader(context, 1.0)
