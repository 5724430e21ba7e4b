"""Mirror descent on estimated losses: unbiased, within its bound whatever is drawn, and no dearer than CDCH."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState
from galloon.learners.paths.mirror_semi_bandit import MirrorSemiBandit
from galloon.learners.paths.opponents import Table
from galloon.learners.paths.protocol import Memory, SemiBanditFeedback
from galloon.learners.paths.simulation import simulate
from tests.learners.paths.subjects import BOUND, CASES, feedback_on, play
from tests.reference.enumeration import Enumeration


def test_the_estimate_is_unbiased():
    """Over all draws of a round every path's true gain, up to what is the same for all paths."""
    context = context_automaton(Ensemble(2, 4), Reach(2, 2))
    paths, gains = Enumeration(context), np.random.default_rng(1).random(context.transition_count) * BOUND
    learner = MirrorSemiBandit(context, BOUND, learning_rate=0.05)
    play(learner, 5, np.random.default_rng(0))
    before, data = learner.scores.copy(), learner.to_bytes()
    chosen = {paths.index(choice.path): choice for choice in map(learner.choose, range(500))}
    assert len(chosen) == len(paths)
    mean = np.zeros(len(paths))
    for choice in chosen.values():
        learner.restore(data)
        learner.learn(choice.memory, SemiBanditFeedback(gains[choice.memory.edges]))
        mean += np.exp(choice.log_probability) * (paths.incidence @ (learner.scores - before))
    np.testing.assert_allclose(mean + learner.path_bound, paths.incidence @ gains, rtol=1e-6)


@settings(deadline=None, max_examples=25, derandomize=True, database=None)
@given(CASES, st.integers(0, 2**32))
def test_estimated_regret_is_below_the_bound_whatever_is_drawn(case, seed):
    """The proof's inequality is of the estimates, for every sequence of draws and every path."""
    context = context_automaton(*case)
    context = context.padded() if isinstance(context, GraphContext) else context
    assume(2 <= context.path_count <= 100)
    paths, rng = Enumeration(context), np.random.default_rng(seed)
    learner = MirrorSemiBandit(context, BOUND, seed=seed)
    favoured = rng.random(context.transition_count) < 0.5
    gained = 0.0
    for number in range(60):
        flow, before = learner.flow, learner.scores.copy()
        memory = learner.choose(number).memory
        gains = BOUND * (rng.random(flow.size) < favoured)
        learner.learn(memory, SemiBanditFeedback(gains[memory.edges]))
        gained += flow @ (learner.scores - before)
    bound = learner.promise().bound
    if bound < learner.path_bound * 60:  # what true gains cannot pass, estimates may
        assert (paths.incidence @ learner.scores).max() - gained <= bound * (1 + 1e-6)


def test_readmes_game_is_learned_faster_than_by_cdsb():
    """A half of CDSB's 2,762; the barrier, which costs more, needs a tenth."""
    spec = CombinerSpec(
        engines=("a", "b"),
        algorithm="mirror_semi_bandit",
        gain={"kind": "ngram", "order": 2},
        window=4,
        seed=1,
    )
    run = simulate(spec, Table(2, 4, 5000), "stochastic")
    assert run.final_regret < 0.6 * 2762
    assert run.final_regret < run.final_bound < 2600


def test_a_rate_given_by_hand_has_a_bound_too():
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner = MirrorSemiBandit(context, BOUND, learning_rate=0.1)
    play(learner, 40, np.random.default_rng(1))
    expected = 3 * np.log(2) / 0.1 + 40 * 0.1 * 6 * BOUND**2 / 2
    assert learner.promise().bound == pytest.approx(expected)


def test_windows_of_one_utterance_are_one_round():
    """They share a law, and their losses add up: the proof's inequality holds of the sum, whatever is drawn."""
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner, rng, paths = MirrorSemiBandit(context, BOUND), np.random.default_rng(4), Enumeration(context)
    gained = 0.0
    for first in range(0, 150, 3):
        flow, before = learner.flow, learner.scores.copy()
        memories = [learner.choose(number).memory for number in range(first, first + 3)]
        gains = BOUND * (rng.random((3, flow.size)) < 0.5)
        told = [SemiBanditFeedback(row[memory.edges]) for row, memory in zip(gains, memories, strict=True)]
        learner.learn_many(list(zip(memories, told, strict=True)))
        gained += flow @ (learner.scores - before)
    bound = learner.promise().bound
    assert bound < learner.path_bound * 150
    assert (paths.incidence @ learner.scores).max() - gained <= bound * (1 + 1e-6)


def test_late_feedback_is_learned_without_a_bound():
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner, rng = MirrorSemiBandit(context, BOUND), np.random.default_rng(2)
    memories = [learner.choose(number).memory for number in range(40)]
    for memory in memories:
        learner.learn(memory, feedback_on(learner, memory, rng))
    assert learner.promise().bound is None
    assert "after the next choice" in learner.promise().words
    np.testing.assert_allclose(context.state_flows(learner.flow)[-1], 1, rtol=1e-8)


def test_a_memory_with_no_flow_to_divide_by_is_refused():
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner = MirrorSemiBandit(context, BOUND)
    memory = learner.choose(0).memory
    before = learner.digest()
    for flow in (0.0, -0.5):
        foreign = Memory(memory.edges, np.array([memory.numbers[0], flow, *memory.numbers[2:]]))
        with pytest.raises(DamagedState):
            learner.learn(foreign, SemiBanditFeedback(np.zeros(3)))
    assert learner.digest() == before
