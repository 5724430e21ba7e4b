"""Every learner of the catalogue, the default one too, keeps the contract of `combiners.contract`.

On texts, n-best lists, slots and labels, in words and characters, in every setting that it can learn in.
"""

from dataclasses import replace

import numpy as np
import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Score, ShownGains, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import BoundExceeded, DamagedState, InvalidInput
from galloon.learners.observation import ExpertOutput, Hypothesis, Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.paths.catalogue import CATALOGUE
from galloon.learners.paths.protocol import Setting
from galloon.learners.unit import CHAR, UNITS

EXPERTS = ("ann", "ben", "cid")
WINDOW = 12
WORDS = ("so", "it", "is", "as", "an", "ox")
TRUTH = "so it is an ox"
CASES = [
    (name, setting)
    for name, learner in CATALOGUE.items()
    for setting in (learner.settings or (learner.setting,))
]


def texts(rng, unit, *, nbest=False, labels=False):
    """Engines that get some words wrong."""
    words = TRUTH.split() if unit is not CHAR else ["so", "it"]
    outputs = []
    for name in EXPERTS:
        said = [str(rng.choice(WORDS)) if rng.random() < 0.3 else word for word in words]
        lists = tuple(Hypothesis(tuple(map(Word, row)), 0.0) for row in (said, words)) if nbest else ()
        outputs.append(ExpertOutput(name, tuple(map(Word, said)), nbest=lists))
    return Utterance("u", tuple(outputs), labels={"domain": "fax"} if labels else {}), " ".join(words)


def slots(rng, unit):
    tokens = rng.integers(0, 4, (7, len(EXPERTS))).astype(np.int32)
    vocabulary = ("", "a", "b", "c")
    offers = Offers(EXPERTS, vocabulary, tokens, np.full(tokens.shape, np.nan))
    return Utterance("u", offers), unit.join(["a", "b", "c"])


MATERIALS = {
    "texts": texts,
    "n-best": lambda rng, unit: texts(rng, unit, nbest=True),
    "labels": lambda rng, unit: texts(rng, unit, labels=True),
    "slots": slots,
}


def feedback_on(choice, target, setting, slots=0):
    """What the setting reveals; a path learner is told of every slot of its window."""
    match setting:
        case Setting.FULL:
            return TrueText(target)
        case Setting.SEMI_BANDIT:
            gains = [float(bool(token)) for token in choice.shown]
            return ShownGains((*gains, *[0.0] * (slots - len(gains))))
        case _:
            return Score(float(sum(map(bool, choice.shown))))


def slots_of(name):
    return WINDOW if CATALOGUE[name].windows else 0


def made(name, setting, unit):
    spec = CombinerSpec(engines=EXPERTS, algorithm=name, setting=setting.value, unit=unit, normalizer="basic")
    return build(replace(spec, window=WINDOW, labels=("domain",), seed=5))


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("unit", UNITS.values(), ids=str)
@pytest.mark.parametrize(("name", "setting"), CASES)
def test_the_contract(name, setting, unit, material):
    rng = np.random.default_rng(7)
    combiner, cold = made(name, setting, unit), made(name, setting, unit)
    for number in range(6):
        heard, target = MATERIALS[material](rng, unit)
        before = combiner.digest()
        choice = combiner.choose(heard, number)
        check_choice(combiner, choice, unit)
        explained = combiner.explain(choice.memory, range(4096), choice.view)
        assert repr(explained) == repr(combiner.explain(choice.memory, range(4096)))
        assert len(explained) == len(choice)
        assert combiner.digest() == before, "choosing and explaining change nothing"
        assert combiner.choose(heard, number).memory == choice.memory == cold.choose(heard, number).memory
        feedback = feedback_on(choice, target, setting, slots_of(name))
        lesson = combiner.learn(choice.memory, feedback, choice.view)
        assert lesson == cold.learn(choice.memory, feedback)
        assert combiner.digest() == cold.digest(), "a view changes nothing"
        if number == 3:  # as after a restart
            cold = made(name, setting, unit)
            cold.restore(combiner.to_bytes())
            assert cold.digest() == combiner.digest()
    statistics = combiner.statistics()
    assert statistics.rounds_learned == 6
    assert statistics.guarantee


def check_choice(combiner, choice, unit):
    """Every slot has a token that somebody offers, and what was on offer is told whole."""
    assert choice.text == unit.join(choice.shown)
    assert choice.offers.experts[: choice.offers.engine_count] == combiner.experts == EXPERTS
    assert len(choice.shown) == len(choice.credited) == len(choice.probabilities) == choice.offers.slot_count
    for slot, token in enumerate(choice.tokens):
        offered = {choice.offers.vocabulary[number] for number in choice.offers.tokens[slot].tolist()}
        assert {token.text} | {other.text for other in token.alternatives} == offered
        assert token.expert in choice.offers.experts
        assert np.isnan(token.probability) or 0 <= token.probability <= 1 + 1e-9


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_a_damaged_memory_is_refused_and_changes_nothing(name, setting):
    rng = np.random.default_rng(3)
    combiner = made(name, setting, UNITS["word"])
    heard, target = texts(rng, UNITS["word"])
    choice = combiner.choose(heard, 0)
    before, feedback = combiner.digest(), feedback_on(choice, target, setting, slots_of(name))
    for length in (0, 3, len(choice.memory) // 2, len(choice.memory) - 1):
        with pytest.raises(DamagedState):
            combiner.learn(choice.memory[:length], feedback)
    for wrong in (ShownGains((9.0,)), ShownGains((0.5,) * 99), Score(-3.0), Score(1e9)):
        with pytest.raises((InvalidInput, BoundExceeded)):
            combiner.learn(choice.memory, wrong)
    assert combiner.digest() == before


def test_the_catalogue_agrees_with_the_classes():
    for name, learner in CATALOGUE.items():
        if learner.windows:
            made_class = learner.learner_class()
            assert (made_class.name, made_class.setting) == (name, learner.setting)
