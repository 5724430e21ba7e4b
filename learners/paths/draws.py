"""Random numbers of a round: a function of (seed, round number), so that a replay draws the same.

The first two draws of neighbouring rounds and seeds are as unrelated as any (tests/learners/paths/test_draws.py).
"""

import numpy as np

from galloon.learners.kernels import uniform
from galloon.learners.paths.protocol import FloatArray


def uniforms(seed: int, round_number: int, count: int) -> FloatArray:
    """Numbers from [0, 1)."""
    numbers: FloatArray = uniform.uniforms(np.uint64(seed), np.uint64(round_number), count)
    return numbers


def exponentials(seed: int, round_number: int, count: int) -> FloatArray:
    """Numbers with the density e**-x."""
    return -np.log1p(-uniforms(seed, round_number, count))
