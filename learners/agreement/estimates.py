"""Which engine is best, as agreement sees it: `estimates` of error rates, who copies whom, what each is worth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Estimate:
    """One engine without any truth. Rates are percent of words; the interval says how much lines differ, and not
    how far agreement is from the truth.
    """

    expert: str
    error_rate: float
    low: float
    high: float
    dropping_costs: float  # more errors that the answer is expected to have without it, percent of words
    repeats: str  # the engine of which it is a copy, or empty
    lines: int  # in which it ran


def error_rates(moments: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rate of each engine and half the width of its interval: a ratio of sums over lines (see `estimate`)."""
    errors, words, squares, products, word_squares = moments.T
    known = np.maximum(words, 1.0)
    rates = errors / known
    spread = np.maximum(squares - 2 * rates * products + rates**2 * word_squares, 0.0)
    return 100 * rates, 100 * NORMAL_95 * np.sqrt(spread) / known
