"""Random numbers keyed by (seed, round): the same round of the same learner draws the same numbers.

The generator is counter-based (Philox), so nothing of it is state: a replay needs only the round number.
"""

import numpy as np


def generator(seed: int, round_number: int) -> np.random.Generator:
    """The generator of one round."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, round_number], dtype=np.uint64)))
