"""Every printed bound is true of the play that it is printed for, or none is printed, with a reason."""

import math

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.paths import bounds
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.catalogue import NAMES
from galloon.learners.paths.expanded_hedge import ExpandedHedge
from galloon.learners.paths.guarantee import as_played
from galloon.learners.paths.pace import Pace
from galloon.learners.paths.protocol import FullFeedback
from tests.learners.paths.subjects import feedback_on, play

EXPERTS, SLOTS, ORDER = 2, 4, 2
EDGE_BOUND, PATH_BOUND = 0.7, 0.7 * (SLOTS - ORDER + 1)
LOG_PATHS = SLOTS * math.log(EXPERTS)


def made(name, **making):
    return make_learner(
        name, Ensemble(EXPERTS, SLOTS), Reach(ORDER, ORDER), Making(EDGE_BOUND, PATH_BOUND, **making)
    )


def theorem(name, learner, rounds):
    """The closed form for a known horizon."""
    if name == "exp3_paths":
        return bounds.exp3_paths(rounds, LOG_PATHS, PATH_BOUND)
    k, m = learner.context.longest_path, learner.context.transition_count
    return {
        "component_hedge": lambda: bounds.component_hedge(rounds, k, EDGE_BOUND, learner.divergence),
        "expanded_hedge": lambda: bounds.expanded_hedge(rounds, LOG_PATHS, PATH_BOUND),
        "perturbed_leader": lambda: bounds.perturbed_leader(rounds, k, m, PATH_BOUND),
        "com_band": lambda: bounds.com_band(rounds, m, LOG_PATHS, PATH_BOUND),
    }[name]()


# CDSB's theorem needs a horizon; the bounds of the others left out are measured, not closed forms.
MEASURED = ("barrier_semi_bandit", "barrier_bandit", "fixed_share", "mirror_semi_bandit")
SOUND = [name for name in NAMES if name not in ("semi_bandit", *MEASURED)]


@pytest.mark.parametrize("name", SOUND)
def test_at_its_horizon_the_bound_is_the_theorem_s_or_less(name):
    """CDCH's is smaller: its constant was improved after its rate was tuned."""
    rounds = 2000 if name == "com_band" else 300  # CDCB's rate is held down at first
    learner = made(name, horizon=rounds)
    play(learner, rounds, np.random.default_rng(1))
    known = theorem(name, learner, rounds)
    found = learner.promise().bound
    assert found <= known * (1 + 1e-9)
    assert found > 0.6 * known


@pytest.mark.parametrize("name", SOUND)
def test_without_a_horizon_the_bound_is_at_most_its_price(name):
    learner = made(name)
    play(learner, 300, np.random.default_rng(1))
    assert learner.promise().bound <= learner.rate.price * theorem(name, learner, 300) * (1 + 1e-9)


def test_a_rate_given_by_hand_has_a_bound_too():
    learner = made("expanded_hedge", learning_rate=0.5)
    play(learner, 10, np.random.default_rng(1))
    assert learner.promise().bound == pytest.approx(LOG_PATHS / 0.5 + 10 * 0.5 * PATH_BOUND**2 / 8)


def test_limits_leave_room_for_draws_and_only_full_information_has_one():
    for name in NAMES:
        learner = made(name, horizon=10**5)
        play(learner, 5, np.random.default_rng(1))
        promised = learner.promise()
        assert (promised.limit is not None) == (learner.setting.value == "full")
        if promised.limit is not None:
            assert promised.limit > promised.bound


def test_theorem_4_is_printed_only_where_it_speaks():
    rng = np.random.default_rng(1)
    for options, reason in (
        ({}, "known horizon"),
        ({"horizon": 10}, "at least 45 rounds"),
        ({"horizon": 500, "learning_rate": 0.1}, "own learning rate"),
        ({"horizon": 500, "options": {"bias": "none"}}, "not none"),
        ({"horizon": 500, "options": {"bias": "implicit"}}, "not implicit"),
    ):
        promised = made("semi_bandit", **options).promise()
        assert promised.bound is None
        assert promised.words.startswith("none: ")
        assert reason in promised.words
    learner = made("semi_bandit", horizon=500)
    play(learner, 3, rng)
    assert "probability 0.95" in learner.promise().words
    memories = [learner.choose(number).memory for number in (3, 4)]
    for memory in memories:
        learner.learn(memory, feedback_on(learner, memory, rng))
    assert "before the next choice" in learner.promise().words


def test_cdcb_prints_no_bound_where_feedback_is_late():
    learner, rng = made("com_band"), np.random.default_rng(1)
    for memory in [learner.choose(number).memory for number in (0, 1)]:
        learner.learn(memory, feedback_on(learner, memory, rng))
    assert learner.promise().words.startswith("none: no bound is known")


@pytest.mark.parametrize("name", NAMES)
def test_a_memory_that_tells_no_time_ends_the_guarantee(name):
    """Rounds that were chosen by an older galloon."""
    learner, rng = made(name, horizon=500), np.random.default_rng(1)
    memory = learner.choose(0).memory
    feedback = feedback_on(learner, memory, rng)
    learner.learn(type(memory)(memory.edges, memory.numbers[:-1]), feedback)
    assert learner.promise().words.startswith("none: some rounds")
    assert learner.rounds_learned == 1
    other = made(name, horizon=500)
    other.restore(learner.to_bytes())
    assert other.promise() == learner.promise()


