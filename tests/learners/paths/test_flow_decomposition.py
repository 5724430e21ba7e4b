"""A unit flow comes apart into at most M weighted paths, and their mixture is the flow again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.flow_decomposition import decompose
from tests.learners.automata.strategies import explicit_automata, log_weights
from tests.learners.paths.subjects import CASES, play
from tests.reference.decomposition import decompose as slow_decompose


@settings(deadline=None, max_examples=100)
@given(CASES, st.integers(0, 2**32), st.floats(0.0, 30.0))
def test_the_mixture_is_the_flow_again(case, seed, scale):
    context = context_automaton(*case)
    flow = context.push(log_weights(seed, context.transition_count, scale)).flows
    mixture = decompose(context, flow)
    assert len(mixture.paths) <= context.transition_count
    assert len({tuple(path.tolist()) for path in mixture.paths}) == len(mixture.paths)
    assert mixture.weights.min() > 0
    assert mixture.weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(mixture.marginals(flow.size), flow, rtol=0, atol=1e-12)
    for path in mixture.paths:  # paths of A' they are
        np.testing.assert_array_equal(context.context_path(context.expert_path(path)), path)


@settings(deadline=None, max_examples=60)
@given(explicit_automata(), st.integers(0, 2**32))
def test_the_kernel_does_what_its_slow_twin_does(expert, seed):
    context = context_automaton(expert, Reach(1, 1))
    flow = context.push(log_weights(seed, context.transition_count)).flows
    mixture = decompose(context, flow)
    expected = slow_decompose(flow, *context.source_targets())
    assert [path.tolist() for path in mixture.paths] == [path for path, _ in expected]
    np.testing.assert_allclose(mixture.weights, [weight for _, weight in expected], rtol=0, atol=1e-12)


def test_component_hedge_may_draw_from_either_with_the_same_marginals():
    """The walk on the flow and the decomposition: thousands of draws of each, transition by transition."""
    context = context_automaton(Ensemble(3, 6), Reach(2, 2))
    learner = ComponentHedge(context, 0.7, learning_rate=1.0, seed=1)
    play(learner, 10, np.random.default_rng(0))
    mixture = decompose(context, learner.flow)
    np.testing.assert_allclose(mixture.marginals(learner.flow.size), learner.flow, rtol=0, atol=1e-8)
    rng = np.random.default_rng(1)
    draws = 4000
    counts = np.zeros((2, context.transition_count))
    for number in range(draws):
        counts[0, learner.choose(number).memory.edges] += 1
        counts[1, mixture.sample(rng.random())] += 1
    spread = np.sqrt(draws * learner.flow * (1 - learner.flow))
    limit = stats.norm.isf(1e-4 / counts.size)  # over all comparisons together a chance of 1e-4
    assert np.all(np.abs(counts - draws * learner.flow) <= limit * spread + 1)


def test_every_uniform_number_falls_on_a_path():
    context = context_automaton(Ensemble(2, 3), Reach(1, 1))
    mixture = decompose(context, np.full(6, 0.5))
    assert [mixture.sample(u).tolist() for u in (0.0, 0.49, 0.5, np.nextafter(1, 0))] == [
        path.tolist() for path in (mixture.paths[0], mixture.paths[0], mixture.paths[-1], mixture.paths[-1])
    ]


def test_the_paper_s_largest_weight_would_leave_a_negative_flow():
    """Erratum 3: with flows 0.5, 0.5 then 0.7, 0.3 the largest weight on a path is more than another carries."""
    context = context_automaton(Ensemble(2, 2), Reach(1, 1))
    flow = np.array([0.5, 0.5, 0.7, 0.3])
    first = decompose(context, flow).paths[0]
    assert (flow[first] - flow[first].max()).min() < 0
    assert (flow[first] - flow[first].min()).min() == 0


def test_what_is_no_flow_is_refused():
    context = context_automaton(Ensemble(2, 2), Reach(1, 1))
    for wrong, why in (
        ([0.5, 0.5, 0.7, 0.7], "off by"),
        ([0.5, 0.4, 0.5, 0.4], "off by"),
        ([1.5, -0.5, 0.5, 0.5], "at least 0"),
        ([0.5, 0.5, np.nan, 0.5], "at least 0"),
        ([0.5, 0.5], "4 transitions"),
    ):
        with pytest.raises(InvalidInput, match=why):
            decompose(context, np.array(wrong))
