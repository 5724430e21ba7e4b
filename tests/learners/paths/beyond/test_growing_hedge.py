"""Experts that come and go, slots that become more: every bound holds, and a law that stays stays to the bit."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.beyond.growing_hedge import GrowingHedge


def deal(learner, random, rates):
    """Windows gain 1 with the mean rate of their experts."""
    context = learner.context
    each = [rates[name] for name in learner.names]
    chances = [
        np.mean([each[edge % len(each)] for edge in context.window(transition)])
        for transition in range(context.transition_count)
    ]
    return (random.random(len(chances)) < chances).astype(float)


def own_path(learner, name):
    context = learner.context
    place, experts = learner.names.index(name), len(learner.names)
    return context.context_path((np.arange(context.expert.slots) * experts + place).astype(np.int32))


@pytest.mark.parametrize("span", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_newcomers_bound_runs_from_its_first_round_and_the_others_from_theirs(span, seed):
    rates = {"a": 0.4, "b": 0.6, "c": 0.85, "d": 0.2}
    learner, random = GrowingHedge(["a", "b"], 4, Reach(1, span)), np.random.default_rng(seed)
    gained: list[float] = []
    own: dict[str, list[tuple[int, float]]] = {name: [] for name in rates}
    for number in range(240):
        if number == 80:
            learner.join("c")
        if number == 140:
            learner.join("d")
        if number == 180:
            learner.leave("a")
        gains = deal(learner, random, rates)
        for name in learner.names:
            own[name].append((number, float(gains[own_path(learner, name)].sum())))
        gained.append(learner.learn(gains))
        for name in learner.names:
            since = own[name][0][0]
            regret = sum(gain for _, gain in own[name]) - sum(gained[since:])
            assert regret <= learner.bound_since(name) + 1e-9
            if since == 0:
                assert regret <= learner.bound() + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_regret_to_every_path_is_below_the_bound_while_slots_are_added(seed):
    learner, random = GrowingHedge(["a", "b", "c"], 2, Reach(1, 2)), np.random.default_rng(seed)
    gained, dealt = 0.0, np.zeros(learner.context.transition_count)
    for number in range(120):
        if number in (30, 60, 90):
            learner.append_slot()
            dealt = np.concatenate([dealt, np.zeros(learner.context.transition_count - dealt.size)])
        gains = deal(learner, random, {"a": 0.3, "b": 0.7, "c": 0.5})
        dealt += gains
        gained += learner.learn(gains)
    assert learner.context.best_path(dealt)[1] - gained <= learner.bound() + 1e-9


def test_who_leaves_leaves_the_law_on_the_others_in_proportion():
    learner, random = GrowingHedge(["a", "b", "c"], 3, Reach(1, 2)), np.random.default_rng(1)
    for _ in range(20):
        learner.learn(deal(learner, random, {"a": 0.3, "b": 0.7, "c": 0.5}))

    def log_weight(experts):
        path = [slot * len(learner.names) + learner.names.index(name) for slot, name in enumerate(experts)]
        return learner.scores[learner.context.context_path(np.array(path, dtype=np.int32))].sum()

    before = log_weight("aca") - log_weight("cac")
    bound = learner.bound()
    learner.leave("b")
    assert log_weight("aca") - log_weight("cac") == pytest.approx(before)
    assert learner.bound() == bound  # it costs those who stay nothing


def test_a_newcomer_is_neither_ahead_nor_behind():
    learner, random = GrowingHedge(["a", "b"], 4, Reach(1, 1)), np.random.default_rng(1)
    gained = sum(learner.learn(deal(learner, random, {"a": 0.3, "b": 0.9})) for _ in range(50))
    learner.join("c")
    assert learner.scores[own_path(learner, "c")].sum() == pytest.approx(gained)


def test_names_are_checked():
    learner = GrowingHedge(["a"], 2, Reach(1, 1))
    with pytest.raises(InvalidInput, match="there already"):
        learner.join("a")
    for name in ("a", "b"):
        with pytest.raises(InvalidInput, match="is not there, or is the last"):
            learner.leave(name)


def test_draws_are_paths_of_the_present_ensemble():
    learner = GrowingHedge(["a", "b"], 3, Reach(1, 2))
    learner.join("c")
    learner.append_slot()
    paths = {tuple(learner.draw(number)) for number in range(200)}
    assert all([edge // 3 for edge in path] == [0, 1, 2, 3] for path in paths)
    assert len(paths) > 50
