"""What partial feedback says of every expert: losses of each expert in each slot, from what was shown.

Experts that offer the shown token share its fate, so a slot's probability is that of the token. Everything
divided by was stored at choice time. Estimates are unbiased up to a constant of the slot, which no
probability and no regret depends on, if the shown experts were drawn.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def shown_losses(tokens: IntArray, shown: IntArray, divisors: FloatArray, gains: FloatArray) -> FloatArray:
    """Semi-bandit: the loss of the shown token over its probability, for all who offer it; else nothing.

    Loss form: E[loss] is the true loss, and no estimate is negative, so no rate is too high for the proof.
    """
    same = tokens == tokens[np.arange(len(shown)), shown][:, None]
    return np.where(same, ((1.0 - gains) / divisors)[:, None], 0.0)


def score_losses(
    tokens: IntArray,
    shown: IntArray,
    divisors: FloatArray,
    score: float,
    predicted: FloatArray,
) -> FloatArray:
    """Bandit: one score for all slots. `predicted` are guesses of every expert's gain, made before the draw.

    Slots are drawn independently, so with d = score - sum of the guesses for what was shown,
    guess + d (1{offers the shown token} / probability - 1) has the true gain as its mean, up to a constant
    of the slot: E[d_k (1/p - 1)] vanishes for every other slot k. The better the guesses, the smaller the
    variance; however bad, no bias.
    """
    slots = np.arange(len(shown))
    same = tokens == tokens[slots, shown][:, None]
    surprise = score - float(predicted[slots, shown].sum())
    gains = predicted + surprise * (np.where(same, 1.0 / divisors[:, None], 0.0) - 1.0)
    return np.asarray(gains.max(axis=1, keepdims=True) - gains)
