"""Simulated regret over its bound, the larger run of what the tests check: every learner, two opponents."""

from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.paths.catalogue import NAMES
from galloon.learners.paths.opponents import Table
from galloon.learners.paths.simulation import simulate

SEEDS = 10
ROUNDS = 2000
GAINS = {
    "slot match": {"kind": "slot_match"},
    "2-gram": {"kind": "ngram", "order": 2},
    "gappy 2-gram": {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1},
}


def figures() -> dict[str, dict[str, float]]:
    """Regret / bound, the largest of ten seeds: below 1, as promised (CDSB: with probability 0.95)."""
    found = {}
    for name in NAMES:
        row = {}
        for gain_name, gain in GAINS.items():
            for opponent in ("stochastic", "adversarial"):
                shares = [_share(name, gain, opponent, seed) for seed in range(SEEDS)]
                row[f"{gain_name}, {opponent}"] = round(max(shares), 3)
        found[f"regret / bound, {name}"] = row
    return found


def _share(name: str, gain: dict[str, object], opponent: str, seed: int) -> float:
    spec = CombinerSpec(
        engines=("a", "b", "c"), algorithm=name, gain=gain, window=4, horizon=ROUNDS, seed=seed
    )
    run = simulate(spec, Table(3, 4, ROUNDS), opponent)
    assert run.final_bound is not None
    return run.final_regret / run.final_bound
