"""The theorems as functions: known values, and relations between them."""

import math

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths import bounds
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.component_hedge import ComponentHedge

EXPERTS, SLOTS, ORDER, ROUNDS = 3, 7, 2, 1000


def _learner(name, **making):
    return make_learner(name, Ensemble(EXPERTS, SLOTS), Reach(ORDER, ORDER), Making(2.0, 12.0, **making))


def test_component_hedge_of_an_ensemble_is_the_paper_s_first_term():
    """Divergence from the even start is (l - n + 1) n ln r, so the bound is the theorem's square root."""
    learner = _learner("component_hedge", horizon=ROUNDS)
    assert isinstance(learner, ComponentHedge)
    length = SLOTS - ORDER + 1
    assert learner.divergence == pytest.approx(length * ORDER * math.log(EXPERTS))
    ours = bounds.component_hedge(ROUNDS, length, 2.0, learner.divergence)
    paper = bounds.component_hedge_ensemble(ROUNDS, EXPERTS, SLOTS, ORDER, 2.0)
    assert ours == pytest.approx(paper - 2.0 * learner.divergence)
    general = bounds.component_hedge_paper(ROUNDS, length, EXPERTS**ORDER * length, 2.0)
    assert paper < general


@pytest.mark.parametrize("slots", [4, 7, 8, 9, 20])
def test_expanded_hedge_has_the_better_bound_exactly_when_slots_are_few(slots):
    """U sqrt(T l ln r / 2) < B sqrt(2 T K D) iff l < 4 n."""
    length = slots - ORDER + 1
    log_paths = slots * math.log(EXPERTS)
    hedge = bounds.expanded_hedge(ROUNDS, log_paths, float(length))
    components = bounds.component_hedge(ROUNDS, length, 1.0, length * ORDER * math.log(EXPERTS))
    assert (hedge < components) == (slots < 4 * ORDER)


def test_com_band_needs_no_eigenvalue():
    """The walk's bound is the paper's with the bracket 2 in place of 3."""
    m = EXPERTS**ORDER * (SLOTS - ORDER + 1)
    walk = bounds.com_band(ROUNDS, m, SLOTS * math.log(EXPERTS), 6.0)
    paper = bounds.com_band_ensemble(ROUNDS, EXPERTS, SLOTS, ORDER, 6.0)
    assert paper / walk == pytest.approx(math.sqrt(3 / 2))


def test_smallest_eigenvalue_of_an_ensemble_is_one_over_r_to_the_n():
    """What makes the bracket of corollary 9 equal to 3, checked by building the matrix."""
    context = context_automaton(Ensemble(2, 4), Reach(2, 2))
    paths = np.zeros((16, context.transition_count))
    for row, path in enumerate(Ensemble(2, 4).paths()):
        paths[row, context.context_path(np.array(path, dtype=np.int32))] = 1.0
    values = np.linalg.eigvalsh(paths.T @ paths / 16)
    assert min(v for v in values if v > 1e-9) == pytest.approx(2.0**-2)


def test_semi_bandit_corollary_is_its_theorem():
    general = bounds.semi_bandit(ROUNDS, 6, 54, 9, 7 * math.log(3), 1.5, 0.05)
    assert bounds.semi_bandit_ensemble(ROUNDS, 3, 7, 2, 1.5, 0.05) == pytest.approx(general)
    assert bounds.semi_bandit_least_rounds(6, 54, 9, 7 * math.log(3), 0.05) == pytest.approx(
        36 * 7 * math.log(3)
    )


def test_exp3_is_never_worse_than_losing_everything():
    assert bounds.exp3_paths(10, 500.0, 3.0) == 30.0
    assert bounds.exp3_paths(10**6, math.log(4), 1.0) == pytest.approx(math.sqrt(8e6 * math.log(4)))
    assert bounds.exp3_lower_bound(100, math.log(4), 1.0) == pytest.approx(1.0)
