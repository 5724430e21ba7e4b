"""The alignment kernels against their slow twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.alignment import (
    align_sequences,
    cost_of_one,
    exact_alignment,
    join,
    pair_distance,
    profile_alignment,
    timed_costs,
)
from galloon.learners.kernels.token_distance import cross_costs, token_costs
from tests.reference.alignment import column_cost, least_cost, token_cost

NO_TIMES = np.empty((0, 2))
GAP, LIKE, UNLIKE = 1000, 300, 1000


def costs_of(vocabulary):
    alphabet = sorted(set("".join(vocabulary)))
    codes = np.array([alphabet.index(c) for token in vocabulary for c in token], dtype=np.int32)
    starts = np.cumsum([0] + [len(token) for token in vocabulary]).astype(np.int64)
    return token_costs(codes, starts, max(1, len(alphabet)), GAP, np.array([LIKE, UNLIKE]))


VOCABULARY = ["", "a", "ab", "abc", "xyz", "xy", "q"]
COSTS = costs_of(VOCABULARY)
SEQUENCES = st.lists(st.lists(st.integers(1, len(VOCABULARY) - 1), max_size=4), min_size=2, max_size=4)


def flat(sequences):
    tokens = np.array([t for sequence in sequences for t in sequence], dtype=np.int32)
    return tokens, np.cumsum([0] + [len(s) for s in sequences]).astype(np.int64)


def cost(a, b):
    return int(COSTS[a or 0, b or 0])


def check_complete(alignment, sequences):
    for i, sequence in enumerate(sequences):
        column = alignment[:, i]
        assert column[column >= 0].tolist() == list(range(len(sequence)))


def total_cost(alignment, sequences, weights):
    slots = [
        [s[p] if p >= 0 else None for s, p in zip(sequences, row, strict=True)] for row in alignment.tolist()
    ]
    return sum(column_cost(slot, weights, cost) for slot in slots)


@given(
    tokens=st.lists(
        st.text("abc", min_size=1, max_size=6) | st.text("ab", min_size=60, max_size=70),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
@settings(deadline=None, max_examples=60)
def test_token_costs_equal_the_recursion(tokens):
    """Of tokens longer than a machine word, their beginnings are compared."""
    vocabulary = ["", *tokens]
    expected = [
        [0 if a == b else token_cost(a[:64], b[:64], GAP, LIKE, UNLIKE) or LIKE for b in vocabulary]
        for a in vocabulary
    ]
    assert costs_of(vocabulary).tolist() == expected


@given(
    rows=st.lists(st.text("ab", min_size=1, max_size=4), max_size=4, unique=True),
    others=st.lists(st.text("ab", min_size=1, max_size=4), max_size=4, unique=True),
)
@settings(deadline=None, max_examples=60)
def test_costs_across_two_vocabularies_equal_the_recursion(rows, others):
    """Whether or not they share tokens."""
    joined = "".join(rows + others)
    starts = np.cumsum([0, 0] + [len(token) for token in rows + others]).astype(np.int64)
    codes = np.array([ord(c) - ord("a") for c in joined], dtype=np.int32)
    found = cross_costs(codes, starts, 2, GAP, np.array([LIKE, UNLIKE]), len(rows) + 1)
    assert found.tolist() == [[token_cost(a, b, GAP, LIKE, UNLIKE) for b in others] for a in ["", *rows]]


@given(sequences=SEQUENCES, weights=st.lists(st.integers(1, 3), min_size=4, max_size=4))
@settings(deadline=None, max_examples=80)
def test_the_exact_alignment_has_the_least_sum_of_pairs(sequences, weights):
    """Also after common beginnings and ends were set aside."""
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    tokens, starts = flat(sequences)
    expected = least_cost(tuple(map(tuple, sequences)), tuple(w.tolist()), cost)
    for found in (
        exact_alignment(tokens, starts, w, COSTS),
        align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 1e9, 4, 64, 64),
    ):
        check_complete(found, sequences)
        assert total_cost(found, sequences, w.tolist()) == expected


@given(sequences=SEQUENCES)
@settings(deadline=None, max_examples=80)
def test_two_sequences_are_aligned_exactly_by_profiles_too(sequences):
    pair = sequences[:2]
    tokens, starts = flat(pair)
    w = np.ones(2, dtype=np.int64)
    found = profile_alignment(tokens, starts, w, COSTS, 4, 64, 64)
    check_complete(found, pair)
    expected = least_cost(tuple(map(tuple, pair)), (1, 1), cost)
    assert total_cost(found, pair, [1, 1]) == expected
    first, second = (np.array(sequence, dtype=np.int32) for sequence in pair)
    for band in (1, 64):
        assert pair_distance(first, second, COSTS, band, 64) == expected


@given(
    sequences=SEQUENCES.filter(lambda s: len(s) > 2),
    weights=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
@settings(deadline=None, max_examples=80)
def test_the_price_of_joining_is_what_the_newcomer_costs_afterwards(sequences, weights):
    """And no band makes it dearer than the whole table."""
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    tokens, starts = flat(sequences)
    rest = exact_alignment(tokens[starts[1] :], starts[1:] - starts[1], w[1:], COSTS)
    profile = np.column_stack([np.full(len(rest), -1, dtype=np.int32), rest])
    members = np.array([False] + [True] * (len(sequences) - 1))
    wide, price = join(profile, members, 0, tokens, starts, w, COSTS, 100, 100)
    narrow, narrow_price = join(profile, members, 0, tokens, starts, w, COSTS, 1, 100)
    assert price == narrow_price
    for joined in (wide, narrow):
        check_complete(joined, sequences)
        assert cost_of_one(joined, 0, tokens, starts, w, COSTS) == price
    before = total_cost(rest, sequences[1:], w[1:].tolist())
    assert total_cost(wide, sequences, w.tolist()) == before + price


def test_profiles_come_close_to_the_exact_alignment():
    """Over many noisy copies of a sentence, within two percent of the least total cost."""
    generator = np.random.default_rng(3)
    exact_total = profile_total = 0
    for _ in range(60):
        truth = generator.integers(1, len(VOCABULARY), size=6)
        sequences = []
        for _ in range(4):
            keep = generator.random(6) > 0.15
            change = generator.random(6) < 0.2
            words = np.where(change, generator.integers(1, len(VOCABULARY), size=6), truth)
            sequences.append(words[keep].tolist())
        tokens, starts = flat(sequences)
        w = np.ones(4, dtype=np.int64)
        exact = align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 1e9, 4, 64, 64)
        profile = align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 0.0, 4, 64, 64)
        check_complete(profile, sequences)
        exact_total += total_cost(exact, sequences, [1] * 4)
        profile_total += total_cost(profile, sequences, [1] * 4)
    assert exact_total <= profile_total <= 1.02 * exact_total


def test_tokens_that_lie_apart_cost_more_and_unknown_times_nothing():
    tokens = np.array([1, 1, 4], dtype=np.int32)
    times = np.array([[1.0, 1.0], [2.0, 1.0], [np.nan, np.nan]])
    found = timed_costs(tokens, times, COSTS, 200)
    expected = [[0, GAP, GAP, GAP], [GAP, 0, 100, 1000], [GAP, 100, 0, 1000], [GAP, 1000, 1000, 0]]
    assert found.tolist() == expected
    times[1] = 9.0, 1.0
    assert timed_costs(tokens, times, COSTS, 200)[1, 2] == 200
