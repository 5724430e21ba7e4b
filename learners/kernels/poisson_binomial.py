"""Which of several independent events happened, given how many did: `posteriors`.

Letters: p float64, the probability of each event; s the number that happened, perhaps between whole numbers,
then between the posteriors of both.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _given(p, s):
    """P(event i | exactly s of them), by counting without and with each: O(n**2)."""
    n = p.shape[0]
    # forward[i, c]: log probability that c of the first i events happened; backward: of those from i on.
    forward = np.full((n + 1, n + 2), -np.inf)
    backward = np.full((n + 1, n + 2), -np.inf)
    forward[0, 0] = 0.0
    backward[n, 0] = 0.0
    for i in range(n):
        yes, no = np.log(p[i]), np.log1p(-p[i])
        for c in range(i + 2):
            rise = forward[i, c - 1] + yes if c > 0 else -np.inf
            forward[i + 1, c] = np.logaddexp(rise, forward[i, c] + no)
    for i in range(n - 1, -1, -1):
        yes, no = np.log(p[i]), np.log1p(-p[i])
        for c in range(n - i + 1):
            rise = backward[i + 1, c - 1] + yes if c > 0 else -np.inf
            backward[i, c] = np.logaddexp(rise, backward[i + 1, c] + no)
    found = np.empty(n)
    for i in range(n):
        joint = -np.inf
        for c in range(min(i, s - 1) + 1):
            if s - 1 - c <= n - i - 1:
                joint = np.logaddexp(joint, forward[i, c] + backward[i + 1, s - 1 - c])
        found[i] = np.exp(joint + np.log(p[i]) - forward[n, s])
    return found


@njit(cache=True, nogil=True)
def posteriors(p, s):
    """The probability of each event given that s of all of them happened. Every p lies strictly between."""
    n = p.shape[0]
    s = min(max(s, 0.0), np.float64(n))
    low = np.int64(np.floor(s))
    part = s - low
    found = _given(p, low)
    if part > 0.0:
        found = (1.0 - part) * found + part * _given(p, low + 1)
    return np.minimum(found, 1.0)


def warm_up() -> None:
    posteriors(np.array([0.25, 0.5]), 1.5)
