"""Tied windows: laws that fit together, played exactly, with bounded regret."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.errors import BoundExceeded, BudgetExceeded, InvalidInput
from galloon.learners.kernels.tied_windows import project
from galloon.learners.paths.protocol import FullFeedback, Memory, SemiBanditFeedback, Setting
from galloon.learners.tied import TiedWindows
from tests.reference.tied_windows import bregman

SIZES = [(2, 1, 3), (2, 2, 3), (2, 3, 2), (3, 2, 2), (3, 1, 3)]  # order, contexts, experts


def taught(order, contexts, experts, rounds=12, seed=0, setting=Setting.FULL):
    learner = TiedWindows(experts, contexts, order, setting, seed=seed)
    rng = np.random.default_rng(seed)
    for number in range(rounds):
        seen = rng.integers(0, contexts, rng.integers(0, 7)).astype(np.int32)
        choice = learner.choose(number, seen)
        windows = choice.memory.edges[0::2]
        gains = rng.random((windows.size, experts**order)) ** 3
        shown = gains[np.arange(windows.size), choice.memory.edges[1::2]]
        full = setting is Setting.FULL
        learner.learn(choice.memory, FullFeedback(gains) if full else SemiBanditFeedback(shown))
    return learner


@pytest.mark.parametrize(("order", "contexts", "experts"), SIZES)
def test_the_projection_is_that_of_alternating_steps(order, contexts, experts):
    """The Newton method finds what the slow, obvious method of the two closed-form steps converges to."""
    rng = np.random.default_rng(1)
    losses = rng.exponential(1.0, (contexts**order, experts**order))
    shape = (contexts**order, experts ** (order - 1))
    w, m, worst, _ = project(losses, np.zeros(shape), np.zeros(shape), contexts, experts, 1e-11)
    expected_w, expected_m = bregman(losses, contexts, experts)
    assert worst <= 1e-11
    assert w == pytest.approx(expected_w, abs=1e-8)
    assert m == pytest.approx(expected_m, abs=1e-8)


@settings(deadline=None, max_examples=25)
@given(data=st.data(), steepness=st.sampled_from([0.1, 1.0, 30.0]))
def test_laws_fit_together_however_steep_the_losses(data, steepness):
    order, contexts, experts = data.draw(st.sampled_from(SIZES))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    losses = steepness * rng.random((contexts**order, experts**order))
    shape = (contexts**order, experts ** (order - 1))
    w, m, worst, _ = project(losses, np.zeros(shape), np.zeros(shape), contexts, experts, 1e-10)
    assert worst <= 1e-8
    assert w.sum(axis=1) == pytest.approx(1.0)
    assert m.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(("order", "contexts", "experts"), SIZES)
def test_every_window_is_played_by_its_law(order, contexts, experts):
    """Exact, by listing all paths: whatever the contexts and wherever the window."""
    learner = taught(order, contexts, experts)
    laws = learner.window_laws()
    seen = np.random.default_rng(2).integers(0, contexts, order + 2).astype(np.int32)
    chances = {}
    for path in itertools.product(range(experts), repeat=len(seen)):
        chance = 1.0
        for i in range(order - 1, len(seen)):
            window = number(seen[i - order + 1 : i + 1], contexts)
            law = laws[window].reshape(-1, experts)[number(path[i - order + 1 : i], experts)]
            if i == order - 1:
                chance *= law[path[i]]
            else:
                chance *= law[path[i]] / law.sum()
        chances[path] = chance
    assert sum(chances.values()) == pytest.approx(1.0)
    for i in range(len(seen) - order + 1):
        marginal = np.zeros(experts**order)
        for path, chance in chances.items():
            marginal[number(path[i : i + order], experts)] += chance
        assert marginal == pytest.approx(laws[number(seen[i : i + order], contexts)], abs=1e-8)


def number(digits, base):
    found = 0
    for digit in digits:
        found = found * base + int(digit)
    return found


def test_draws_follow_the_laws_and_say_their_probability():
    learner = taught(2, 2, 3)
    seen = np.array([0, 1, 1], dtype=np.int32)
    counts, said = {}, {}
    for n in range(3000):
        choice = learner.choose(n, seen)
        path = tuple(choice.path.tolist())
        counts[path] = counts.get(path, 0) + 1
        said[path] = choice.log_probability
    assert sum(np.exp(log) for log in said.values()) == pytest.approx(1.0, abs=0.02)
    for path, count in counts.items():
        assert count / 3000 == pytest.approx(np.exp(said[path]), abs=0.04)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_utterances_have_no_window_but_an_answer(length):
    learner = taught(3, 2, 2)
    choice = learner.choose(5, np.zeros(length, dtype=np.int32))
    assert choice.path.size == length
    assert choice.memory.edges.size == 0
    learner.learn(choice.memory, FullFeedback(np.zeros((0, 8))))


@pytest.mark.parametrize("world", ["policy", "noise", "least", "alternation"])
@pytest.mark.parametrize(("order", "contexts", "experts"), [(2, 2, 3), (3, 2, 2)])
def test_regret_against_every_policy_stays_below_the_bound(world, order, contexts, experts):
    learner = TiedWindows(experts, contexts, order)
    rng = np.random.default_rng(3)
    totals, expected = np.zeros((contexts**order, experts**order)), 0.0
    policies = list(itertools.product(range(experts), repeat=contexts))
    tuples = np.array(list(itertools.product(range(experts), repeat=order)))
    for n in range(120):
        seen = rng.integers(0, contexts, 6).astype(np.int32)
        choice = learner.choose(n, seen)
        windows = choice.memory.edges[0::2]
        laws = learner.window_laws()[windows]
        gains = 0.5 * rng.random((windows.size, experts**order))
        if world == "policy":
            for k, window in enumerate(windows):
                gains[k, tuple_of(policies[1], window, contexts, experts, order)] += 0.5
        elif world == "least":
            gains[np.arange(windows.size), laws.argmin(axis=1)] += 0.5
        elif world == "alternation":
            gains[:, (tuples[:, 0] != tuples[:, 1])] += 0.5
        expected += float((laws * gains).sum())
        np.add.at(totals, windows, gains)
        learner.learn(choice.memory, FullFeedback(gains))
    best = max(
        sum(
            totals[window, tuple_of(policy, window, contexts, experts, order)]
            for window in range(contexts**order)
        )
        for policy in policies
    )
    assert best - expected <= learner.bound()
    if world == "alternation":
        assert expected > best  # no policy alternates within one context; the laws do
    if world == "policy":
        assert best - expected < 0.25 * best


def tuple_of(policy, window, contexts, experts, order):
    seen = [window // contexts ** (order - 1 - i) % contexts for i in range(order)]
    return number([policy[context] for context in seen], experts)


def test_semi_bandit_learns_from_the_shown_windows_alone():
    learner = TiedWindows(2, 1, 2, Setting.SEMI_BANDIT, seed=4)
    gained = []
    for n in range(800):
        choice = learner.choose(n, np.zeros(5, dtype=np.int32))
        gains = (choice.memory.edges[1::2] == 0).astype(float)  # the first expert, twice in a row
        gained.append(gains.mean())
        learner.learn(choice.memory, SemiBanditFeedback(gains))
    assert np.mean(gained[:4]) < 0.5
    assert np.mean(gained[-200:]) > 0.9


def test_state_goes_out_and_in_to_the_bit():
    one, other = taught(2, 2, 3), TiedWindows(3, 2, 2)
    other.restore(one.to_bytes())
    assert one.digest() == other.digest()
    choice = one.choose(99, np.array([0, 1], dtype=np.int32))
    gains = FullFeedback(np.random.default_rng(5).random((1, 9)))
    for learner in (one, other):
        learner.learn(Memory.from_bytes(choice.memory.to_bytes()), gains)
    assert one.digest() == other.digest()


def test_what_cannot_be_is_refused():
    with pytest.raises(BudgetExceeded, match="transitions"):
        TiedWindows(64, 8, 3)
    with pytest.raises(InvalidInput, match="order of two"):
        TiedWindows(3, 2, 1)
    with pytest.raises(InvalidInput, match="one score"):
        TiedWindows(3, 2, 2, Setting.BANDIT)
    learner = TiedWindows(3, 2, 2)
    with pytest.raises(InvalidInput, match="below 2"):
        learner.choose(0, np.array([2], dtype=np.int32))
    memory = learner.choose(0, np.array([0, 1], dtype=np.int32)).memory
    with pytest.raises(BoundExceeded):
        learner.learn(memory, FullFeedback(np.full((1, 9), 2.0)))
    with pytest.raises(InvalidInput, match="other feedback"):
        learner.learn(memory, SemiBanditFeedback(np.zeros(1)))
    with pytest.raises(InvalidInput, match="another size"):
        TiedWindows(2, 2, 2).restore(learner.to_bytes())
