"""Words that are too long to compare are refused before they are compared, in outputs and in true texts."""

import pytest

from galloon.learners.alignment import align, align_target
from galloon.learners.errors import BudgetExceeded
from galloon.learners.observation import Utterance

LONG = "a" * 480_000
MANY = [f"{number:04d}" + "ab" * 510 for number in range(100)]


def test_one_word_without_end():
    with pytest.raises(BudgetExceeded, match="letters of one word"):
        align(Utterance.of_texts("u", {"a": LONG, "b": "a b"}))


def test_many_long_words():
    """Each is allowed, all together are not."""
    with pytest.raises(BudgetExceeded, match="squared"):
        align(Utterance.of_texts("u", {"a": " ".join(MANY), "b": "a b"}))
    assert align(Utterance.of_texts("u", {"a": " ".join(MANY[:20]), "b": "a b"})).slot_count >= 20


@pytest.mark.parametrize("truth", [LONG, " ".join(MANY)])
def test_true_texts_are_held_to_the_same(truth):
    slots = align(Utterance.of_texts("u", {"a": "one two", "b": "one too"}))
    with pytest.raises(BudgetExceeded, match="letters"):
        align_target(slots, truth)
