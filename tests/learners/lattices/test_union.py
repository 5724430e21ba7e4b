"""The union of lattices against every path of each of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.errors import InvalidInput
from galloon.learners.lattices.decoding import decode, nearest_words
from galloon.learners.lattices.union import union_words
from galloon.learners.observation import ExpertOutput, Lattice, Word
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import CHAR, WORD
from tests.learners.kernels.test_lattice import STATES
from tests.reference import minimum_bayes_risk as reference

PLAIN = normalizer("none")
NAMES = "abc"


def mixture(texts, weights):
    """The probability of each text in the union."""
    mixed: dict[tuple[int, ...], float] = {}
    for chances, weight in zip(texts, weights, strict=True):
        for text, chance in chances.items():
            mixed[text] = mixed.get(text, 0.0) + weight / sum(weights) * chance
    return mixed


def risk_of(outputs, weights, mixed):
    named = {output.name: weight for output, weight in zip(outputs, weights, strict=True)}
    found = tuple(map(NAMES.index, union_words(outputs, WORD, PLAIN, named)))
    return reference.expected_distance(found, mixed)


@given(texts=st.lists(st.lists(st.sampled_from(NAMES), max_size=3), min_size=1, max_size=4), data=st.data())
@settings(deadline=None, max_examples=60)
def test_of_plain_texts_none_is_less_risky_than_the_union(texts, data):
    outputs = [ExpertOutput(str(n), tuple(map(Word, text))) for n, text in enumerate(texts)]
    weights = [data.draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in texts]
    mixed = mixture([{tuple(map(NAMES.index, text)): 1.0} for text in texts], weights)
    least = min(reference.expected_distance(text, mixed) for text in mixed)
    assert risk_of(outputs, weights, mixed) <= least + 1e-9


def test_the_union_of_lattices_has_nearly_always_the_least_risk_of_all_texts():
    draws, excess = np.random.default_rng(3), []
    for _ in range(100):
        outputs, texts = [], []
        for name in ("0", "1"):
            arcs = [(0, 2), (2, 4), *(sorted(draws.choice(STATES, 2, replace=False)) for _ in range(4))]
            arcs = [(int(q), int(t), float(draws.uniform(-3, 1))) for q, t in arcs]
            tokens = draws.integers(-1, len(NAMES), len(arcs)).tolist()
            ends = (np.array([arc[side] for arc in arcs], dtype=np.int32) for side in (0, 1))
            words = tuple("" if token < 0 else NAMES[token] for token in tokens)
            lattice = Lattice(STATES, 0, (3, 4), *ends, words, np.array([arc[2] for arc in arcs]))
            chances = reference.texts(0, (3, 4), arcs, tokens)
            best = max(chances, key=chances.__getitem__)
            outputs.append(ExpertOutput(name, tuple(Word(NAMES[t]) for t in best), lattice=lattice))
            texts.append(chances)
        mixed = mixture(texts, (1.0, 2.0))
        excess.append(risk_of(outputs, (1.0, 2.0), mixed) - reference.least_risk(mixed, len(NAMES)))
    assert min(excess) >= -1e-9
    assert sum(more < 1e-9 for more in excess) >= 75
    assert np.mean(excess) < 0.03


def test_equal_texts_have_their_union_and_characters_too():
    words = tuple(Word(text) for text in ("call", "me"))
    for unit in (WORD, CHAR):
        assert unit.join(union_words([ExpertOutput("a", words), ExpertOutput("b", words)], unit, PLAIN)) == (
            "call me"
        )


def test_two_engines_outvote_a_third_and_weights_turn_it():
    said = {"a": "call", "b": "call", "c": "cold"}
    given_ = [ExpertOutput(name, (Word(text),)) for name, text in said.items()]
    assert union_words(given_, WORD, PLAIN) == ("call",)
    assert union_words(given_, WORD, PLAIN, {"c": 5.0}) == ("cold",)


def test_a_lattice_alone_is_its_decoding_and_its_nearest_path_is_in_it():
    lattice = Lattice(
        3, 0, (2,), *(np.array(ends, dtype=np.int32) for ends in ([0, 0, 1], [1, 1, 2])), ("a", "b", "c"),
        np.log([0.6, 0.4, 1.0]),
    )  # fmt: skip
    output = ExpertOutput("x", (Word("b"), Word("c")), lattice=lattice)
    _, decoded = decode(output, WORD, PLAIN)
    assert union_words((output,), WORD, PLAIN) == decoded.at(0) == ("a", "c")
    assert nearest_words(output, ["b", "c", "d"], WORD, PLAIN) == ("b", "c")


def test_nobody_has_no_union():
    with pytest.raises(InvalidInput, match="no engine ran"):
        union_words((), WORD, PLAIN)
