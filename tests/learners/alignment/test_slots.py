"""Slots from many outputs: complete, in order, the same in whatever order the experts come."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment import AlignmentSettings, align, with_expert
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.observation import ExpertOutput, Utterance, Word
from galloon.learners.unit import CHAR, WORD
from tests.learners.alignment.outputs import columns, utterance, utterances

UNITS = st.sampled_from([WORD, CHAR])
PROFILES_ONLY = AlignmentSettings(exact_steps=0)


@given(
    heard=utterances(times=True), unit=UNITS, shuffle=st.randoms(use_true_random=False), exact=st.booleans()
)
@settings(deadline=None, max_examples=150)
def test_the_order_of_experts_does_not_matter(heard, unit, shuffle, exact):
    rules = AlignmentSettings() if exact else PROFILES_ONLY
    shuffled = list(heard.outputs)
    shuffle.shuffle(shuffled)
    one = align(heard, unit, "basic", rules)
    other = align(replace(heard, said=tuple(shuffled)), unit, "basic", rules)
    assert one.vocabulary == other.vocabulary
    order = [other.experts.index(name) for name in one.experts]
    np.testing.assert_array_equal(one.tokens, other.tokens[:, order])
    np.testing.assert_array_equal(one.confidences, other.confidences[:, order])


@given(heard=utterances(times=True), unit=UNITS)
@settings(deadline=None, max_examples=100)
def test_names_do_not_matter(heard, unit):
    renamed = [replace(output, name=f"z{9 - i}") for i, output in enumerate(heard.outputs)]
    np.testing.assert_array_equal(
        align(heard, unit).tokens, align(replace(heard, said=tuple(renamed)), unit).tokens
    )


@given(heard=utterances(), unit=UNITS)
@settings(deadline=None, max_examples=100)
def test_each_expert_keeps_all_its_tokens_in_order_and_no_slot_is_empty(heard, unit):
    network = align(heard, unit, "none", AlignmentSettings(glued_words=0))
    for j, output in enumerate(heard.outputs):
        spelled = unit.join(network.vocabulary[t] for t in network.tokens[:, j])
        assert spelled == output.text
        assert np.isnan(network.confidences[network.tokens[:, j] == 0, j]).all()
    assert (network.tokens != 0).any(axis=1).all()


@given(heard=utterances(most_experts=3), copies=st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_an_expert_that_says_the_same_gets_the_same_slots(heard, copies):
    twins = [replace(heard.outputs[0], name=f"twin{i}") for i in range(copies)]
    network = align(replace(heard, said=(*heard.outputs, *twins)))
    for i in range(copies):
        np.testing.assert_array_equal(network.tokens[:, 0], network.tokens[:, len(heard.outputs) + i])


def test_likeness_decides_what_shares_a_slot():
    """A plural faces its singular, not the article next to it."""
    network = align(utterance("the whale sank", "whales sank"))
    assert columns(network) == [("the", ""), ("whale", "whales"), ("sank", "sank")]


def test_words_that_were_glued_face_one_of_their_parts_if_left_whole():
    heard = utterance("that we had", "that we had", "that wehad")
    network = align(heard, WORD, "basic", AlignmentSettings(glued_words=0))
    assert columns(network) == [("that",) * 3, ("we", "we", ""), ("had", "had", "wehad")]


def test_different_words_are_alternatives_of_one_slot():
    assert columns(align(utterance("call me ishmael", "call be ishmael"))) == [
        ("call", "call"),
        ("me", "be"),
        ("ishmael", "ishmael"),
    ]


def timed(name, *words):
    return ExpertOutput(name, tuple(Word(w, None, start, end) for w, start, end in words))


def test_times_choose_between_places_that_fit_alike():
    """Of two equal words the one spoken at that time is met, also where one clock runs at another scale."""
    both = timed("a", ("sea", 0, 1), ("ox", 1, 2), ("ox", 2, 3), ("ship", 3, 4), ("mast", 4, 5))
    late = timed("b", ("sea", 0, 1), ("oak", 2, 3), ("ship", 3, 4), ("mast", 4, 5))
    scaled = timed("b", ("sea", 10, 13), ("oak", 16, 19), ("ship", 19, 22), ("mast", 22, 25))
    early = timed("b", ("sea", 0, 1), ("oak", 1, 2), ("ship", 3, 4), ("mast", 4, 5))
    for other, place in ((late, 2), (scaled, 2), (early, 1)):
        network = align(Utterance("u", (both, other)))
        assert [network.vocabulary[t] for t in network.tokens[:, 1]].index("oak") == place


def test_clocks_that_do_not_agree_are_left_alone():
    """Times that contradict the words change nothing."""
    a = timed("a", ("sea", 0, 1), ("ox", 1, 2), ("ship", 2, 3), ("mast", 3, 4))
    b = timed("b", ("sea", 9, 10), ("oak", 10, 11), ("ship", 10.1, 11), ("mast", 90, 99))
    without = [replace(o, words=tuple(Word(w.text) for w in o.words)) for o in (a, b)]
    np.testing.assert_array_equal(
        align(Utterance("u", (a, b))).tokens, align(Utterance("u", tuple(without))).tokens
    )


def test_confidences_follow_the_tokens():
    words = (Word("fire fly", 0.25), Word("burns", 0.75))
    network = align(Utterance("u", (ExpertOutput("a", words), ExpertOutput("b", (Word("burns"),), 0.5))))
    np.testing.assert_array_equal(network.confidences, [[0.25, np.nan], [0.25, np.nan], [0.75, 0.5]])


def test_a_number_of_several_words_is_as_sure_as_the_least_of_them():
    words = (Word("sixty", 0.75), Word("four", 0.25), Word("acres", 1.0))
    network = align(Utterance("u", (ExpertOutput("a", words),)), WORD, "english")
    assert network.vocabulary == ("", "64", "acres")
    np.testing.assert_array_equal(network.confidences[:, 0], [0.25, 1.0])


def test_nothing_said_makes_no_slots():
    assert align(utterance("", "")).slot_count == 0
    assert align(utterance()).tokens.shape == (0, 0)
    assert columns(align(utterance("", "a b"))) == [("", "a"), ("", "b")]


@pytest.mark.parametrize("unit", [WORD, CHAR])
def test_long_lines_agree_whatever_the_band(unit):
    """The band is widened until nothing outside can be better."""
    generator = np.random.default_rng(5)
    words = [str(n) for n in generator.integers(0, 50, size=120)]
    texts = []
    for _ in range(4):
        keep = generator.random(120) > 0.2
        texts.append(" ".join(w for w, k in zip(words, keep, strict=True) if k))
    narrow = align(utterance(*texts), unit, "basic", AlignmentSettings(band=2))
    wide = align(utterance(*texts), unit, "basic", AlignmentSettings(band=4096))
    np.testing.assert_array_equal(narrow.tokens, wide.tokens)


def test_limits_are_named():
    with pytest.raises(BudgetExceeded, match="slots: 9 needed, 8 allowed"):
        align(utterance("a b c d e f g h i"), WORD, "basic", AlignmentSettings(slot_limit=8))
    with pytest.raises(BudgetExceeded, match="experts: 3 needed, 2 allowed"):
        align(utterance("a", "b", "c"), WORD, "basic", AlignmentSettings(expert_limit=2))
    with pytest.raises(BudgetExceeded, match="different tokens: 4 needed, 3 allowed"):
        align(utterance("a b c"), WORD, "basic", AlignmentSettings(vocabulary_limit=3))
    with pytest.raises(BudgetExceeded, match="alignment effort: 1176 needed, 1000 allowed"):
        align(utterance("a b", "c d e f"), WORD, "basic", AlignmentSettings(effort=1000, exact_steps=0))
    with pytest.raises(InvalidInput, match="same expert name"):
        align(Utterance("u", (ExpertOutput("a", ()), ExpertOutput("a", ()))))
    with pytest.raises(InvalidInput, match="share a slot"):
        AlignmentSettings(gap_cost=100)


def test_another_expert_joins_the_network():
    network = align(utterance("a b", "a c"))
    more = with_expert(network, "mine", np.array([1, 0], dtype=np.int32), np.array([0.5, np.nan]))
    assert more.experts == ("e0", "e1", "mine")
    np.testing.assert_array_equal(more.tokens[:, 2], [1, 0])
    with pytest.raises(InvalidInput, match="already"):
        with_expert(more, "mine", np.zeros(2, dtype=np.int32))
    with pytest.raises(InvalidInput, match="for 2 slots"):
        with_expert(network, "other", np.zeros(3, dtype=np.int32))
    with pytest.raises(InvalidInput, match="vocabulary"):
        with_expert(network, "other", np.full(2, 9, dtype=np.int32))
