"""Error counts: equal to those of the tools that people know, and additive."""

import jiwer
import kaldialign
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.evaluation.error_rate import (
    ErrorCounts,
    as_table,
    char_errors,
    count_errors,
    total,
    word_errors,
)

SENTENCES = st.lists(st.sampled_from("the whale white ship sea a of".split()), max_size=9).map(" ".join)


@given(reference=SENTENCES.filter(bool), hypothesis=SENTENCES)
@settings(deadline=None, max_examples=200)
def test_word_and_character_errors_equal_jiwer(reference, hypothesis):
    words, theirs = word_errors(reference, hypothesis), jiwer.process_words(reference, hypothesis)
    assert (words.substitutions, words.deletions, words.insertions) == (
        theirs.substitutions,
        theirs.deletions,
        theirs.insertions,
    )
    assert words.rate == pytest.approx(100 * theirs.wer)
    assert char_errors(reference, hypothesis).rate == pytest.approx(100 * jiwer.cer(reference, hypothesis))


@given(reference=SENTENCES, hypothesis=SENTENCES)
@settings(deadline=None, max_examples=200)
def test_the_number_of_errors_equals_kaldialign(reference, hypothesis):
    theirs = kaldialign.edit_distance(reference.split(), hypothesis.split())
    ours = word_errors(reference, hypothesis)
    assert ours.errors == theirs["total"]
    assert ours.insertions - ours.deletions == theirs["ins"] - theirs["del"]


def test_the_rate_is_micro_averaged():
    counts = [word_errors("a b c d", "a b c d"), word_errors("a", "b")]
    assert total(counts).rate == 20.0
    assert total(counts) == counts[0] + counts[1]
    assert as_table([]).shape == (0, 4)


def test_an_empty_reference_has_a_finite_rate():
    assert word_errors("", "") == ErrorCounts()
    assert word_errors("", "a b").rate == 200.0


def test_any_sequence_of_hashables_can_be_compared():
    assert count_errors([1, 2, 3], [1, 3]) == ErrorCounts(0, 1, 0, 3)
