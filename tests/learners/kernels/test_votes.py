"""The vote kernels against their slow twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.votes import agreement, weighted_vote
from tests.reference.alignment import vote


@given(data=st.data(), experts=st.integers(1, 5), occupancy_first=st.booleans())
@settings(deadline=None, max_examples=150)
def test_the_vote_of_a_slot(data, experts, occupancy_first):
    numbers = st.lists(st.integers(0, 3), min_size=experts, max_size=experts)
    slot, weights, preference = data.draw(numbers), data.draw(numbers), data.draw(numbers)
    chosen, share = weighted_vote(
        np.array([slot], dtype=np.int32),
        np.array([weights], dtype=np.int64),
        np.array(preference, dtype=np.int64),
        occupancy_first,
    )
    winner = vote(slot, weights, preference, occupancy_first)
    assert chosen[0] == winner
    supported = sum(w for t, w in zip(slot, weights, strict=True) if t == winner)
    assert share[0] == (supported / sum(weights) if sum(weights) else 0)


@given(rows=st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), max_size=5))
@settings(deadline=None, max_examples=50)
def test_agreement_counts_equal_words(rows):
    expected = [sum(row[i] == row[j] != 0 for row in rows for j in range(3) if j != i) for i in range(3)]
    assert agreement(np.array(rows, dtype=np.int32).reshape(len(rows), 3)).tolist() == expected
