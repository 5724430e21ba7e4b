"""Draws are a function of seed and round, and look like independent uniform numbers from every side."""

import numpy as np
import pytest
from scipy import stats

from galloon.learners.paths.draws import exponentials, uniforms

GOLDEN = [
    [0.33805245419550545, 0.2691302712263999, 0.2715666096967839],
    [0.4327449275927212, 0.4256321780286294, 0.5396686375601871],
    [0.11260056966858045, 0.45344829442480483, 0.07408767740224598],
    [0.9620125703675049, 0.05502871049069347, 0.2311638684851255],
]
LEAST = 1e-4  # a p-value below this, with these fixed seeds, would mean a fault and not bad luck


def test_the_same_round_draws_the_same():
    np.testing.assert_array_equal(uniforms(5, 7, 10), uniforms(5, 7, 10))
    np.testing.assert_array_equal(uniforms(5, 7, 20)[:10], uniforms(5, 7, 10))
    assert not np.array_equal(uniforms(5, 7, 10), uniforms(5, 8, 10))
    assert not np.array_equal(uniforms(5, 7, 10), uniforms(6, 7, 10))


def test_the_numbers_never_change():
    """States replay with these draws: other numbers would be another history."""
    assert uniforms(0, 0, 3).tolist() == GOLDEN[0]
    assert uniforms(1, 0, 3).tolist() == GOLDEN[1]
    assert uniforms(0, 1, 3).tolist() == GOLDEN[2]
    assert uniforms(2**64 - 1, 2**63, 3).tolist() == GOLDEN[3]


def test_they_lie_in_the_half_open_unit_interval():
    numbers = np.concatenate([uniforms(1, number, 1000) for number in range(200)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.isfinite(exponentials(1, 0, 1000)).all()


@pytest.mark.parametrize("place", [0, 1, 5])
def test_one_place_over_many_rounds_is_uniform(place):
    numbers = np.array([uniforms(42, number, 6)[place] for number in range(5000)])
    assert stats.kstest(numbers, "uniform").pvalue > LEAST


@pytest.mark.parametrize("place", [0, 1])
def test_one_place_over_many_seeds_is_uniform(place):
    numbers = np.array([uniforms(seed, 3, 2)[place] for seed in range(5000)])
    assert stats.kstest(numbers, "uniform").pvalue > LEAST


def test_one_long_round_is_uniform():
    assert stats.kstest(uniforms(9, 9, 20_000), "uniform").pvalue > LEAST


def pairs(step):
    """Pairs of numbers that neighbour each other in one way."""
    match step:
        case "round":
            return [(uniforms(3, t, 1)[0], uniforms(3, t + 1, 1)[0]) for t in range(0, 8000, 2)]
        case "seed":
            return [(uniforms(s, 3, 1)[0], uniforms(s + 1, 3, 1)[0]) for s in range(0, 8000, 2)]
        case "place":
            return [tuple(uniforms(3, t, 2)) for t in range(4000)]
        case "seed for round":
            return [(uniforms(t, t + 1, 1)[0], uniforms(t + 1, t, 1)[0]) for t in range(0, 8000, 2)]
        case "second place of the round before":
            return [(uniforms(3, t, 2)[1], uniforms(3, t + 1, 1)[0]) for t in range(0, 8000, 2)]


@pytest.mark.parametrize(
    "step", ["round", "seed", "place", "seed for round", "second place of the round before"]
)
def test_neighbours_are_independent(step):
    """Chi-square of the pairs in an 8 x 8 table, and their rank correlation."""
    one, other = np.array(pairs(step)).T
    table, _, _ = np.histogram2d(one, other, bins=8, range=[[0, 1], [0, 1]])
    assert stats.chisquare(table.ravel()).pvalue > LEAST
    assert stats.spearmanr(one, other).pvalue > LEAST


def test_no_two_rounds_of_neighbouring_seeds_share_their_numbers():
    """A stream shifted along another would repeat numbers exactly."""
    numbers = np.concatenate([uniforms(seed, t, 20) for seed in range(10) for t in range(200)])
    assert np.unique(numbers).size == numbers.size


def test_exponentials_are_exponential():
    numbers = np.concatenate([exponentials(7, number, 50) for number in range(200)])
    assert stats.kstest(numbers, "expon").pvalue > LEAST
    np.testing.assert_allclose(exponentials(7, 1, 9), -np.log1p(-uniforms(7, 1, 9)), rtol=0, atol=0)
