"""Another lattice in each round: the loss and its gradient against enumeration, and the bound for any weights."""

import numpy as np
import pytest

from galloon.learners.errors import InvalidInput
from galloon.learners.paths.beyond.feature_learner import FeatureLattice, FeatureLearner, margin_loss
from galloon.learners.paths.beyond.games import _lattice

FEATURES = 6


def walked(lattice):
    """Every path, as transitions."""
    ahead, found = [(0, ())], []
    while ahead:
        state, path = ahead.pop()
        if state == lattice.first.size - 2:
            found.append(list(path))
            continue
        leaving = range(lattice.first[state], lattice.first[state + 1])
        ahead += [(int(lattice.targets[edge]), (*path, edge)) for edge in leaving]
    return found


def dealt(random):
    lattice, _ = _lattice(random)
    return lattice, random.random(lattice.targets.size)


def test_the_loss_is_that_of_a_sum_over_paths_and_at_least_what_is_missed():
    random = np.random.default_rng(3)
    for _ in range(30):
        lattice, gains = dealt(random)
        weights = random.normal(size=FEATURES)
        scores = np.array([lattice.scores(weights)[path].sum() for path in walked(lattice)])
        worth = np.array([gains[path].sum() for path in walked(lattice)])
        best, most = lattice.best_path(gains)
        assert most == pytest.approx(worth.max())
        expected = np.log(np.exp(scores + most - worth).sum()) - lattice.scores(weights)[best].sum()
        loss, _ = margin_loss(lattice, gains, weights, best, most)
        assert loss == pytest.approx(expected)
        law = np.exp(scores) / np.exp(scores).sum()
        assert loss >= most - law @ worth - 1e-12


def test_the_gradient_is_that_of_differences():
    random = np.random.default_rng(4)
    lattice, gains = dealt(random)
    weights, (best, most) = random.normal(size=FEATURES), lattice.best_path(gains)
    _, gradient = margin_loss(lattice, gains, weights, best, most)
    for feature in range(FEATURES):
        step = np.zeros(FEATURES)
        step[feature] = 1e-6
        up, down = (margin_loss(lattice, gains, weights + sign * step, best, most)[0] for sign in (1, -1))
        assert gradient[feature] == pytest.approx((up - down) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_missed_is_below_the_bound_of_any_weights(seed):
    random = np.random.default_rng(seed)
    learner, missed, rounds = FeatureLearner(FEATURES), 0.0, []
    for _ in range(60):
        lattice, gains = dealt(random)
        rounds.append((lattice, gains))
        missed += learner.learn(lattice, gains)
    assert missed <= learner.lost + 1e-9
    for scale in (0.0, 0.3, 1.0, 3.0):
        other = scale * random.normal(size=FEATURES)
        loss = sum(
            margin_loss(lattice, gains, other, *lattice.best_path(gains))[0] for lattice, gains in rounds
        )
        assert learner.lost <= learner.bound(loss, other) + 1e-9


def test_an_engine_that_is_better_is_learned():
    random, learner, missed = np.random.default_rng(5), FeatureLearner(FEATURES), []
    for _ in range(300):
        lattice, _ = _lattice(random)
        gains = (
            random.random(lattice.targets.size) < np.array([0.9, 0.4, 0.3])[lattice.features[:, 0]]
        ) * 1.0
        missed.append(learner.learn(lattice, gains))
    assert np.argmax(learner.weights[:3]) == 0
    assert sum(missed[-100:]) < 0.6 * sum(missed[:50]) * 2


def test_a_lattice_that_leads_backwards_is_refused():
    with pytest.raises(InvalidInput, match="lead upwards"):
        FeatureLattice(
            np.array([0, 1, 2, 2]), np.array([1, 1], dtype=np.int32), np.zeros((2, 1), dtype=np.int32)
        )
    with pytest.raises(InvalidInput, match="needs its features"):
        FeatureLattice(np.array([0, 1, 1]), np.array([1], dtype=np.int32), np.zeros((2, 1), dtype=np.int32))
