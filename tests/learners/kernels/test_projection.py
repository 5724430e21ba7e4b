"""The fast projection against its slow twin, and against the conditions that make it the projection."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.kernels import projection
from galloon.learners.paths.flow_projection import (
    ABSOLUTE_GOAL,
    FLOW_FLOOR,
    MOST_STEPS,
    RELATIVE_GOAL,
    _layout,
)
from tests.learners.automata.strategies import log_weights
from tests.learners.paths.subjects import CASES
from tests.reference.projection import project as slow_project


def layered(expert, reach):
    context = context_automaton(expert, reach)
    return context.padded() if isinstance(context, GraphContext) else context


def project(context, weights, potentials, relative_goal=RELATIVE_GOAL):
    flow, work = np.empty(context.transition_count), np.zeros(4, dtype=np.int64)
    goals = (ABSOLUTE_GOAL, relative_goal, FLOW_FLOOR, MOST_STEPS)
    converged = projection.project(weights, potentials, *_layout(context), *goals, flow, work)
    return flow, converged


@settings(deadline=None, max_examples=100)
@given(CASES, st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 3.0]))
def test_the_flow_is_that_of_the_slow_twin(case, seed, scale):
    context = layered(*case)
    weights = log_weights(seed, context.transition_count, scale)
    flow, converged = project(context, weights, np.zeros(context.state_count))
    assert converged
    np.testing.assert_allclose(flow, slow_project(weights, *context.source_targets()), rtol=0, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(CASES, st.integers(0, 2**32), st.sampled_from([1, 30, 300]))
def test_a_flow_of_exponential_form_is_the_projection(case, seed, scale):
    """Optimality: it is a flow, and ln flow - log weight is a difference of potentials. Weights to e**600."""
    context = layered(*case)
    weights = log_weights(seed, context.transition_count, scale)
    potentials = np.zeros(context.state_count)
    flow, converged = project(context, weights, potentials)
    assert converged
    sources, targets = context.source_targets()
    into, out = (np.bincount(ends, flow, context.state_count) for ends in (targets, sources))
    into[0], out[-1] = 1.0, 1.0
    assert np.abs(into - out).max() <= ABSOLUTE_GOAL
    seen = np.maximum(into, out) >= FLOW_FLOOR
    assert np.abs(np.log(into[seen] / out[seen])).max() <= RELATIVE_GOAL
    exponent = weights + potentials[targets] - potentials[sources]
    np.testing.assert_allclose(flow, np.exp(np.minimum(exponent, 1.0)), rtol=1e-9, atol=1e-300)


def test_both_layouts_agree():
    """Index arithmetic for ensembles and written-out ends: the same numbers, state by state."""
    arithmetic = context_automaton(Ensemble(3, 6), Reach(1, 3))
    layout = list(_layout(arithmetic))
    layout[4] = np.zeros_like(layout[4])  # as if nothing were known of the layers but their ends
    weights = log_weights(1, arithmetic.transition_count)
    flows = []
    for ends in (_layout(arithmetic), tuple(layout)):
        flow, potentials = np.empty(arithmetic.transition_count), np.zeros(arithmetic.state_count)
        work = np.zeros(4, dtype=np.int64)
        assert projection.project(weights, potentials, *ends, 1e-12, 1e-11, 1e-12, 200, flow, work)
        flows.append(flow)
    np.testing.assert_allclose(flows[0], flows[1], rtol=0, atol=1e-11)


def test_a_start_far_off_costs_steps_and_not_the_answer():
    context = context_automaton(Ensemble(2, 8), Reach(2, 2))
    weights = log_weights(4, context.transition_count)
    expected = slow_project(weights, *context.source_targets())
    for scale in (0.0, 1.0, 10.0, 100.0):
        potentials = log_weights(5, context.state_count, scale)
        potentials[-1] = 0.0  # the sink's
        flow, converged = project(context, weights, potentials)
        assert converged
        np.testing.assert_allclose(flow, expected, rtol=0, atol=1e-8)


def test_a_goal_out_of_reach_is_admitted():
    context = context_automaton(Ensemble(2, 6), Reach(2, 2))
    flow, work = np.empty(context.transition_count), np.zeros(4, dtype=np.int64)
    weights = log_weights(0, context.transition_count)
    potentials = np.zeros(context.state_count)
    assert not projection.project(weights, potentials, *_layout(context), 1e-9, 1e-6, 1e-12, 1, flow, work)
    assert work[1] == 1
    assert flow.sum() == pytest.approx(context.longest_path)
