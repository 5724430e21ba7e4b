"""The tied learner: its rules are those of plain dictionaries, its regret is bounded, its state is sound."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.tied import LEVELS
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, SemiBanditFeedback, Setting
from galloon.learners.tied.bounds import falling_rate
from galloon.learners.tied.estimates import score_losses, shown_losses
from galloon.learners.tied.learner import SlotView, TiedLearner, TiedMemory
from tests.reference.tied import Twin, contexts

EXPERTS = ("a", "b", "c")
TOKENS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=4)


PRESENT = st.sampled_from([(0, 1, 2), (0, 2), (1, 2), (0, 1), (2,)])


def view_of(rows, labels=(), present=(0, 1, 2)):
    tokens = np.array(rows, dtype=np.int32).reshape(-1, 3)[:, present]
    numbers = np.array(labels, dtype=np.uint64)
    return SlotView(tokens, np.array(present), 3, numbers, np.full(tokens.shape, 0.5))


def awake_of(rows, labels=(), present=(0, 1, 2)):
    found, before = [], "start"
    for row in rows:
        told = [token if j in present else None for j, token in enumerate(row)]
        slot, before = contexts(told, before, labels)
        found.append(slot)
    return found


@pytest.mark.parametrize("setting", [Setting.FULL, Setting.SEMI_BANDIT])
@settings(deadline=None, max_examples=30)
@given(
    rounds=st.lists(st.tuples(TOKENS, PRESENT), min_size=1, max_size=5), labels=st.sampled_from([(), (7,)])
)
def test_learning_is_that_of_plain_scores(setting, rounds, labels):
    """And the sum of all weights never changes while the rate stands still, which is what the bound rests on.

    Whoever is absent is asleep: not played, and its scores stay as they are.
    """
    priors = np.array([0.5, 0.3, 0.2])
    learner, twin = TiedLearner(EXPERTS, setting, priors, seed=3), Twin(priors)
    met, spread = set(), 0.0
    for number, (all_rows, present) in enumerate(rounds):
        view = view_of(all_rows, labels, present)
        rows = view.tokens.tolist()
        choice = learner.choose(number, view)
        awake = awake_of(all_rows, labels, present)
        rate = falling_rate(3, LEVELS, spread)
        gains = (view.tokens == 1).astype(float)
        shown_gains = gains[np.arange(len(rows)), choice.experts]
        full = setting is Setting.FULL
        learner.learn(choice.memory, view, FullFeedback(gains) if full else SemiBanditFeedback(shown_gains))
        losses = []
        for slot, row in enumerate(rows):
            assert choice.probabilities[slot] == pytest.approx(
                twin.trust(awake[slot], present, rate), rel=1e-5
            )
            shown = row[choice.experts[slot]]
            mass = sum(p for p, token in zip(choice.probabilities[slot], row, strict=True) if token == shown)
            loss = (1 - shown_gains[slot]) / mass if len(set(row)) > 1 else 0.0
            estimated = [loss if token == shown else 0.0 for token in row]
            losses.append(1 - gains[slot] if full else estimated)
        met |= {context for slot in awake for context in slot}
        before = twin.total(met, range(3), rate)
        spread += twin.learn(awake, present, rate, choice.probabilities, losses) / rate
        assert twin.total(met, range(3), rate) == pytest.approx(before)
    assert learner.size().states == len(met)


def all_draws(tokens, probabilities):
    """Every choice of experts with its probability."""
    for shown in itertools.product(range(tokens.shape[1]), repeat=len(tokens)):
        chance = float(np.prod([probabilities[i, j] for i, j in enumerate(shown)]))
        same = tokens == tokens[np.arange(len(tokens)), shown][:, None]
        yield np.array(shown, dtype=np.int32), chance, (same * probabilities).sum(axis=1)


@settings(deadline=None, max_examples=20)
@given(rows=TOKENS, seed=st.integers(0, 99))
def test_estimates_have_the_truth_as_their_mean(rows, seed):
    """Semi-bandit losses exactly; bandit losses up to one constant a slot, however bad the predictions."""
    rng = np.random.default_rng(seed)
    tokens = np.array(rows, dtype=np.int32)
    probabilities = rng.dirichlet(np.ones(3), len(rows))
    value = rng.random((len(rows), 3))
    gains = np.take_along_axis(value, tokens, axis=1)
    guess = np.take_along_axis(rng.random((len(rows), 3)), tokens, axis=1)
    mean_semi, mean_bandit = np.zeros(tokens.shape), np.zeros(tokens.shape)
    slots = np.arange(len(rows))
    for shown, chance, divisors in all_draws(tokens, probabilities):
        revealed = gains[slots, shown]
        mean_semi += chance * shown_losses(tokens, shown, divisors, revealed)
        bandit = score_losses(tokens, shown, divisors, float(revealed.sum()), guess)
        mean_bandit += chance * (bandit - bandit[:, :1])
    assert mean_semi == pytest.approx(1 - gains)
    assert mean_bandit == pytest.approx(gains[:, :1] - gains, abs=1e-9)


def play(setting, gains_of, rounds, seed, slots=3):
    """The learner's expected gain, and every expert's, by context; three experts who never agree."""
    learner = TiedLearner(EXPERTS, setting, seed=seed)
    rows = [(0, 1, 2), (1, 2, 0), (1, 2, 3)][:slots]
    view = view_of(rows)
    expected, totals = 0.0, np.zeros((slots, 3))
    for number in range(rounds):
        choice = learner.choose(number, view)
        gains = gains_of(number, choice.probabilities)
        expected += float((choice.probabilities * gains).sum())
        totals += gains
        shown = gains[np.arange(slots), choice.experts]
        match setting:
            case Setting.FULL:
                feedback = FullFeedback(gains)
            case Setting.SEMI_BANDIT:
                feedback = SemiBanditFeedback(shown)
            case _:
                feedback = BanditFeedback(float(shown.sum()))
        learner.learn(choice.memory, view, feedback)
    return learner, expected, totals


def drifting(number, probabilities):
    """Pays in each slot whoever is least trusted: the worst that a learner can meet."""
    gains = np.zeros_like(probabilities)
    gains[np.arange(len(gains)), probabilities.argmin(axis=1)] = 1.0
    return gains


def stochastic(seed, means):
    rng = np.random.default_rng(seed)
    return lambda number, probabilities: (rng.random(probabilities.shape) < means).astype(float)


MEANS = np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.4, 0.6, 0.4]])


@pytest.mark.parametrize("world", ["stochastic", "adversarial"])
@pytest.mark.parametrize("setting", [Setting.FULL, Setting.SEMI_BANDIT])
def test_regret_stays_below_the_bound(world, setting):
    """Against every fixed expert over all slots; in the partial setting on average over draws."""
    regrets, bounds = [], []
    for seed in range(1 if setting is Setting.FULL else 3):
        gains_of = drifting if world == "adversarial" else stochastic(seed, MEANS)
        learner, expected, totals = play(setting, gains_of, 600, seed)
        by_expert = totals.sum(axis=0)
        best = int(by_expert.argmax())
        regrets.append(by_expert[best] - expected)
        bounds.append(learner.bound(best))
    assert np.mean(regrets) <= np.mean(bounds)


def test_a_sleeping_expert_is_followed_when_it_is_awake():
    """It is right whenever it runs, in one round of three: its regret counts those alone, and is bounded."""
    learner = TiedLearner(EXPERTS, Setting.FULL, seed=4)
    expected, own = 0.0, 0.0
    for number in range(600):
        present = (0, 1, 2) if number % 3 == 0 else (0, 1)
        view = view_of([(1, 2, 3)], (), present)
        choice = learner.choose(number, view)
        gains = np.array([[0.5, 0.4, 1.0]])[:, present]
        if 2 in present:
            expected += float((choice.probabilities * gains).sum())
            own += 1.0
        learner.learn(choice.memory, view, FullFeedback(gains))
    assert 0 <= own - expected <= learner.bound(2)
    assert expected > 0.8 * own


def test_it_finds_the_best_expert_of_each_context():
    """Full information: nearly the gain of the best policy, which no single expert reaches."""
    _, expected, totals = play(Setting.FULL, stochastic(5, MEANS), 2000, 5)
    assert expected > 1.1 * totals.sum(axis=0).max()
    assert expected > 0.95 * totals.max(axis=1).sum()


@pytest.mark.parametrize("setting", [Setting.SEMI_BANDIT, Setting.BANDIT])
def test_partial_feedback_beats_the_uniform_choice(setting):
    _, expected, totals = play(setting, stochastic(6, MEANS), 3000, 6)
    assert expected > 1.1 * totals.mean(axis=1).sum()


def test_state_does_not_depend_on_the_order_of_arrival():
    for setting in (Setting.FULL, Setting.SEMI_BANDIT, Setting.BANDIT):
        rng = np.random.default_rng(7)
        rounds = [[tuple(rng.integers(0, 3, 3)) for _ in range(3)] for _ in range(20)]
        states = []
        for order in (range(20), reversed(range(20))):
            learner = TiedLearner(EXPERTS, setting, seed=1)
            played = [(view_of(rows), learner.choose(n, view_of(rows))) for n, rows in enumerate(rounds)]
            for n in order:
                view, choice = played[n]
                memory = TiedMemory.from_bytes(choice.memory.to_bytes(), 3)
                gains = (view.tokens == 1).astype(float)
                shown = gains[np.arange(3), choice.experts]
                feedback = {
                    Setting.FULL: FullFeedback(gains),
                    Setting.SEMI_BANDIT: SemiBanditFeedback(shown),
                    Setting.BANDIT: BanditFeedback(float(shown.sum())),
                }[setting]
                learner.learn(memory, view, feedback)
            arrays = learner.arrays()
            order_of_keys = np.argsort(arrays["contexts.keys"])
            states.append(
                [arrays[f"contexts.{n}"][order_of_keys] for n in ("keys", "scores", "sums", "visits")]
            )
        for one, other in zip(*states, strict=True):
            assert one == pytest.approx(other, rel=1e-5, abs=1e-5)


def test_best_takes_the_most_probable_token_and_its_most_trusted_expert():
    learner = TiedLearner(EXPERTS, Setting.FULL, np.array([0.4, 0.35, 0.25]), decide="best")
    choice = learner.choose(0, view_of([(1, 2, 2), (1, 1, 2)]))
    assert choice.experts.tolist() == [1, 0]
    assert choice.log_probability == 0.0
    assert choice.memory.divisors.tolist() == [1.0, 1.0]


def test_drawn_experts_follow_the_probabilities():
    learner = TiedLearner(EXPERTS, Setting.FULL, np.array([0.6, 0.3, 0.1]), seed=9)
    view = view_of([(1, 2, 3)])
    counts = np.zeros(3)
    for number in range(4000):
        choice = learner.choose(number, view)
        counts[choice.experts[0]] += 1
        assert choice.log_probability == pytest.approx(np.log(choice.probabilities[0, choice.experts[0]]))
    assert counts / 4000 == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


def test_wrong_feedback_and_wrong_memories_are_refused():
    learner, view = TiedLearner(EXPERTS, Setting.FULL), view_of([(1, 2, 3)])
    memory = learner.choose(0, view).memory
    with pytest.raises(InvalidInput, match="full setting"):
        learner.learn(memory, view, BanditFeedback(1.0))
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        learner.learn(memory, view, FullFeedback(np.full((1, 3), 2.0)))
    with pytest.raises(DamagedState, match="slots"):
        learner.learn(memory, view_of([(1, 2, 3), (1, 1, 1)]), FullFeedback(np.zeros((1, 3))))
    with pytest.raises(DamagedState):
        TiedMemory.from_bytes(memory.to_bytes(), 4)
    with pytest.raises(DamagedState):
        TiedMemory.from_bytes(memory.to_bytes()[:-9], 3)
    with pytest.raises(InvalidInput, match="priors"):
        TiedLearner(EXPERTS, Setting.FULL, np.array([1.0, 0.0, 0.0]))
