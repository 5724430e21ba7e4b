"""Clocks of two engines: found where there is a line, refused where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.clock import (
    MIDDLES,
    NO_TIMES,
    STARTS_AND_ENDS,
    common_times,
    fit_clock,
    middles_of,
)
from tests.reference import alignment as twin
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


SAID = st.lists(st.integers(1, 5), max_size=5)


@given(data=st.data(), said=st.lists(SAID, min_size=1, max_size=3))
@settings(deadline=None, max_examples=80)
def test_times_of_many_engines_are_put_on_the_clock_of_the_longest(data, said):
    """Some say the same at other times, some keep another time, some tell none, some tell nonsense."""
    sequences = [data.draw(st.sampled_from(said)) for _ in range(data.draw(st.integers(1, 5)))]
    given_as, spans, middles = [], [], []
    for sequence in sequences:
        kind = data.draw(st.sampled_from([NO_TIMES, STARTS_AND_ENDS, MIDDLES]))
        pace, late = data.draw(st.sampled_from([(1.0, 0.0), (1.0, 0.1), (0.5, 7.0), (-1.0, 0.0)]))
        ends = np.array(
            [(2.0 * i * pace + late, (2.0 * i + 1.5) * pace + late) for i in range(len(sequence))]
        )
        ends = ends.reshape(-1, 2)
        halves, usable = middles_of(ends)
        sound = kind == MIDDLES or (kind == STARTS_AND_ENDS and usable)
        given_as.append(kind if len(sequence) else NO_TIMES)
        spans.append(halves if kind == MIDDLES else ends)
        middles.append(halves if sound else None)
    different = sorted(set(map(tuple, sequences)))

    def numbered(some):
        tokens = np.array([token for sequence in some for token in sequence], dtype=np.int32)
        return tokens, np.cumsum([0, *map(len, some)]).astype(np.int64)

    def fits(mine, times, reference, reference_times):
        ints = [np.array(each, dtype=np.int32) for each in (mine, reference)]
        return fit_clock(ints[0], times, ints[1], reference_times, 3)

    owners = np.array([different.index(tuple(sequence)) for sequence in sequences])
    found = common_times(
        *numbered(different),
        owners,
        np.concatenate(spans),
        numbered(sequences)[1],
        np.array(given_as, dtype=np.int8),
        3,
    )
    expected = twin.common_times(sequences, middles, fits)
    if expected is None:
        assert not len(found)
    else:
        unknown = [
            np.full((len(s), 2), np.nan) if e is None else e for s, e in zip(different, expected, strict=True)
        ]
        assert np.array_equal(found, np.concatenate(unknown), equal_nan=True)
