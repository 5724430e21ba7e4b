"""The language's counts and probabilities are those of plain dictionaries, and sum to one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels import language as kernel
from tests.reference.language import Counts

SYMBOLS = st.lists(st.integers(3, 9), max_size=6)
SEED = np.uint64(5)


def table(rows=1 << 12):
    return np.zeros(rows, np.uint32), np.zeros((rows, 2), np.uint32), np.zeros(1, np.int64)


def framed(symbols):
    return np.array([kernel.START, *symbols, kernel.END], dtype=np.uint64)


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(SYMBOLS, max_size=5), order=st.integers(1, 4), asked=SYMBOLS)
def test_probabilities_are_those_of_plain_counts(texts, order, asked):
    keys, counts, used = table()
    twin = Counts(order, 1 / 8)
    for text in texts:
        kernel.add_sequence(keys, counts, used, SEED, order, framed(text))
        twin.add_sequence(text)
    symbols = framed(asked)
    plain = ["start", *asked, "end"]
    for place in range(1, len(plain)):
        found = kernel.log_probability(keys, counts, SEED, order, 1 / 8, symbols, place)
        assert found == pytest.approx(twin.log_probability(plain, place))
    assert used[0] == (keys > 0).sum()
    for symbol in range(3, 10):
        assert kernel.count_of(keys, counts, SEED, np.uint64(symbol)) == twin.events[(), symbol]


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(SYMBOLS, max_size=4), history=SYMBOLS)
def test_probabilities_of_all_symbols_sum_to_one(texts, history):
    keys, counts, used = table()
    for text in texts:
        kernel.add_sequence(keys, counts, used, SEED, 3, framed(text))
    everything = [*range(3, 10), kernel.END]
    place = len(history) + 1
    total = 0.0
    for symbol in everything:
        symbols = np.array([kernel.START, *history, symbol], dtype=np.uint64)
        total += np.exp(kernel.log_probability(keys, counts, SEED, 3, 1 / 8, symbols, place))
    assert total == pytest.approx(1.0)


def test_a_full_table_still_gives_probabilities():
    keys, counts, used = table(64)
    rng = np.random.default_rng(0)
    for _ in range(200):
        text = rng.integers(3, 30, 8)
        kernel.add_sequence(keys, counts, used, SEED, 3, framed(text))
        log = kernel.log_probability(keys, counts, SEED, 3, 1 / 30, framed(text), 4)
        assert np.isfinite(log)
        assert log <= 0.0
    assert used[0] <= 64


def test_spelling_is_the_sum_over_letters():
    keys, counts, used = table()
    codes = np.array([ord(c) for c in "catcar"], dtype=np.int32)
    kernel.add_spelling(keys, counts, used, SEED, 3, codes, 0, 3)
    twin = Counts(3, 1 / 64)
    twin.add_spelling([ord(c) for c in "cat"])
    found = kernel.spelling(keys, counts, SEED, 3, 1 / 64, codes, 3, 6)
    assert found == pytest.approx(twin.spelling([ord(c) for c in "car"]))


def test_hashes_tell_tokens_apart_and_are_the_same_for_ever():
    codes = np.array([97, 98, 98, 97], dtype=np.int32)
    hashes = kernel.hash_tokens(codes, np.array([0, 0, 2, 4], dtype=np.int64))
    assert len(set(hashes.tolist())) == 3
    assert [int(h) for h in hashes] == [14695981039346656037, int(hashes[1]), int(hashes[2])]
