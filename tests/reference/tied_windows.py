"""The projection of tied windows by alternating its two closed-form steps: slow, obvious, and the reference."""

import numpy as np


def bregman(losses, contexts, experts, sweeps=20000):
    """w and m, consistent: each step is the exact projection onto all left, or all right, constraints."""
    windows = len(losses)
    parts, tuples = windows // contexts, losses.shape[1] // experts
    w = np.exp(-losses)
    m = np.full((parts, tuples), 1.0 / tuples)
    for _ in range(sweeps):
        before = w.copy()
        for part in range(parts):
            members = [part * contexts + k for k in range(contexts)]
            marginals = [w[C].reshape(tuples, experts).sum(axis=1) for C in members]
            m[part] = _mean(m[part], marginals)
            for C, marginal in zip(members, marginals, strict=True):
                w[C] *= np.repeat(m[part] / marginal, experts)
        for part in range(parts):
            members = [k * parts + part for k in range(contexts)]
            marginals = [w[C].reshape(experts, tuples).sum(axis=0) for C in members]
            m[part] = _mean(m[part], marginals)
            for C, marginal in zip(members, marginals, strict=True):
                w[C] *= np.tile(m[part] / marginal, experts)
        if abs(w - before).max() < 1e-13:
            break
    return w, m


def _mean(law, marginals):
    """The normalised geometric mean."""
    product = law * np.prod(marginals, axis=0)
    mean = product ** (1 / (1 + len(marginals)))
    return mean / mean.sum()
