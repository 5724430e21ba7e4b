"""Regret in logarithms: -log U of what was shown against -log U of the best path (appendix F of the paper).

The paper claims R_L <= R_G / alpha, alpha the least gain; that needs every term of the sum to be at least 0
(erratum 6). What does hold is R_L <= (sum of the positive parts of U* - U) / alpha.
"""

from dataclasses import dataclass

import numpy as np

from galloon.learners.paths.protocol import FloatArray


@dataclass(frozen=True, slots=True)
class LogRegret:
    """The sum over rounds in which both gains are positive, and how many others there were (log 0)."""

    value: float
    rounds_left_out: int


def log_regret(shown: FloatArray, best: FloatArray) -> LogRegret:
    """The regret of `shown`, round by round gains, against those of the best path, in -log U."""
    both = (shown > 0) & (best > 0)
    return LogRegret(float((np.log(best[both]) - np.log(shown[both])).sum()), int((~both).sum()))
