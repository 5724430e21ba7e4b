"""The relative-entropy projection onto unit flows, by balancing one state after the other until all are.

The projection onto one state's constraint alone is a closed form: scale what enters and what leaves it to
their geometric mean. Repeated over all states (Bregman 1967) this comes to the projection onto them all.
"""

import numpy as np


def project(log_weights, sources, targets, tolerance=1e-13, most_sweeps=200_000):
    """The unit flow w, from state 0 to the last, with the least sum of w ln(w / e**log_weights) - w."""
    last = int(targets.max())
    entering = [np.flatnonzero(targets == s) for s in range(last + 1)]
    leaving = [np.flatnonzero(sources == s) for s in range(last + 1)]
    log_flow = np.array(log_weights, dtype=float)
    for _ in range(most_sweeps):
        worst = 0.0
        for s in range(last + 1):
            into = 0.0 if s == 0 else np.logaddexp.reduce(log_flow[entering[s]])
            out = 0.0 if s == last else np.logaddexp.reduce(log_flow[leaving[s]])
            worst = max(worst, abs(into - out))
            if s == 0:
                log_flow[leaving[s]] -= out
            elif s == last:
                log_flow[entering[s]] -= into
            else:
                log_flow[entering[s]] += (out - into) / 2
                log_flow[leaving[s]] += (into - out) / 2
        if worst <= tolerance:
            return np.exp(log_flow)
    raise AssertionError(f"no projection after {most_sweeps} sweeps: still {worst}")
