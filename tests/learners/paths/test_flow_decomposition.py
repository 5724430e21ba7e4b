"""The walk on Component Hedge's flow and the paper's decomposition of the flow into paths have equal marginals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths.component_hedge import ComponentHedge
from tests.learners.automata.strategies import log_weights
from tests.learners.paths.subjects import CASES, play
from tests.reference.decomposition import decompose


def mixture_of(context, flow):
    """Paths and their weights."""
    found = decompose(flow, *context.source_targets())
    return [np.array(path) for path, _ in found], np.array([weight for _, weight in found])


def marginals(paths, weights, transitions):
    flow = np.zeros(transitions)
    for path, weight in zip(paths, weights, strict=True):
        flow[path] += weight
    return flow


@settings(deadline=None, max_examples=60)
@given(CASES, st.integers(0, 2**32), st.floats(0.0, 30.0))
def test_the_mixture_of_paths_is_the_flow_again(case, seed, scale):
    context = context_automaton(*case)
    flow = context.push(log_weights(seed, context.transition_count, scale)).flows
    paths, weights = mixture_of(context, flow)
    assert len(paths) <= context.transition_count
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(marginals(paths, weights, flow.size), flow, rtol=0, atol=1e-12)


def test_component_hedge_may_draw_from_either_with_the_same_marginals():
    """Thousands of draws of the walk, transition by transition, against the weights of the decomposition."""
    context = context_automaton(Ensemble(3, 6), Reach(2, 2))
    learner = ComponentHedge(context, 0.7, learning_rate=1.0, seed=1)
    play(learner, 10, np.random.default_rng(0))
    expected = marginals(*mixture_of(context, learner.flow), learner.flow.size)
    np.testing.assert_allclose(expected, learner.flow, rtol=0, atol=1e-8)
    draws, counts = 4000, np.zeros(context.transition_count)
    for number in range(draws):
        counts[learner.choose(number).memory.edges] += 1
    spread = np.sqrt(draws * expected * (1 - expected))
    limit = stats.norm.isf(1e-4 / counts.size)  # over all comparisons together a chance of 1e-4
    assert np.all(np.abs(counts - draws * expected) <= limit * spread + 1)


def test_the_paper_s_largest_weight_would_leave_a_negative_flow():
    """Erratum 3: with flows 0.5, 0.5 then 0.7, 0.3 the largest weight on a path is more than another carries."""
    context = context_automaton(Ensemble(2, 2), Reach(1, 1))
    flow = np.array([0.5, 0.5, 0.7, 0.3])
    first = mixture_of(context, flow)[0][0]
    assert (flow[first] - flow[first].max()).min() < 0
    assert (flow[first] - flow[first].min()).min() == 0
