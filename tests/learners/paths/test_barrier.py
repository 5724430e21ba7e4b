"""The learners with a logarithmic barrier: unbiased, within their bound whatever is drawn, and fast."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState
from galloon.learners.paths.barrier_bandit import BarrierBandit
from galloon.learners.paths.barrier_flow import BarrierFlow
from galloon.learners.paths.barrier_semi_bandit import BarrierSemiBandit
from galloon.learners.paths.opponents import Table
from galloon.learners.paths.protocol import BanditFeedback, Memory, SemiBanditFeedback
from galloon.learners.paths.simulation import simulate
from tests.learners.paths.subjects import BOUND, CASES, feedback_on, play
from tests.reference.barrier import least
from tests.reference.enumeration import Enumeration

LEARNERS = [BarrierSemiBandit, BarrierBandit]


@settings(deadline=None, max_examples=60, derandomize=True, database=None)
@given(CASES, st.integers(0, 2**32), st.floats(0.1, 1e4))
def test_the_solver_finds_the_least_flow(case, seed, spread):
    """Against dense Newton steps on the flow, with costs of every size, from the potentials of another problem."""
    context = context_automaton(*case)
    assume(context.path_count <= 100)
    rng = np.random.default_rng(seed)
    costs = spread * rng.standard_normal(context.transition_count)
    weights = rng.uniform(0.5, 20, costs.size)
    solver, potentials = BarrierFlow(context), np.zeros(context.state_count)
    solver.solve(spread * rng.standard_normal(costs.size), weights, potentials)
    flow = solver.solve(costs, weights, potentials)
    assert solver.steps >= 0
    np.testing.assert_allclose(flow, least(Enumeration(context), costs, weights), rtol=1e-6)


@pytest.mark.parametrize("make", LEARNERS)
def test_the_estimate_is_unbiased(make):
    """Prediction and surprise over flow: over all draws of a round, every path's true gain."""
    context = context_automaton(Ensemble(2, 4), Reach(2, 2))
    paths, gains = Enumeration(context), np.random.default_rng(1).random(context.transition_count) * BOUND
    learner = make(context, BOUND)
    play(learner, 5, np.random.default_rng(0))
    assert learner.predictions.any()
    before, data = learner.scores.copy(), learner.to_bytes()
    chosen = {paths.index(choice.path): choice for choice in map(learner.choose, range(500))}
    assert len(chosen) == len(paths)
    mean = np.zeros(len(paths))
    for choice in chosen.values():
        learner.restore(data)
        learner.learn(choice.memory, revealed(learner, gains, choice.memory))
        mean += np.exp(choice.log_probability) * (paths.incidence @ (learner.scores - before))
    np.testing.assert_allclose(mean, paths.incidence @ gains, rtol=1e-7)


def revealed(learner, gains, memory):
    on_path = gains[memory.edges]
    if isinstance(learner, BarrierSemiBandit):
        return SemiBanditFeedback(on_path)
    return BanditFeedback(float(on_path.sum()))


@settings(deadline=None, max_examples=25, derandomize=True, database=None)
@given(CASES, st.integers(0, 2**32), st.sampled_from(LEARNERS), st.sampled_from([0.0, 0.05]))
def test_estimated_regret_is_below_the_bound_whatever_is_drawn(case, seed, make, learning_rate):
    """The proof's inequality is of the estimates, for every sequence of draws and every path."""
    context = context_automaton(*case)
    assume(2 <= context.path_count <= 100)
    paths, rng = Enumeration(context), np.random.default_rng(seed)
    learner = make(context, BOUND, seed=seed, learning_rate=learning_rate)
    favoured = rng.random(context.transition_count) < 0.5
    gained, rounds = 0.0, 60
    for number in range(rounds):
        flow, before = learner.flow, learner.scores.copy()
        memory = learner.choose(number).memory
        learner.learn(memory, revealed(learner, BOUND * (rng.random(flow.size) < favoured), memory))
        gained += flow @ (learner.scores - before)
    centre = least(paths, np.zeros(flow.size), np.ones(flow.size))
    near = (1 - 1 / rounds) * paths.incidence + centre / rounds
    bound = learner.promise().bound
    if bound < learner.path_bound * rounds:
        assert (near @ learner.scores).max() - gained <= (bound - learner.path_bound) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "most"), [("barrier_semi_bandit", 0.15 * 2762), ("barrier_bandit", 0.30 * 2676)]
)
def test_readmes_game_is_learned(name, most):
    """Where CDSB regrets 2,762 and CDCB 2,676: a fraction, and little of it in the second half."""
    spec = CombinerSpec(
        engines=("a", "b"), algorithm=name, gain={"kind": "ngram", "order": 2}, window=4, seed=1
    )
    run = simulate(spec, Table(2, 4, 5000), "stochastic")
    assert run.final_regret < most
    assert run.final_regret < 1.4 * run.regret[run.regret.size // 2]
    assert run.final_regret < run.final_bound


@pytest.mark.parametrize("make", LEARNERS)
def test_late_feedback_is_learned_without_a_bound(make):
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner, rng = make(context, BOUND), np.random.default_rng(2)
    memories = [learner.choose(number).memory for number in range(40)]
    for memory in memories:
        learner.learn(memory, feedback_on(learner, memory, rng))
    assert learner.promise().bound is None
    assert "after the next choice" in learner.promise().words
    np.testing.assert_allclose(context.state_flows(learner.flow)[-1], 1, rtol=1e-8)
    assert np.isfinite(learner.weights).all()


def test_a_memory_with_no_flow_to_divide_by_is_refused():
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    learner = BarrierSemiBandit(context, BOUND)
    memory = learner.choose(0).memory
    before = learner.digest()
    for flow in (0.0, -0.5):
        foreign = Memory(memory.edges, np.array([flow, *memory.numbers[1:]]))
        with pytest.raises(DamagedState):
            learner.learn(foreign, SemiBanditFeedback(np.zeros(3)))
    assert learner.digest() == before
