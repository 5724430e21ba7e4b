"""The centre of the unit flows: every path has the same sum of 1 / flow on it, the number of transitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.kernels import barrier
from galloon.learners.paths.centre_flow import centre_flow, even_flow
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.protocol import BanditFeedback
from tests.learners.paths.subjects import CASES


def beside(slots, experts):
    """An ensemble, and one transition beside it all the way: what even exploration starves."""
    sources = [*np.repeat(np.arange(slots), experts), 0]
    targets = [*np.repeat(np.arange(slots) + 1, experts), slots]
    names = tuple(f"e{i}" for i in range(len(sources)))
    ends = (np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32))
    return ExplicitAutomaton(slots + 1, 0, (slots,), *ends, names)


def lattice(states, extra, seed):
    """A chain with transitions that skip some of it, as lattices of speech have them."""
    rng = np.random.default_rng(seed)
    sources = rng.integers(0, states - 1, extra)
    targets = np.minimum(sources + rng.geometric(0.4, extra), states - 1)
    ends = (
        np.concatenate([np.arange(states - 1), sources]).astype(np.int32),
        np.concatenate([np.arange(1, states), targets]).astype(np.int32),
    )
    return ExplicitAutomaton(states, 0, (states - 1,), *ends, tuple(f"e{i}" for i in range(ends[0].size)))


def check_centre(context):
    flow, m = centre_flow(context), context.transition_count
    through = context.state_flows(flow)
    sources, _ = context.source_targets()
    leaving = np.bincount(sources, weights=flow, minlength=context.state_count)
    np.testing.assert_allclose(leaving[:-1], through[:-1], rtol=1e-12)
    assert context.best_path(1 / flow)[1] == pytest.approx(m, rel=1e-7)
    assert context.best_path(-1 / flow)[1] == pytest.approx(-m, rel=1e-7)
    even = even_flow(context)
    assert np.log(flow).sum() >= np.log(even).sum() - 1e-7 * m


@settings(deadline=None, max_examples=60, derandomize=True, database=None)
@given(CASES, st.booleans())
def test_every_path_has_the_same_sum_on_random_graphs(case, padded):
    expert, reach = case
    assume(expert.path_count <= 200)
    context = context_automaton(expert, reach)
    if padded and not isinstance(expert, Ensemble):
        context = context.padded()
    check_centre(context)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reach", [Reach(1, 1), Reach(2, 2), Reach(1, 3)])
def test_every_path_has_the_same_sum_on_lattices(seed, reach):
    context = context_automaton(lattice(40, 80, seed), reach)
    check_centre(context)
    assert context.best_path(1 / even_flow(context))[1] > 3 * context.transition_count


def test_on_an_ensemble_the_centre_is_even():
    context = context_automaton(Ensemble(3, 5), Reach(2, 2))
    np.testing.assert_array_equal(centre_flow(context), even_flow(context))
    written_out = context_automaton(Ensemble(3, 5).explicit(), Reach(2, 2))
    np.testing.assert_allclose(centre_flow(written_out), even_flow(written_out), rtol=1e-8)


def test_the_sum_telescopes_before_the_goal_is_reached():
    """Whatever the potentials, slacks sum to the initial one's: the property does not rest on convergence."""
    context = context_automaton(lattice(20, 30, 1), Reach(1, 1))
    potentials = np.empty(context.state_count)
    costs, weights = np.zeros(context.transition_count), np.ones(context.transition_count)
    barrier.start(context.first, context.targets, costs, 2.0, potentials)
    slacks = potentials[context.sources] - potentials[context.targets]
    assert (slacks >= 2.0).all()
    assert context.best_path(slacks)[1] == pytest.approx(potentials[0])
    flow = np.empty(context.transition_count)
    assert barrier.solve(context.first, context.targets, costs, weights, 1e-9, 1, potentials, flow) == -1


def test_component_hedge_starts_nearer_to_every_path():
    """D <= K ln(M / K), and far below that of the even start."""
    context = context_automaton(beside(20, 2), Reach(1, 1)).padded()
    centre, even = ComponentHedge(context, 1.0, start="centre"), ComponentHedge(context, 1.0)
    k, m = context.longest_path, context.transition_count
    assert centre.divergence <= k * np.log(m / k) * (1 + 1e-9)
    assert even.divergence > 10 * centre.divergence


def rare_game(exploration, slots, experts, rounds, seed=0):
    """The path beside the slots alone pays; the learner, and its regret in expectation over each round's draw."""
    context = context_automaton(beside(slots, experts), Reach(1, 1))
    learner = ComBand(context, 1.0 / slots, horizon=rounds, exploration=exploration, seed=seed)
    rare = int(context.best_path(-np.ones(context.transition_count))[0][0])
    regret = 0.0
    for number in range(rounds):
        regret += learner.path_bound * (1 - float(learner.marginals()[rare]))
        memory = learner.choose(number).memory
        learner.learn(memory, BanditFeedback(learner.path_bound if rare in memory.edges else 0.0))
    return learner, regret


def test_cdcb_that_starves_a_transition_prints_no_bound():
    """Even exploration plays the path that pays once in half a million rounds: regret grows with every round."""
    learner, regret = rare_game("even", 12, 3, 500)
    assert learner.promise().words.startswith("none: even exploration leaves transitions of A' too rare")
    assert regret > 499


@pytest.mark.parametrize(
    ("slots", "experts", "rounds", "theorem"), [(12, 3, 20_000, 8_834), (20, 2, 100_000, 21_324)]
)
def test_cdcb_that_explores_the_centre_stays_below_its_bound(slots, experts, rounds, theorem):
    """Even exploration regrets every one of these rounds, far above what its bound would be."""
    learner, regret = rare_game("centre", slots, experts, rounds)
    bound = learner.promise().bound
    paths = experts**slots + 1
    assert bound == pytest.approx(2 * np.sqrt(2 * rounds * (slots * experts + 1) * np.log(paths)))
    assert bound == pytest.approx(theorem, abs=1)
    assert regret < bound
