"""Experts that said the same are one sequence, in the order of what was said."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.slot_search import distinct_sequences


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 3), max_size=4).map(tuple), max_size=6))
def test_distinct_sequences_are_those_of_sorting_a_set(said):
    ordered = sorted(set(said))
    numbers = np.array([token for sequence in said for token in sequence], dtype=np.int32)
    starts = np.cumsum([0, *map(len, said)]).astype(np.int64)
    tokens, sequence_starts, weights, owners = distinct_sequences(numbers, starts)
    assert tokens.tolist() == [token for sequence in ordered for token in sequence]
    assert sequence_starts.tolist() == np.cumsum([0, *map(len, ordered)]).tolist()
    assert weights.tolist() == [said.count(sequence) for sequence in ordered]
    assert owners.tolist() == [ordered.index(sequence) for sequence in said]
