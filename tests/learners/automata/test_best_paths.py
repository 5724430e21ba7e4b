"""The k best paths are exact, in order, complete, and lazy."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.best_paths import best_paths
from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.best_onward import best_onward
from tests.learners.automata.strategies import ensembles, explicit_automata, log_weights, reaches
from tests.reference.path_law import path_law

experts = st.one_of(ensembles(), explicit_automata())


@settings(deadline=None, max_examples=100)
@given(experts, reaches(), st.integers(0, 2**32), st.booleans())
def test_all_paths_come_out_by_value(expert, reach, seed, ties):
    assume(not isinstance(expert, Ensemble) or reach.shortest <= expert.slots)
    context = context_automaton(expert, reach)
    values = log_weights(seed, context.transition_count)
    values = np.round(values) if ties else values
    law = path_law(*context.source_targets(), values)
    ranked = list(best_paths(context, values))
    assert {tuple(r.edges.tolist()) for r in ranked} == set(law.paths)
    assert len(ranked) == len(law.paths)
    assert [r.value for r in ranked] == pytest.approx(sorted(law.sums, reverse=True))
    for r in ranked:
        assert r.value == pytest.approx(values[r.edges].sum())


@settings(deadline=None, max_examples=40)
@given(explicit_automata(), reaches(), st.integers(0, 2**32))
def test_the_kernel_gives_the_best_sum_from_every_state(automaton, reach, seed):
    context = context_automaton(automaton, reach)
    values = log_weights(seed, context.transition_count)
    sources, targets = context.source_targets()
    onward = np.empty(context.state_count)
    best_onward(values, sources, targets, onward)

    def best(state):
        leaving = np.flatnonzero(sources == state)
        return max((values[e] + best(int(targets[e])) for e in leaving), default=0.0)

    assert onward.tolist() == pytest.approx([best(s) for s in range(context.state_count)])


def test_a_few_of_very_many_paths_cost_little():
    context = context_automaton(Ensemble(4, 40), Reach(3, 3))
    values = log_weights(7, context.transition_count)
    best = list(islice(best_paths(context, values), 50))
    assert best[0].value == pytest.approx(context.best_path(values)[1])
    assert len({tuple(r.edges.tolist()) for r in best}) == 50
    assert all(a.value >= b.value - 1e-9 for a, b in pairwise(best))


def test_closed_transitions_are_left_out():
    context = context_automaton(Ensemble(2, 2), Reach(1, 1))
    values = np.array([0.0, -np.inf, 1.0, 2.0])
    assert [r.edges.tolist() for r in best_paths(context, values)] == [[0, 3], [0, 2]]


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0, 0.0, np.nan], [0.0, 0.0, 0.0, np.inf]])
def test_values_that_have_no_order_are_refused(values):
    context = context_automaton(Ensemble(2, 2), Reach(1, 1))
    with pytest.raises(InvalidInput, match="best paths need 4 values"):
        best_paths(context, np.array(values))
