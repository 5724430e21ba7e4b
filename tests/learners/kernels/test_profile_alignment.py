"""Profile alignment: exact for two, close to exact for more, and each joining priced right."""

import numpy as np
from hypothesis import given, settings

from galloon.learners.kernels.exact_alignment import exact_alignment
from galloon.learners.kernels.profile_alignment import cost_of_one, join, pair_distance, profile_alignment
from tests.learners.kernels.small_vocabulary import (
    COSTS,
    SEQUENCES,
    VOCABULARY,
    WEIGHTS,
    check_complete,
    cost,
    flat,
    total_cost,
)
from tests.reference.alignment import least_cost


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
    weights=WEIGHTS,
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
        exact = exact_alignment(tokens, starts, w, COSTS)
        profile = profile_alignment(tokens, starts, w, COSTS, 4, 64, 64)
        check_complete(profile, sequences)
        exact_total += total_cost(exact, sequences, [1] * 4)
        profile_total += total_cost(profile, sequences, [1] * 4)
    assert exact_total <= profile_total <= 1.02 * exact_total
