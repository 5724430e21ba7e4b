"""Self-tuning by the measured gap: 2 Delta bounds regret on every sequence, and easy rounds cost little."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.expanded_hedge import ExpandedHedge
from galloon.learners.paths.measured_gap import MeasuredGap
from galloon.learners.paths.protocol import FullFeedback
from tests.learners.paths.test_guarantee import batched_regret

LEARNERS = {"expanded_hedge": ExpandedHedge, "component_hedge": ComponentHedge}
CONTEXT = context_automaton(Ensemble(2, 4), Reach(2, 2))


def made(name, **options):
    return LEARNERS[name](CONTEXT, 1.0, **options)


def regret_of(learner, rounds, gains_of):
    total, gained = np.zeros(CONTEXT.transition_count), 0.0
    for number in range(rounds):
        flows = learner.marginals().copy()
        gains = gains_of(number, flows)
        gained += float(flows @ gains)
        total += gains
        learner.learn(learner.choose(number).memory, FullFeedback(gains))
    return CONTEXT.best_path(total)[1] - gained


def adversarial(number, flows):
    del number
    return (flows < np.median(flows) + 1e-12).astype(float)


def easy(number, flows):
    del number, flows
    gains = np.full(CONTEXT.transition_count, 0.4)
    gains[CONTEXT.context_path(np.array([0, 3, 4, 7], dtype=np.int32))] = 0.6
    return gains


def noisy(number, flows):
    return (np.random.default_rng(number).random(flows.size) < easy(number, flows)).astype(float)


@pytest.mark.parametrize("gains_of", [adversarial, easy, noisy])
@pytest.mark.parametrize("name", LEARNERS)
def test_regret_stays_below_twice_the_gap(name, gains_of):
    learner = made(name)
    regret = regret_of(learner, 600, gains_of)
    bound = learner.promise().bound
    assert regret <= bound + 1e-6
    assert bound <= 2 * learner.gap.total


@pytest.mark.parametrize("name", LEARNERS)
def test_easy_rounds_cost_a_fraction_of_the_paper_s_tuning(name):
    measured, paper = made(name), LEARNERS[name](CONTEXT, 1.0, horizon=2000)
    assert regret_of(measured, 2000, easy) < 0.1 * regret_of(paper, 2000, easy)
    assert measured.promise().bound < 0.2 * paper.promise().bound


@pytest.mark.parametrize("name", LEARNERS)
def test_windows_of_an_utterance_are_one_round(name):
    """Lessons at once have the gap of their sum, and do not wait for each other."""
    apart, together = made(name), made(name)
    rng = np.random.default_rng(1)
    rows = rng.random((3, CONTEXT.transition_count))
    memories = [together.choose(number).memory for number in range(3)]
    together.learn_many([(memory, FullFeedback(row)) for memory, row in zip(memories, rows, strict=True)])
    whole = LEARNERS[name](CONTEXT, 3.0)
    whole.gap.total = apart.gap.total
    whole.learn(whole.choose(0).memory, FullFeedback(rows.sum(axis=0)))
    assert together.gap.total == pytest.approx(whole.gap.total, rel=1e-7)
    assert together.rounds_learned == 3
    assert together.pace.waited == 0
    np.testing.assert_allclose(together.marginals(), whole.marginals(), atol=1e-8)


@pytest.mark.parametrize("batch", [20, 100])
@pytest.mark.parametrize("name", LEARNERS)
def test_late_feedback_is_paid_for(name, batch):
    learner = made(name)
    regret = batched_regret_one_by_one(learner, 1000, batch)
    promised = learner.promise()
    assert learner.pace.waited > 0
    assert regret <= promised.bound
    assert "rounds late on average" in promised.words


def batched_regret_one_by_one(learner, rounds, batch):
    """As `batched_regret`, but every lesson is an utterance of its own."""
    learn_many = learner.learn_many
    learner.learn_many = lambda lessons: [learn_many([lesson]) for lesson in lessons]
    return batched_regret(learner, rounds, batch)


def test_a_horizon_or_a_rate_by_hand_is_the_paper_s_tuning():
    assert made("expanded_hedge", horizon=10).gap is None
    assert made("component_hedge", learning_rate=0.1).gap is None
    assert made("component_hedge", tuning="paper").gap is None
    assert made("component_hedge").gap is not None
    with pytest.raises(InvalidInput, match="tuning 'best' is not one of gap, paper"):
        ExpandedHedge(CONTEXT, 1.0, tuning="best")


@pytest.mark.parametrize("name", LEARNERS)
def test_a_state_with_the_paper_s_rates_goes_on_with_them(name):
    """Stores from before the measured gap was the default hold such states, and rounds that wait."""
    older, opened = made(name, tuning="paper"), made(name)
    regret_of(older, 20, noisy)
    memory = older.choose(20).memory
    opened.restore(older.to_bytes())
    assert opened.gap is None
    assert opened.digest() == older.digest()
    for learner in (older, opened):
        learner.learn(memory, FullFeedback(noisy(20, older.marginals())))
    assert opened.digest() == older.digest()
    assert opened.choose(21).memory.to_bytes() == older.choose(21).memory.to_bytes()
    with pytest.raises(DamagedState):
        made(name, tuning="paper").restore(made(name).to_bytes())


def test_damaged_gaps_are_refused():
    gap = MeasuredGap.fresh(1.0, 1.0, 1.0, 1.0)
    gap.take(0.5, 1, 1.0, 0)
    for found in (None, [], ["x", "y", "z"], [(-1.0).hex()] * 3, [float("nan").hex()] * 3):
        with pytest.raises(DamagedState):
            gap.restore(found)
    assert (gap.total, gap.on_time) == (pytest.approx(0.5625), 0.5)
