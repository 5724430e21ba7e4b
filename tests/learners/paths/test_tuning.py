"""Learning rates are the theorems' where the horizon is known, and cost a factor of sqrt(2) where it is not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.expanded_hedge import ExpandedHedge, log_count
from galloon.learners.paths.perturbed_leader import PerturbedLeader
from galloon.learners.paths.tuning import Rate

POSITIVE = st.floats(1e-6, 1e6)


@settings(deadline=None)
@given(POSITIVE, POSITIVE, st.integers(1, 10**9))
def test_a_known_horizon_balances_both_terms_of_the_bound(complexity, roughness, horizon):
    """A / eta + C eta T is least, 2 sqrt(A C T), where the terms are equal."""
    eta = Rate(complexity, roughness, horizon).at(0)
    assert complexity / eta == pytest.approx(roughness * eta * horizon)
    assert eta == Rate(complexity, roughness, horizon).at(horizon)


@settings(deadline=None, max_examples=50)
@given(POSITIVE, POSITIVE, st.integers(1, 3000), st.booleans())
def test_the_price_of_an_unknown_horizon(complexity, roughness, horizon, doubling):
    """A / eta_T + C (sum of eta_t) stays below the price times the best that a known horizon could do."""
    rate = Rate(complexity, roughness, doubling=doubling)
    assert not rate.is_constant
    etas = [rate.at(t) for t in range(horizon)]
    assert etas == sorted(etas, reverse=True)
    regret = complexity / etas[-1] + roughness * math.fsum(etas)
    assert regret <= rate.price * 2 * math.sqrt(complexity * roughness * horizon) * (1 + 1e-9)


def test_the_price_is_not_more_than_it_must_be():
    assert Rate(1.0, 1.0, horizon=5).price == Rate(1.0, 1.0, fixed=5).price == 1
    for doubling, horizon in ((False, 10**5), (True, 2**17)):
        rate = Rate(1.0, 1.0, doubling=doubling)
        regret = 1 / rate.at(horizon - 1) + math.fsum(rate.at(t) for t in range(horizon))
        assert regret == pytest.approx(rate.price * 2 * math.sqrt(horizon), rel=0.01)


@settings(deadline=None, max_examples=50)
@given(POSITIVE, POSITIVE, st.integers(0, 10**6))
def test_doubling_holds_the_rate_of_the_epoch_s_first_round(complexity, roughness, rounds):
    rate = Rate(complexity, roughness, doubling=True)
    epoch = 2 ** int(math.log2(rounds + 1))
    assert rate.at(rounds) == Rate(complexity, roughness).at(epoch - 1)


def test_a_fixed_rate_overrides_the_rest():
    rate = Rate(1.0, 1.0, horizon=100, fixed=0.25)
    assert rate.is_constant
    assert [rate.at(t) for t in (0, 5, 1000)] == [0.25] * 3


def test_a_single_expert_still_has_a_positive_rate():
    assert Rate(0.0, 1.0).at(0) > 0
    assert Rate(0.0, 1.0, horizon=10).at(0) > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"roughness": 0.0},
        {"roughness": math.nan},
        {"complexity": -1.0},
        {"horizon": -1},
        {"fixed": -0.1},
        {"fixed": math.inf},
    ],
)
def test_senseless_numbers_are_refused(wrong):
    with pytest.raises(InvalidInput, match="learning rate"):
        Rate(**({"complexity": 1.0, "roughness": 1.0} | wrong))


def test_each_learner_s_rate_is_its_theorem_s():
    """r = 3 experts, l = 6 slots, bigrams; B bounds a transition, U = K B a path."""
    r, l, n, b, t = 3, 6, 2, 0.7, 1000
    context = context_automaton(Ensemble(r, l), Reach(n, n))
    k, m, log_paths = l - n + 1, r**n * (l - n + 1), l * np.log(r)
    u = k * b
    expected = {
        ExpandedHedge: np.sqrt(8 * log_paths / t) / u,
        ComponentHedge: np.sqrt(2 * (k * n * np.log(r)) / (k * t)) / b,
        PerturbedLeader: np.sqrt(k * (1 + np.log(m / k)) / t) / u,
        ComBand: np.sqrt(log_paths / (2 * u**2 * m * t)),
    }
    for learner, rate in expected.items():
        assert learner(context, b, horizon=t).learning_rate == pytest.approx(rate), learner.name
    exp3 = Exp3Paths(Ensemble(r, l), u, horizon=t)
    assert exp3.learning_rate == pytest.approx(np.sqrt(2 * log_paths / (r**l * t)) / u)


@settings(deadline=None)
@given(st.integers(1, 10**400))
def test_the_logarithm_of_a_count_of_any_size(count):
    assert log_count(count) == pytest.approx(math.log(count), rel=1e-14, abs=1e-14)
