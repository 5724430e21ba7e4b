"""Memories come from a journal or from an imported state: a forged one is refused and changes nothing."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import DamagedState
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.catalogue import NAMES
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, Memory, SemiBanditFeedback, Setting


def _feedback(learner, memory):
    match learner.setting:
        case Setting.FULL:
            return FullFeedback(np.zeros(learner.context.transition_count))
        case Setting.SEMI_BANDIT:
            return SemiBanditFeedback(np.zeros(memory.edges.size))
        case Setting.BANDIT:
            return BanditFeedback(0.5)


@pytest.mark.parametrize("name", NAMES)
def test_a_forged_memory_is_refused(name):
    learner = make_learner(name, Ensemble(2, 4), Reach(2, 2), Making(1.0, 3.0))
    good = learner.choose(0).memory
    edges, numbers = good.edges, good.numbers
    forged = [
        Memory(edges + np.int32(1000), numbers),
        Memory(-edges - np.int32(1), numbers),
        Memory(edges[::-1].copy(), numbers),
        Memory(edges[:-1], numbers[:-1] if numbers.size else numbers),
        Memory(np.empty(0, dtype=np.int32), numbers),
        Memory(edges, np.append(numbers, 1.0)),
        Memory(edges, np.full(numbers.size + (numbers.size == 0), np.nan)),
    ]
    before = learner.digest()
    for memory in forged:
        with pytest.raises(DamagedState, match="damaged or foreign"):
            learner.learn(memory, _feedback(learner, good))
    assert learner.digest() == before
    learner.learn(good, _feedback(learner, good))


def test_bytes_come_back_as_they_were():
    memory = Memory(np.array([3, 1, 4], dtype=np.int32), np.array([0.1, -2.5e300]))
    again = Memory.from_bytes(memory.to_bytes())
    assert np.array_equal(again.edges, memory.edges)
    assert np.array_equal(again.numbers, memory.numbers)


@pytest.mark.parametrize("size", [0, 5, 15, 20, 43])
def test_bytes_cut_short_are_refused(size):
    whole = Memory(np.array([3, 1, 4], dtype=np.int32), np.array([0.1, 0.2])).to_bytes()
    assert len(whole) == 44
    with pytest.raises(DamagedState):
        Memory.from_bytes(whole[:size] or b"\1")
