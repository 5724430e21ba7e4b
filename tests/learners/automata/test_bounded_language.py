"""Expressions over tokens give the patterns of their language, or say why they cannot."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.bounded_language import LanguageLimits, bounded_language
from galloon.learners.errors import BudgetExceeded, InvalidInput


def listed(expression, limits=None):
    return [" ".join(pattern) for pattern in bounded_language(expression, limits)]


@pytest.mark.parametrize(
    ("expression", "patterns"),
    [
        ("the", ["the"]),
        ("the cat", ["the cat"]),
        ("a|b", ["a", "b"]),
        ("a (b|c)", ["a b", "a c"]),
        ("a? b", ["b", "a b"]),
        ("a{2}", ["a a"]),
        ("a{0,2} b", ["b", "a b", "a a b"]),
        ("(a b){1,2}", ["a b", "a b a b"]),
        ("(a|a)(b|b)", ["a b"]),
        ("a{0} b", ["b"]),
        ("a(b)c", ["a b c"]),
        (r"\| \( \{ a\ b", ["| ( { a b"]),
        ("a{1}{2}", ["a a"]),
    ],
)
def test_the_language_is_listed(expression, patterns):
    assert listed(expression) == patterns


def test_quotes_hold_anything_and_nothing_is_the_null_token():
    assert bounded_language('"New York" "" "a\\"b"') == (("New York", "", 'a"b'),)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("a*", r"column 2: '\*' has no end"),
        ("a b+", r"column 4: '\+' has no end"),
        ("a{2,}", "has no end"),
        ("", "column 1: a token or a group is missing"),
        ("a |", "column 4: a token or a group is missing"),
        ("( )", "column 3: a token or a group is missing"),
        ("(a", r"closing \) is missing"),
        ("a)", "closes nothing"),
        ("? a", "column 1: '\\?' stands where a token was expected"),
        ("a{x}", "column 2: a repeat is written"),
        ("a{1", "a repeat is written"),
        ("a{3,2}", "larger number first"),
        ("a{99999}", "numbers up to 9999"),
        ('"a', 'closing " is missing'),
        ("a\\", "backslash at the end"),
        ("a?", "empty sequence, which is no pattern"),
        ("(" * 60 + "a" + ")" * 60, "nested more than 50 deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(expression, message):
    with pytest.raises(InvalidInput, match=message):
        bounded_language(expression)


@pytest.mark.parametrize(
    ("expression", "limit"),
    [
        ("(a|b){20}", "patterns of the expression"),
        ("((a|b){1000}){1000}", "patterns of the expression"),
        ("a{65}", "longest pattern"),
        ("((a{0}){9999}){9999} b", "states of the expression"),
        ("a " * 6000, "characters of the expression"),
    ],
)
def test_languages_that_are_too_large_are_refused_before_anything_is_built(expression, limit):
    with pytest.raises(BudgetExceeded, match=limit):
        bounded_language(expression)


def test_limits_can_be_set():
    assert len(listed("(a|b){14}", LanguageLimits(patterns=20_000))) == 2**14


nested = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: f"{p[0]} {p[1]}"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} | {p[1]})"),
        inner.map(lambda p: f"({p})?"),
        st.tuples(inner, st.integers(0, 1), st.integers(1, 2)).map(lambda p: f"({p[0]}){{{p[1]},{p[2]}}}"),
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=80)
@given(nested, st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
def test_one_letter_tokens_match_as_the_standard_library_says(expression, word):
    plain = expression.replace(" ", "")
    try:
        language = bounded_language(expression)
    except (BudgetExceeded, InvalidInput) as error:
        assert isinstance(error, BudgetExceeded) or re.fullmatch(plain, "")  # noqa: PT017  # both ways are fine
        return
    assert all(re.fullmatch(plain, "".join(pattern)) for pattern in language)
    assert (tuple(word) in language) == bool(re.fullmatch(plain, "".join(word)))
