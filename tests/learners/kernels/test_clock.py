"""Clocks of two engines: found where there is a line, refused where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.clock import fit_clock, middles_of
from tests.reference.alignment import clock_error


def fit(mine, reference, needed=3):
    tokens, times = zip(*mine, strict=True)
    reference_tokens, reference_times = zip(*reference, strict=True)
    return fit_clock(
        np.array(tokens, dtype=np.int32),
        np.array(times, dtype=np.float64),
        np.array(reference_tokens, dtype=np.int32),
        np.array(reference_times, dtype=np.float64),
        needed,
    )


WORDS = [(t, (2.0 * t, 0.9)) for t in range(1, 7)]


@given(slope=st.floats(0.3, 3.0), offset=st.floats(-20, 20))
@settings(deadline=None, max_examples=60)
def test_a_scaled_clock_is_found(slope, offset):
    scaled = [(t, ((mid - offset) / slope, half / slope)) for t, (mid, half) in WORDS]
    found_slope, found_offset, fits = fit(scaled, WORDS)
    assert fits
    if (found_slope, found_offset) != (1.0, 0.0):
        assert (found_slope, found_offset) == pytest.approx((slope, offset), abs=1e-6)
    anchors = [(a[1][0], b[1][0], b[1][1]) for a, b in zip(scaled, WORDS, strict=True)]
    assert clock_error(anchors, found_slope, found_offset) <= 1.0


def test_the_identity_is_kept_where_it_fits():
    """Small differences between engines on one clock are not fitted away."""
    shifted = [(t, (mid + 0.1 * t, half)) for t, (mid, half) in WORDS]
    assert fit(shifted, WORDS) == (1.0, 0.0, True)


def test_too_few_shared_words_or_none_give_no_clock():
    far = [(t, (mid * 5 + 100, half)) for t, (mid, half) in WORDS[:2]]
    assert not fit(far, WORDS)[2]
    assert not fit([(99, (0.0, 1.0))], WORDS)[2]


def test_words_said_twice_are_no_anchors():
    twice = [(1, (2.0, 0.9)), (1, (9.0, 0.9))]
    assert not fit(twice, WORDS)[2]


def test_times_that_make_no_sense_are_refused():
    times, usable = middles_of(np.array([[0.0, 2.0], [1.0, 1.5]]))
    assert usable
    assert times.tolist() == [[1.0, 1.0], [1.25, 0.25]]
    for odd in ([[1.0, 2.0], [0.5, 2.0]], [[2.0, 1.0]], [[0.0, np.nan]], [[0.0, np.inf]], [[-np.inf, 0.0]]):
        assert not middles_of(np.array(odd))[1]


def test_a_clock_that_runs_backwards_or_jumps_is_refused():
    assert not fit([(t, (-mid, half)) for t, (mid, half) in WORDS], WORDS)[2]
    jumps = [0.0, 500.0, 3.0, 800.0, 1.0, 90.0]
    assert not fit([(t, (jump, 0.5)) for (t, _), jump in zip(WORDS, jumps, strict=True)], WORDS)[2]
