"""Sum and maximum in lanes are the sum and the maximum."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from galloon.learners.kernels.reductions import largest_of, total_of

NUMBERS = arrays(np.float64, st.integers(0, 40), elements=st.floats(-1e6, 1e6))


@settings(deadline=None, max_examples=100)
@given(NUMBERS)
def test_total(x):
    assert total_of(x) == pytest.approx(math.fsum(x), rel=1e-12, abs=1e-8)


@settings(deadline=None, max_examples=100)
@given(NUMBERS)
def test_largest(x):
    assert largest_of(x) == max(x, default=-math.inf)


def test_largest_of_infinities():
    assert largest_of(np.array([-math.inf] * 5)) == -math.inf
    assert largest_of(np.array([-math.inf, 3.0, -math.inf, -math.inf, 2.0])) == 3.0
