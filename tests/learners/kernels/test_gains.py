"""The compiled walks of the pattern trie agree with looking at every choice of positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.gains.pattern_trie import trie_of_patterns, trie_of_target
from tests.reference.gains import counts, window_gain

TOKENS = st.sampled_from("abc")
LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True)
GAPS = st.integers(0, 3)


def powers(discount, max_gap):
    return np.array([discount**k for k in range(max_gap + 1)])


@settings(deadline=None, max_examples=80)
@given(st.lists(TOKENS, max_size=9), LENGTHS, GAPS, st.lists(TOKENS, min_size=1, max_size=7))
def test_a_window_is_worth_its_occurrences(target, lengths, max_gap, window):
    trie = trie_of_target(target, lengths, powers(0.5, max_gap), count_nulls=True)
    offers = trie.symbols([*window, "z"])
    places = np.arange(len(window), dtype=np.int32)
    windows = np.stack([places, np.where(places == 0, -1, places)])
    gains = trie.window_gains(windows, offers, powers(0.5, max_gap))
    worth = counts(target, lengths, 0.5, max_gap)
    assert gains[0] == pytest.approx(window_gain(window, worth, lengths, 0.5, max_gap))
    if len(window) > 1:
        assert gains[1] == pytest.approx(window_gain(window[1:], worth, lengths, 0.5, max_gap))


@settings(deadline=None, max_examples=80)
@given(st.lists(TOKENS, max_size=9), LENGTHS, GAPS, st.lists(TOKENS, max_size=7))
def test_a_sequence_is_worth_its_occurrences_token_by_token(target, lengths, max_gap, sequence):
    trie = trie_of_target(target, lengths, powers(0.5, max_gap), count_nulls=True)
    gains = trie.sequence_gains(trie.symbols(sequence), powers(0.5, max_gap))
    worth = counts(target, lengths, 0.5, max_gap)
    expected = [window_gain(sequence[: i + 1], worth, lengths, 0.5, max_gap) for i in range(len(sequence))]
    assert gains.tolist() == pytest.approx(expected)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 4),
    st.lists(TOKENS, max_size=8),
    LENGTHS,
    GAPS,
    st.data(),
)
def test_the_layers_of_an_ensemble_are_worth_their_windows(r, slots, span, target, lengths, max_gap, data):
    """Transition c of a layer has the experts of its window as digits in base r, the oldest lowest."""
    shortest = data.draw(st.integers(1, min(span, slots)))
    offers = data.draw(st.lists(st.lists(TOKENS, min_size=r, max_size=r), min_size=slots, max_size=slots))
    trie = trie_of_target(target, lengths, powers(0.5, max_gap), count_nulls=True)
    worth = counts(target, lengths, 0.5, max_gap)
    expected = []
    for slot in range(shortest, slots + 1):
        width = min(slot, span)
        for code in range(r**width):
            window = [offers[slot - width + k][code // r**k % r] for k in range(width)]
            expected.append(window_gain(window, worth, lengths, 0.5, max_gap))
    symbols = trie.symbols(t for row in offers for t in row).reshape(slots, r)
    gains = trie.ensemble_gains(symbols, shortest, span, powers(0.5, max_gap), len(expected))
    assert gains.tolist() == pytest.approx(expected)


@settings(deadline=None, max_examples=80)
@given(
    st.dictionaries(
        st.lists(TOKENS, min_size=1, max_size=4).map(tuple), st.just(1.0), min_size=1, max_size=9
    ),
    GAPS,
    st.lists(st.sampled_from("abcz"), max_size=9),
)
def test_given_patterns_are_counted_as_by_looking(patterns, max_gap, sequence):
    trie = trie_of_patterns(patterns)
    found = trie.counts(trie.symbols(sequence), powers(0.5, max_gap))
    expected = counts(sequence, {len(p) for p in patterns}, 0.5, max_gap)
    total = sum(count for pattern, count in expected.items() if pattern in patterns)
    assert (found * trie.value).sum() == pytest.approx(total)
