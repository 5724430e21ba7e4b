"""Scales are learned by AdaHedge: its bound, its start, its state."""

import numpy as np
import pytest

from galloon.learners.errors import DamagedState
from galloon.learners.lattices.scales import (
    ACOUSTIC,
    COUNT,
    FIRST_GAP,
    GRIDS,
    PLAIN,
    START,
    Scale,
    Scales,
    scaled_scores,
)
from galloon.learners.observation import ArcScores


def test_grids_are_alike_and_each_holds_the_engines_own_words_once():
    assert len(PLAIN) == len(ACOUSTIC) == COUNT
    for grid in GRIDS:
        assert grid.count(None) == 1
        assert grid[START] is not None
        assert len(set(grid)) == COUNT


@pytest.mark.parametrize("spread", [0.02, 0.3, 1.0])
def test_expected_losses_stay_within_the_bound_for_every_scale(spread):
    """Against losses of chance, and against ones that turn on whoever leads."""
    draws = np.random.default_rng(1)
    for adversarial in (False, True):
        scales, expected, losses = Scales(1), 0.0, np.zeros(COUNT)
        for _ in range(300):
            lost = draws.uniform(0.4, 0.4 + spread * 0.6, COUNT)
            weights = scales.weights(0, 1)
            if adversarial:
                lost = np.where(weights == weights.max(), spread, 0.0)
            expected += float(weights @ lost)
            losses += lost
            scales.learn(0, 1, lost.tolist())
            excess = expected - losses
            assert (excess <= [scales.bound(0, 1, scale) + 1e-9 for scale in range(COUNT)]).all()


def test_the_start_is_left_when_another_scale_is_better_and_not_before():
    scales = Scales(2)
    assert scales.best(1, 0) == START
    losses = [0.5] * COUNT
    losses[3] = 0.4
    for rounds in range(40):
        if rounds == 5:
            assert scales.best(1, 0) == START
        scales.learn(1, 0, losses)
    assert scales.best(1, 0) == 3
    assert scales.best(0, 0) == scales.best(1, 1) == START, "others have learned nothing"


def test_the_state_is_whole_and_damage_is_refused():
    scales = Scales(2)
    assert scales.arrays() == {}
    scales.learn(0, 1, [0.1 * number for number in range(COUNT)])
    again = Scales(2)
    again.restore(scales.arrays())
    np.testing.assert_array_equal(again.weights(0, 1), scales.weights(0, 1))
    for wrong in (
        {"scales.losses": -scales.arrays()["scales.losses"]},
        {"scales.gaps": np.full((2, len(GRIDS)), FIRST_GAP / 2)},
        {"scales.gaps": np.full((2, len(GRIDS)), np.nan)},
        {"scales.losses": np.zeros((1, len(GRIDS), COUNT))},
    ):
        with pytest.raises(DamagedState):
            Scales(2).restore({**scales.arrays(), **wrong})


def test_scores_are_taken_apart_and_put_together_again():
    language, acoustic = np.array([-1.0, -2.0]), np.array([-10.0, -30.0])
    spoken = np.array([True, False])
    for acoustic_scale, language_scale in ((1.0, 12.0), (0.1, 1.0)):
        written = acoustic_scale * acoustic + language_scale * language
        parts = ArcScores(acoustic, acoustic_scale=acoustic_scale, language_scale=language_scale)
        found = scaled_scores(Scale(2.0, 0.05, -1.0), written, parts, spoken)
        np.testing.assert_allclose(found, 2.0 * (language + 0.05 * acoustic - [1.0, 0.0]))
    # Scales of zero and less are no scales; they are not divided by.
    odd = ArcScores(acoustic, acoustic_scale=-1.0, language_scale=0.0)
    assert np.isfinite(scaled_scores(Scale(1.0, 0.1, 0.0), language, odd, spoken)).all()
