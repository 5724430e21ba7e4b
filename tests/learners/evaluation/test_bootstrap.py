"""Intervals by resampling utterances: right on average, deterministic, paired where it matters."""

import numpy as np
import pytest

from galloon.learners.errors import InvalidInput
from galloon.learners.evaluation import bootstrap
from galloon.learners.evaluation.bootstrap import paired_difference, rate_interval
from galloon.learners.evaluation.error_rate import ErrorCounts


def drawn(seed, count=300, share=0.1, length=10):
    generator = np.random.default_rng(seed)
    return [ErrorCounts(int(n), 0, 0, length) for n in generator.binomial(length, share, size=count)]


def test_the_interval_is_the_normal_one_where_that_is_right():
    """For independent errors the width is that of the binomial proportion."""
    found = rate_interval(drawn(1))
    width = 2 * 1.96 * 100 * np.sqrt(0.1 * 0.9 / 3000)
    assert found.low < found.value < found.high
    assert found.high - found.low == pytest.approx(width, rel=0.15)


def test_the_interval_holds_the_true_rate_about_nineteen_times_in_twenty():
    held = sum(i.low <= 10.0 <= i.high for i in (rate_interval(drawn(s), resamples=400) for s in range(200)))
    assert 180 <= held <= 198


def test_the_same_seed_gives_the_same_bits_in_chunks_of_any_size(monkeypatch):
    whole = rate_interval(drawn(2), seed=7)
    monkeypatch.setattr(bootstrap, "_CHUNK_DRAWS", 1)
    assert rate_interval(drawn(2), seed=7) == whole
    assert rate_interval(drawn(2), seed=8) != whole


def test_pairing_sees_a_difference_that_single_intervals_hide():
    """One error less in every tenth utterance, on utterances whose difficulty varies widely."""
    hard = np.random.default_rng(3).integers(1, 30, size=400)
    first = [ErrorCounts(int(n) - (i % 10 == 0), 0, 0, 40) for i, n in enumerate(hard)]
    second = [ErrorCounts(int(n), 0, 0, 40) for n in hard]
    a, b, difference = rate_interval(first), rate_interval(second), paired_difference(first, second)
    assert a.high > b.low
    assert difference.excludes_zero
    assert difference.value == pytest.approx(-0.25)
    assert difference.value == pytest.approx(a.value - b.value)


def test_what_cannot_be_resampled_is_refused():
    with pytest.raises(InvalidInput, match="no utterances"):
        rate_interval([])
    with pytest.raises(InvalidInput, match="same utterances"):
        paired_difference([ErrorCounts(0, 0, 0, 1)], [ErrorCounts(0, 0, 0, 2)])
    with pytest.raises(InvalidInput, match="resamples"):
        rate_interval([ErrorCounts(0, 0, 0, 1)], resamples=0)
