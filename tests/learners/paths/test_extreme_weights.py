"""Weights hundreds of orders of magnitude apart on 3^40 paths and more: finite, and right by exact arithmetic."""

from decimal import Decimal

import numpy as np
import pytest

from galloon.learners import state
from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.expanded_hedge import ExpandedHedge
from galloon.learners.paths.perturbed_leader import PerturbedLeader
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback
from galloon.learners.paths.semi_bandit import SemiBandit
from tests.learners.paths.subjects import KINDS, Subject, play
from tests.reference.exact_push import exact_push

EXPERT = Ensemble(3, 40)
CONTEXTS = {
    "ensemble": context_automaton(EXPERT, Reach(2, 2)),
    "written out": context_automaton(EXPERT.explicit(), Reach(2, 2)),
}
SCALES = [1.0, 100.0, 1e4, 1e6]  # of log weights: the last spans far more than e**1e6 between paths


def with_scores(learner, scores):
    """The learner after rounds that left these scores."""
    found = state.unpack(learner.to_bytes(), learner.name, 1)
    learner.restore(state.pack(learner.name, 1, found.meta, {**found.arrays, "scores": scores}))
    return learner


def some_paths(rng, count=20):
    return [(np.arange(40) * 3 + rng.integers(0, 3, 40)).astype(np.int32) for _ in range(count)]


def assert_like_exact(learner, context, log_weights):
    """Total, flows and probabilities of paths against decimals."""
    log_total, flows = exact_push(log_weights, *context.source_targets())
    pushed = context.push(log_weights)
    assert pushed.log_total == pytest.approx(float(log_total), rel=1e-12)
    # Exponents are rounded to their last bit, so a flow is as good as that many bits of the largest exponent.
    slack = 1e-13 * (1 + np.abs(log_weights).max() * context.longest_path)
    np.testing.assert_allclose(pushed.flows, [float(flow) for flow in flows], rtol=slack, atol=1e-300)
    if learner is not None:
        for path in some_paths(np.random.default_rng(5)):
            edges = context.context_path(path)
            exact = sum(Decimal(float(w)) for w in log_weights[edges]) - log_total
            assert learner.log_probability(path) == pytest.approx(float(exact), rel=1e-9, abs=slack)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CONTEXTS)
def test_expanded_hedge(name, scale):
    context = CONTEXTS[name]
    learner = ExpandedHedge(context, 1.0, learning_rate=1.0)
    scores = np.random.default_rng(0).random(context.transition_count) * scale
    with_scores(learner, scores)
    assert_like_exact(learner, context, scores)
    choice = learner.choose(0)
    assert np.isfinite(choice.log_probability)
    best = learner.log_probability(learner.choose_best().path)
    assert all(learner.log_probability(path) <= best for path in some_paths(np.random.default_rng(1)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("kind", ["semi_bandit", "com_band"])
def test_bandit_learners(kind, name, scale):
    """The learned part is exact, and exploration keeps every transition's flow far from nothing."""
    context = CONTEXTS[name]
    if kind == "semi_bandit":
        learner = SemiBandit(context, 1.0, learning_rate=1e-4, bias="none")
        rate, floor = 1e-4, learner.exploration * learner.covering.flows.min()
    else:
        learner = ComBand(context, 1.0, learning_rate=1e-6)
        rate, floor = learner.learning_rate, learner.exploration / 9
    scores = np.random.default_rng(0).random(context.transition_count) * scale / rate
    with_scores(learner, scores)
    assert_like_exact(None, context, rate * scores)
    assert learner.marginals().min() >= floor * (1 - 1e-9)
    play(learner, 5, np.random.default_rng(1))
    assert np.isfinite(learner.marginals()).all()
    assert np.isfinite(learner.scores).all()
    assert np.isfinite(learner.log_probability(learner.choose_best().path))


@pytest.mark.parametrize("name", CONTEXTS)
def test_component_hedge(name):
    """Gains that drive transitions e**1000 apart, and paths much further: every flow is accepted."""
    context = CONTEXTS[name]
    learner = ComponentHedge(context, 1.0, learning_rate=100.0)
    rng = np.random.default_rng(0)
    for number in range(60):
        gains = rng.random(context.transition_count)
        learner.learn(learner.choose(number).memory, FullFeedback(gains))
        assert learner.work.converged
    assert np.ptp(learner.learning_rate * learner.scores) > 1000
    assert np.isfinite(learner.flow).all()
    assert learner.log_probability(learner.choose_best().path) <= 0
    sources, _ = context.source_targets()
    assert np.bincount(sources, learner.flow)[0] == pytest.approx(1, abs=1e-9)


def test_perturbed_leader():
    context = CONTEXTS["ensemble"]
    learner = PerturbedLeader(context, 1.0, learning_rate=1e6, draws=10)
    scores = np.random.default_rng(0).random(context.transition_count) * 1e6
    with_scores(learner, scores)
    assert learner.choose(0).path.tolist() == learner.choose_best().path.tolist()


def test_exp3_paths():
    """Of 3^40 paths those played have lost about 3^40 each; the law is a sum over them in decimals."""
    learner = Exp3Paths(EXPERT, 1.0, learning_rate=1e-17)
    losses: dict[tuple[int, ...], Decimal] = {}
    rng = np.random.default_rng(0)
    for number in range(60):
        choice = learner.choose(number)
        gain = float(rng.random())
        learner.learn(choice.memory, BanditFeedback(gain))
        key = tuple(choice.path.tolist())
        increment = (1 - Decimal(gain)) * (-Decimal(choice.log_probability)).exp()
        losses[key] = losses.get(key, Decimal(0)) + increment
    for in_use in (1e-17, 1e-20):  # at the second rate, hardly any weight is lost
        rate = Decimal(in_use)
        learner._rate_in_use = in_use
        learner._rebuild()
        weights = {path: (-rate * loss).exp() for path, loss in losses.items()}
        total = 3**40 - len(losses) + sum(weights.values())
        for path, weight in weights.items():
            exact = float(weight.ln() - total.ln())
            assert learner.log_probability(np.array(path, dtype=np.int32)) == pytest.approx(exact, rel=1e-12)
        fresh = next(path for path in some_paths(rng) if tuple(path.tolist()) not in losses)
        assert learner.log_probability(fresh) == pytest.approx(float(-total.ln()), rel=1e-14)
    flows = learner.marginals().reshape(40, 3)
    np.testing.assert_allclose(flows, 1 / 3, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_more_paths_than_floats_can_count(kind):
    """3^1000 paths: e**1098. Probabilities are logarithms, so nothing is lost."""
    subject = Subject(kind, Ensemble(3, 1000), Reach(1, 1))
    learner = subject.build()
    play(learner, 3, np.random.default_rng(0))
    choice = learner.choose(3)
    assert choice.path.size == 1000
    if kind != "perturbed_leader":
        # A rate by the measured gap has learned more in three rounds; floats end at e**-708.
        assert -1200 < choice.log_probability < (-708 if subject.order_matters else -900)
    np.testing.assert_allclose(learner.marginals().reshape(1000, 3).sum(axis=1), 1.0, rtol=1e-9)
    copy = subject.build()
    copy.restore(learner.to_bytes())
    assert copy.choose(4).path.tolist() == learner.choose(4).path.tolist()