def test_pace_of_constant_rates_is_plain():
    pace = Pace()
    for waited in (0, 0, 3):
        pace.take(0.25, waited)
    assert (pace.climb, pace.swings, pace.rates, pace.waiting_rates) == (4.0, 4.0, 0.75, 0.75)
    assert Pace.from_json(pace.to_json(), 3) == pace


def test_pace_counts_every_climb_of_rates_out_of_order():
    pace = Pace()
    for rate in (1.0, 0.5, 1.0, 0.25):
        pace.take(rate, 0)
    assert pace.climb == 1 + 1 + 3
    assert pace.swings == 1 + 1 + 1 + 3


# Late feedback.


def batched_regret(learner, rounds, batch):
    """Each batch pays, in all of its rounds, the path that the law it is drawn from trusts least."""
    paths = [
        learner.context.context_path(np.array(p, dtype=np.int32)) for p in learner.context.expert.paths()
    ]
    total, gained = np.zeros(len(paths)), 0.0
    for first in range(0, rounds, batch):
        law = np.exp([learner.log_probability(learner.context.expert_path(path)) for path in paths])
        worst = int(law.argmin())
        gains = np.zeros(learner.context.transition_count)
        gains[paths[worst]] = learner.edge_bound
        values = np.array([gains[path].sum() for path in paths])
        memories = [learner.choose(first + i).memory for i in range(batch)]
        learner.learn_many([(memory, FullFeedback(gains)) for memory in memories])
        gained += batch * float(law @ values)
        total += batch * values
    return total.max() - gained


@pytest.mark.parametrize("name", ["expanded_hedge", "component_hedge"])
@pytest.mark.parametrize("horizon", [0, 2400])
def test_batches_of_late_feedback_stay_below_the_bound(name, horizon):
    """Batches of 600 rounds: far above the bound of feedback at once, below the one that counts the delay."""
    making = Making(1.0, 1.0, horizon=horizon, options={"tuning": "paper"})
    learner = make_learner(name, Ensemble(2, 1), Reach(1, 1), making)
    regret = batched_regret(learner, 2400, 600)
    promised = learner.promise()
    at_once = bounds.expanded_hedge(2400, math.log(2), 1.0)
    assert regret > 5 * at_once
    assert regret <= promised.bound
    assert "299.5 rounds late on average" in promised.words


def test_the_bound_on_delay_is_sharp_to_a_small_factor():
    """Small batches too: the delay's part is not merely huge."""
    learner = ExpandedHedge(made("expanded_hedge").context, 1.0, horizon=4000)
    regret = batched_regret(learner, 4000, 20)
    assert 0.1 * learner.promise().bound < regret <= learner.promise().bound


# The most probable path.


def test_shown_best_has_no_bound_and_says_what_draws_would_have():
    learner = made("expanded_hedge", horizon=100)
    play(learner, 100, np.random.default_rng(1))
    promised = learner.promise()
    assert as_played(promised, drawn=True) == promised
    shown = as_played(promised, drawn=False)
    assert (shown.bound, shown.limit) == (None, None)
    assert f"at most {promised.bound:,.1f}" in shown.words
    assert "no bound either" in as_played(made("semi_bandit").promise(), drawn=False).words


def _adversary(decide, rounds):
    """The default learner against texts that make whatever it shows wrong; statistics at the end."""
    combiner = build(CombinerSpec(engines=("a", "b"), decide=decide, seed=3))
    utterance = Utterance.of_texts("u", {"a": "left", "b": "right"})
    for number in range(rounds):
        decision = combiner.choose(utterance, number)
        combiner.learn(decision.memory, TrueText("right" if decision.text == "left" else "left"))
    return combiner.statistics()


def test_the_default_learner_that_shows_the_best_prints_no_bound():
    """An adversary makes its regret grow with the rounds, past what draws are promised."""
    best = _adversary("best", 600)
    assert best.bound is None
    assert best.regret_limit is None
    assert best.guarantee.startswith("none: the most probable path is shown; draws would have")
    promised = float(best.guarantee.rsplit(" ", 1)[1].replace(",", ""))
    assert best.regret > 2 * promised
    drawn = _adversary("sample", 600)
    assert drawn.regret <= drawn.bound <= drawn.regret_limit
    assert drawn.guarantee == "expected regret, paths drawn"


def test_the_default_learner_prints_no_bound_where_feedback_is_late():
    combiner = build(CombinerSpec(engines=("a", "b"), decide="sample"))
    utterance = Utterance.of_texts("u", {"a": "left", "b": "right"})
    memories = [combiner.choose(utterance, number).memory for number in range(3)]
    for memory in memories[:1]:
        combiner.learn(memory, TrueText("left"))
    assert combiner.statistics().bound is not None
    for memory in memories[1:]:
        combiner.learn(memory, TrueText("left"))
    assert combiner.statistics().guarantee.startswith("none: feedback of this learner came after")
    other = build(combiner.spec)
    other.restore(combiner.to_bytes())
    assert other.statistics().guarantee == combiner.statistics().guarantee
