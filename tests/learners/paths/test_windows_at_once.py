"""All windows of an utterance at once: the same choices, gains and state, to the bit, as one after the other."""

from random import Random

import numpy as np
import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.offers import Offers
from galloon.learners.paths.game import Game
from galloon.learners.paths.path_learner import PathLearner

GAINS = (
    {"kind": "ngram", "order": 1},
    {"kind": "ngram", "order": 2},
    {"kind": "ngram", "order": 2, "count_nulls": True},
    {"kind": "gappy", "lengths": [1, 2], "discount": 0.3, "max_gap": 1},
    {"kind": "slot_match"},
    {"kind": "patterns", "patterns": [{"tokens": ["w1", "w2"]}, {"tokens": ["w3"], "weight": 0.5}]},
)
EXPERTS = ("a", "b", "c")


def network(random: Random, slots: int) -> Offers:
    tokens = np.array([[random.randrange(5) for _ in EXPERTS] for _ in range(slots)], dtype=np.int32).reshape(
        -1, 3
    )
    return Offers(EXPERTS, ("", "w1", "w2", "w3", "w4"), tokens, np.full(tokens.shape, np.nan))


def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the shortcuts away; what is left is the way that any automaton and gain go."""
    monkeypatch.setattr(Game, "learn_windows", lambda *_: None)
    for kind in PathLearner.__subclasses__():
        monkeypatch.setattr(kind, "choose_many", PathLearner.choose_many)


@pytest.mark.parametrize("gain", GAINS, ids=lambda gain: "-".join(map(str, gain.values()))[:30])
@pytest.mark.parametrize("algorithm", ["expanded_hedge", "component_hedge", "perturbed_leader"])
def test_shortcuts_change_nothing(algorithm: str, gain: dict, monkeypatch: pytest.MonkeyPatch):
    spec = CombinerSpec(EXPERTS, algorithm, gain, window=4, seed=9)
    quick, plain, random = build(spec), build(spec), Random(algorithm)
    for number in range(12):
        said = network(random, slots=random.randint(0, 11))
        truth = tuple(random.choice(("", "w1", "w2", "w3", "new", "newer")) for _ in range(said.slot_count))
        feedback = TrueTokens(truth) if number % 2 else TrueText(" ".join(filter(None, truth)))
        decision = quick.choose(Utterance("u", said), number)
        lesson = quick.learn(decision.memory, feedback)
        with monkeypatch.context() as patch:
            one_after_the_other(patch)
            other = plain.choose(Utterance("u", said), number)
            read_again = bytes(other.memory)  # as after a restart
            assert plain.learn(read_again, feedback) == lesson
        assert (other.text, other.memory) == (decision.text, decision.memory)
        assert repr(list(other.tokens)) == repr(list(decision.tokens))  # NaN where there is no cheap answer
        assert other.log_probability == pytest.approx(decision.log_probability, abs=1e-12, nan_ok=True)
    assert quick.digest() == plain.digest()
    assert quick.statistics() == plain.statistics()
