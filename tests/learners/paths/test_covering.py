"""Covering paths: every transition of A' lies on one, and in an ensemble on exactly as many as the paper says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths.covering import cover
from tests.learners.automata.strategies import log_weights
from tests.learners.paths.subjects import CASES
from tests.reference.enumeration import Enumeration


def covered(expert, reach):
    context = context_automaton(expert, reach)
    covering = cover(context)
    return context, covering, [covering.path(number) for number in range(covering.count)]


@settings(deadline=None, max_examples=100)
@given(CASES)
def test_every_transition_is_covered_by_different_paths(case):
    context, covering, paths = covered(*case)
    assert len({tuple(path.tolist()) for path in paths}) == covering.count <= context.transition_count
    flows = np.zeros(context.transition_count)
    for path in paths:
        np.testing.assert_array_equal(context.context_path(context.expert_path(path)), path)
        flows[path] += 1 / covering.count
    assert flows.min() > 0
    np.testing.assert_allclose(covering.flows, flows, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(CASES)
def test_a_path_s_share_is_one_for_covering_paths_and_none_for_others(case):
    context, covering, paths = covered(*case)
    listed = {tuple(path.tolist()) for path in paths}
    for edges in Enumeration(context).context_paths:
        expected = (tuple(edges.tolist()) in listed) / covering.count
        assert covering.share(edges) == pytest.approx(expected, abs=1e-15)


@settings(deadline=None, max_examples=60)
@given(CASES, st.integers(0, 2**32))
def test_the_best_covering_path_is_the_best_of_them(case, seed):
    context, covering, paths = covered(*case)
    values = log_weights(seed, context.transition_count)
    best = covering.best(values)
    assert tuple(best.tolist()) in {tuple(path.tolist()) for path in paths}
    assert values[best].sum() == pytest.approx(max(values[path].sum() for path in paths), abs=1e-9)


@pytest.mark.parametrize(("experts", "slots"), [(1, 4), (2, 4), (2, 7), (3, 5)])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_in_an_ensemble_they_partition_the_transitions(experts, slots, length):
    """Appendix A: r^n paths, and each transition on exactly one of them."""
    context, covering, paths = covered(Ensemble(experts, slots), Reach(length, length))
    assert covering.count == experts**length
    assert sorted(np.concatenate(paths).tolist()) == list(range(context.transition_count))
