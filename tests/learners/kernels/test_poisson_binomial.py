"""Posteriors given the number of events are those of listing all outcomes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.poisson_binomial import posteriors


def listed(p, s):
    total, each = 0.0, np.zeros(len(p))
    for outcome in product((0, 1), repeat=len(p)):
        if sum(outcome) == s:
            chance = np.prod([q if hit else 1 - q for q, hit in zip(p, outcome, strict=True)])
            total += chance
            each += chance * np.array(outcome)
    return each / total


@settings(deadline=None, max_examples=60)
@given(p=st.lists(st.floats(0.001, 0.999), min_size=1, max_size=7), data=st.data())
def test_posteriors_are_those_of_all_outcomes(p, data):
    s = data.draw(st.integers(0, len(p)))
    assert posteriors(np.array(p), float(s)) == pytest.approx(listed(p, s), abs=1e-9)
    if s < len(p):
        between = 0.25 * listed(p, s) + 0.75 * listed(p, s + 1)
        assert posteriors(np.array(p), s + 0.75) == pytest.approx(between, abs=1e-9)


def test_a_count_out_of_range_is_the_nearest_one():
    assert posteriors(np.array([0.5, 0.2]), 7.0).tolist() == [1.0, 1.0]
    assert posteriors(np.array([0.5, 0.2]), -1.0).tolist() == [0.0, 0.0]
    assert posteriors(np.zeros(0), 0.0).size == 0
