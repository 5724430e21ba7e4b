"""Forms of tokens: every unit, not only words and characters, gets a form for each of its tokens."""

from galloon.learners.alignment.sequences import tokens_of
from galloon.learners.alignment.written import forms_of
from galloon.learners.observation import Word
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import Unit

PAIR = Unit("pair", "pairs", "cer", " ", lambda word: [word[i : i + 2] for i in range(0, len(word), 2)])


def test_a_unit_of_two_characters_has_forms_of_two_characters():
    """A ligature makes two characters: its token has it, and nothing is written twice."""
    words, rule = ["«Abc»", "ﬁgs"], normalizer("basic")
    sequence = tokens_of([Word(word) for word in words], PAIR, rule)
    forms = forms_of(words, sequence, PAIR, rule)
    assert len(forms) == len(sequence.tokens)
    assert "".join(filter(None, forms)) == "«Abc» ﬁgs"
