"""The named normalisers: what they promise whatever the text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.errors import InvalidInput
from galloon.learners.text.normalizers import NAMES, normalizer

TEXTS = st.text(max_size=40) | st.lists(
    st.sampled_from(
        "one two twenty hundred thousand million and point five first 1 12 3.5 oh dollars percent won't it's "
        "colour [noise] um “quoted” fire—flies İx ´ \u00a0 ﬁre 1,000 ½ st. o'er 'tis".split(" ")
    ),
    max_size=8,
).map(" ".join)


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(deadline=None, max_examples=150)
def test_applying_a_normalizer_twice_changes_nothing(name, text):
    once = normalizer(name)(text)
    assert normalizer(name)(once) == once


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(deadline=None, max_examples=100)
def test_spans_tell_the_same_tokens_and_cover_words_in_order(name, text):
    words = text.split()
    spans = normalizer(name).spans(words)
    assert [span.text for span in spans] == normalizer(name)(text).split(" ") * bool(spans)
    assert all(0 <= span.first <= span.last < len(words) for span in spans)
    assert all(a.first <= b.first and a.last <= b.last for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("none", "  The “Whale”\n—", "The “Whale” —"),
        ("basic", "The “Whale’s”  ﬁre—ﬂies", 'the "whale\'s" fire-flies'),
        ("basic-speech", "The “Whale’s” fire—flies, 1_000!", "the whale's fire flies 1 000"),
        ("english", "He won't honour the coloured harbour", "he will not honor the colored harbor"),
        ("english", "It's Ahab's leg (laughs), um, Mr. Starbuck", "it is ahab's leg mister starbuck"),
        ("english", "one hundred and sixty acres", "160 acres"),
        ("english", "nineteen oh five", "1905"),
        ("english", "the twenty-first of nineteen eighty four", "the 21st of 1984"),
        ("english", "two point five percent of 1,000 dollars", "2.5% of $1000"),
        ("english", "2.5 million men, three hundred thousand and twelve", "2500000 men 300012"),
        ("english", "one of the four", "one of the 4"),
        ("english", "one hundred thousandth", "100000th"),
        ("english", "Café naïve", "cafe naive"),
    ],
)
def test_known_texts(name, text, expected):
    assert normalizer(name)(text) == expected


def test_a_number_made_of_several_words_knows_them_all():
    span = normalizer("english").spans("the year seventeen hundred and seventy-six ended".split())[2]
    assert (span.text, span.first, span.last) == ("1776", 2, 5)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match="basic-speech"):
        normalizer("fancy")


@pytest.mark.parametrize("text", ["1e9999999 thousand", "1e999999999 million", "9" * 50_000 + " thousand"])
def test_a_number_never_unfolds(text):
    """An exponent stands for any number of digits; what comes out is no longer than what people write."""
    assert len(normalizer("english")(text)) <= len(text) + 20
