"""The semi-bandit learner's own promises: its options, its exploration, its most probable path."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.protocol import SemiBanditFeedback
from galloon.learners.paths.semi_bandit import BIASES, SemiBandit
from tests.learners.paths.subjects import BOUND, play
from tests.learners.paths.test_every_learner import TANGLE

CONTEXT = context_automaton(Ensemble(2, 5), Reach(2, 2))


def test_the_theorem_s_numbers():
    """eta, gamma and beta as in the theorem, with the transitions' bound put in (erratum 9)."""
    learner = SemiBandit(CONTEXT, BOUND, horizon=10**6, confidence=0.1)
    k, m, covering, paths, t = 4, 16, 4, 2**5, 10**6
    eta = np.sqrt(np.log(paths) / (4 * t * k**2 * covering)) / BOUND
    assert learner.learning_rate == pytest.approx(eta)
    assert learner.exploration == pytest.approx(2 * eta * k * covering * BOUND)
    assert learner.bonus == pytest.approx(BOUND * np.sqrt(k / (m * t) * np.log(m / 0.1)))


def test_exploration_and_bonus_are_capped_in_the_first_rounds():
    learner = SemiBandit(CONTEXT, BOUND, learning_rate=100.0)
    assert learner.exploration == 0.5
    assert learner.bonus <= BOUND
    assert SemiBandit(CONTEXT, BOUND, bias="none").bonus == 0


@pytest.mark.parametrize("bias", BIASES)
def test_what_is_remembered_is_what_will_be_divided_by(bias):
    """All flows where every transition gets a bonus, else only those of the path."""
    learner = SemiBandit(CONTEXT, BOUND, horizon=50, bias=bias)
    play(learner, 5, np.random.default_rng(0))
    memory = learner.choose(9).memory
    flows = learner.marginals() if bias == "everywhere" else learner.marginals()[memory.edges]
    assert memory.numbers.tolist() == [learner.bonus, *flows, learner.rounds_learned]


@pytest.mark.parametrize("expert", [Ensemble(2, 5), TANGLE], ids=["ensemble", "tangle"])
def test_estimates_without_a_bonus_are_unbiased(expert):
    """The mean of the estimate over all paths is the gain of every transition."""
    context = context_automaton(expert, Reach(2, 2))
    learner = SemiBandit(context, BOUND, horizon=50, bias="none")
    play(learner, 5, np.random.default_rng(0))
    gains = np.random.default_rng(1).random(context.transition_count) * BOUND
    mean = np.zeros(context.transition_count)
    choices = {tuple(choice.path.tolist()): choice for choice in map(learner.choose, range(600))}
    assert len(choices) == context.path_count
    for choice in choices.values():
        edges = choice.memory.edges
        increment = learner._increment(choice.memory, SemiBanditFeedback(gains[edges]))
        mean[edges] += np.exp(choice.log_probability) * increment.values
    np.testing.assert_allclose(mean, gains, rtol=1e-9)


def test_a_favourite_of_exploration_may_be_the_most_probable_path():
    """With hardly anything learned, the covering paths' extra share decides; later the scores do."""
    learner = SemiBandit(CONTEXT, BOUND, learning_rate=0.02, bias="none")
    paths = [np.array(path, dtype=np.int32) for path in Ensemble(2, 5).paths()]
    edges = CONTEXT.context_path(paths[1])
    assert learner.covering.share(edges) == 0
    memory = learner._memory(edges)
    learner.learn(memory, SemiBanditFeedback(np.full(4, BOUND)))
    assert learner.covering.share(CONTEXT.context_path(learner.choose_best().path)) > 0
    for _ in range(100):
        learner.learn(memory, SemiBanditFeedback(np.full(4, BOUND)))
    assert learner.choose_best().path.tolist() == paths[1].tolist()


def test_options_are_checked():
    with pytest.raises(InvalidInput, match="bias 'some' is not one of everywhere, none, implicit"):
        SemiBandit(CONTEXT, BOUND, bias="some")
    for confidence in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(InvalidInput, match="confidence"):
            SemiBandit(CONTEXT, BOUND, confidence=confidence)
