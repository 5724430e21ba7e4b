"""Costs of tokens against each other, by the recursion that defines the edit distance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.token_distance import cross_costs
from tests.learners.kernels.small_vocabulary import GAP, LIKE, UNLIKE, costs_of
from tests.reference.alignment import token_cost


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
