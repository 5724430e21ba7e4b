"""A few tokens, what they cost against each other, and alignments of sequences of them."""

import numpy as np
from hypothesis import strategies as st

from galloon.learners.kernels.token_distance import token_costs
from tests.reference.alignment import column_cost

GAP, LIKE, UNLIKE = 1000, 300, 1000


def costs_of(vocabulary):
    alphabet = sorted(set("".join(vocabulary)))
    codes = np.array([alphabet.index(c) for token in vocabulary for c in token], dtype=np.int32)
    starts = np.cumsum([0] + [len(token) for token in vocabulary]).astype(np.int64)
    everything = np.ones(len(starts) - 1, dtype=np.bool_)
    return token_costs(codes, starts, max(1, len(alphabet)), GAP, np.array([LIKE, UNLIKE]), everything)


VOCABULARY = ["", "a", "ab", "abc", "xyz", "xy", "q"]
COSTS = costs_of(VOCABULARY)
SEQUENCES = st.lists(st.lists(st.integers(1, len(VOCABULARY) - 1), max_size=4), min_size=2, max_size=4)
WEIGHTS = st.lists(st.integers(1, 3), min_size=4, max_size=4)


def flat(sequences):
    tokens = np.array([t for sequence in sequences for t in sequence], dtype=np.int32)
    return tokens, np.cumsum([0] + [len(s) for s in sequences]).astype(np.int64)


def cost(a, b):
    """None is null."""
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
