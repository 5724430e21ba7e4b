"""The vectorised exp and log agree with libm to the last bits."""

import numpy as np

from galloon.learners.kernels.exponential import exp_in_place, log_in_place


def test_exp_is_within_four_units_of_1e_16_of_libm():
    x = np.concatenate([np.linspace(-708, 709, 200_001), np.random.default_rng(0).normal(size=100_000)])
    fast = x.copy()
    exp_in_place(fast)
    assert np.max(np.abs(fast / np.exp(x) - 1)) < 5e-16


def test_exp_of_very_small_numbers_is_tiny_but_positive():
    x = np.array([-708.0, -1e4, -1e300, -np.inf])
    exp_in_place(x)
    assert (x > 0).all()
    assert (x < 4e-308).all()


def test_log_is_within_four_units_of_1e_16_of_libm():
    generator = np.random.default_rng(1)
    x = np.concatenate(
        [2.0 ** generator.uniform(-1000, 1000, 100_000), generator.uniform(0.5, 2.0, 100_000), [1.0]]
    )
    fast = x.copy()
    log_in_place(fast)
    error = np.abs(fast - np.log(x)) / np.maximum(np.abs(np.log(x)), 1.0)
    assert error.max() < 5e-16
    assert fast[-1] == 0.0
