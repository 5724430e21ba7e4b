"""The search for slots: nothing that it sets aside or leaves out makes the result dearer."""

import numpy as np
import pytest
from hypothesis import given, settings

from galloon.learners.alignment import AlignmentSettings
from galloon.learners.alignment.search import search_slots
from galloon.learners.errors import BudgetExceeded
from tests.learners.kernels.small_vocabulary import (
    COSTS,
    SEQUENCES,
    WEIGHTS,
    check_complete,
    cost,
    flat,
    total_cost,
)
from tests.reference.alignment import least_cost


@given(sequences=SEQUENCES, weights=WEIGHTS)
@settings(deadline=None, max_examples=80)
def test_common_beginnings_and_ends_cost_nothing(sequences, weights):
    """With the same words before and after, the least sum of pairs stays what it is without them."""
    w = np.array(weights[: len(sequences)], dtype=np.int64)
    expected = least_cost(tuple(map(tuple, sequences)), tuple(w.tolist()), cost)
    framed = [(2, 4, *sequence, 1, 4, 4) for sequence in sequences]
    for some in (sequences, framed):
        found = search_slots(*flat(some), w, COSTS, AlignmentSettings())
        check_complete(found, some)
        assert total_cost(found, some, w.tolist()) == expected


def test_sequences_that_end_within_each_other():
    """What is shared at the beginning is not shared again at the end."""
    found = search_slots(*flat([(1, 1), (1, 1, 1)]), np.ones(2, dtype=np.int64), COSTS, AlignmentSettings())
    assert found.tolist() == [[0, 0], [1, 1], [-1, 2]]


def test_slots_beyond_the_limit_are_refused():
    """Although each sequence is short enough."""
    limits = AlignmentSettings(slot_limit=3, gap_cost=500)
    with pytest.raises(BudgetExceeded, match="slots: 4 needed, 3 allowed"):
        search_slots(*flat([(1, 2, 4), (4, 1, 2)]), np.ones(2, dtype=np.int64), COSTS, limits)
