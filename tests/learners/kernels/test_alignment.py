"""The alignment kernels against their slow twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.alignment import (
    align_sequences,
    alignment_cost,
    exact_alignment,
    profile_alignment,
)
from galloon.learners.kernels.token_distance import token_costs
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
    """Also for tokens longer than a machine word."""
    vocabulary = ["", *tokens]
    expected = [[token_cost(a, b, GAP, LIKE, UNLIKE) for b in vocabulary] for a in vocabulary]
    assert costs_of(vocabulary).tolist() == expected


@given(sequences=SEQUENCES, weights=st.lists(st.integers(1, 3), min_size=4, max_size=4))
@settings(deadline=None, max_examples=80)
def test_the_exact_alignment_has_the_least_sum_of_pairs(sequences, weights):
    """Also after common beginnings and ends were set aside."""
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    tokens, starts = flat(sequences)
    expected = least_cost(tuple(map(tuple, sequences)), tuple(w.tolist()), cost)
    for found in (
        exact_alignment(tokens, starts, w, COSTS, NO_TIMES, 0),
        align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 1e9, 4, 64),
    ):
        check_complete(found, sequences)
        assert alignment_cost(found, tokens, starts, w, COSTS, NO_TIMES, 0) == expected
        slots = [
            [s[p] if p >= 0 else None for s, p in zip(sequences, row, strict=True)] for row in found.tolist()
        ]
        assert sum(column_cost(slot, w.tolist(), cost) for slot in slots) == expected


@given(sequences=SEQUENCES)
@settings(deadline=None, max_examples=80)
def test_two_sequences_are_aligned_exactly_by_profiles_too(sequences):
    pair = sequences[:2]
    tokens, starts = flat(pair)
    w = np.ones(2, dtype=np.int64)
    found = profile_alignment(tokens, starts, w, COSTS, NO_TIMES, 0, 4, 64)
    check_complete(found, pair)
    assert alignment_cost(found, tokens, starts, w, COSTS, NO_TIMES, 0) == least_cost(
        tuple(map(tuple, pair)), (1, 1), cost
    )


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
        exact = align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 1e9, 4, 64)
        profile = align_sequences(tokens, starts, w, COSTS, NO_TIMES, 0, 0.0, 4, 64)
        check_complete(profile, sequences)
        exact_total += alignment_cost(exact, tokens, starts, w, COSTS, NO_TIMES, 0)
        profile_total += alignment_cost(profile, tokens, starts, w, COSTS, NO_TIMES, 0)
    assert exact_total <= profile_total <= 1.02 * exact_total
