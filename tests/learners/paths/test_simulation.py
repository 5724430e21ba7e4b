"""The theorems in play: simulated regret stays below the bound, whoever deals (bench/regret.py plays longer)."""

import numpy as np
import pytest

from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.catalogue import NAMES
from galloon.learners.paths.opponents import OPPONENTS, Table
from galloon.learners.paths.simulation import simulate

ROUNDS, SEEDS = 250, 10
GAINS = {
    "slot_match": {"kind": "slot_match"},
    "ngram": {"kind": "ngram", "order": 2},
    "gappy": {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1},
}


def _spec(name, gain, seed, horizon=ROUNDS, slots=3):
    return CombinerSpec(
        engines=("a", "b"), algorithm=name, gain=GAINS[gain], window=slots, horizon=horizon, seed=seed
    )


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("name", NAMES)
def test_regret_stays_below_the_bound(name, opponent):
    """For each learner, over ten seeds, against stochastic, drifting and adaptive opponents."""
    gain = ("slot_match", "ngram", "gappy")[NAMES.index(name) % 3]
    for seed in range(SEEDS):
        run = simulate(_spec(name, gain, seed), Table(2, 3, ROUNDS), opponent)
        assert run.final_bound is not None
        assert run.final_regret < run.final_bound
        assert np.all(run.regret <= run.final_bound)


@pytest.mark.parametrize("name", NAMES)
def test_regret_stays_below_the_bound_at_every_moment_without_a_horizon(name):
    run = simulate(_spec(name, "slot_match", 7, horizon=0), Table(2, 3, ROUNDS), "adversarial")
    if name == "semi_bandit":  # its theorem needs a horizon
        assert np.isnan(run.bound).all()
        assert run.guarantee.startswith("none: ")
    else:
        assert np.all(run.regret < run.bound)


@pytest.mark.parametrize("name", ["component_hedge", "expanded_hedge", "perturbed_leader"])
def test_learners_with_full_information_find_the_planted_path(name):
    """Against a stochastic opponent regret nearly stops growing: half of it is paid in the first tenth."""
    run = simulate(_spec(name, "slot_match", 1, horizon=0), Table(2, 3, 2000), "stochastic")
    assert run.final_regret < 2 * run.regret[len(run.regret) // 10] + 10
    assert run.gain > 0.95 * run.best_gain


def test_the_same_seed_plays_the_same_game():
    runs = [simulate(_spec("com_band", "ngram", 3), Table(2, 3, 50), "drifting") for _ in range(2)]
    assert np.array_equal(runs[0].regret, runs[1].regret)
    assert runs[0].log_regret == runs[1].log_regret


def test_what_cannot_be_simulated_is_refused():
    arbitrary = CombinerSpec(engines=("a",), algorithm="exp3_paths", gain={"kind": "arbitrary"}, window=3)
    with pytest.raises(InvalidInput, match="arbitrary"):
        simulate(arbitrary, Table(1, 3, 5), "stochastic")
    with pytest.raises(InvalidInput, match="opponent"):
        simulate(_spec("com_band", "ngram", 3), Table(2, 3, 5), "nobody")
