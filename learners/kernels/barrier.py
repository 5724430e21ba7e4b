"""The unit flow that minimises  sum of cost f - sum of weight ln f:  a logarithmic barrier on the flow polytope.

Its dual has a potential a for each state, a(sink) = 0: minimise a[initial] - sum of weight ln x over potentials
whose slacks x(e) = cost(e) + a[source] - a[target] are positive. Then f = weight / x; the gradient is inflow minus
outflow, the Hessian the Laplacian with the weights f^2 / weight. With no costs and even weights f is the centre of
the unit flows, where every path has the same sum of 1 / f, because that sum telescopes to a[initial].

Damped Newton steps, each solved by conjugate gradients that a symmetric sweep over the states preconditions.
States and transitions are ordered as in `kernels.graph`: sources ascend, the sink is last and its potential 0.

Letters: a potentials [Q]; x slacks, f flow, c weights of the Laplacian [M]; g gradient, d diagonal [Q].
"""

import math

import numpy as np
from numba import njit

SOLVER_LIMIT = 2000
SOLVED = 0.1  # the share of the residual that a solve leaves: more steps, but each much cheaper
HALVINGS = 60


@njit(cache=True, nogil=True, error_model="numpy")
def start(first, target, cost, step, a):
    """Potentials whose slacks are all `step` at least: the longest way to the sink, `step - cost` a transition."""
    last = first.size - 2
    a[last] = 0.0
    for s in range(last - 1, -1, -1):
        a[s] = -np.inf
        for e in range(first[s], first[s + 1]):
            a[s] = max(a[s], a[target[e]] + step - cost[e])


@njit(cache=True, nogil=True, error_model="numpy")
def solve(first, target, cost, weight, goal, most_steps, a, f):
    """Bring the potentials a, which must give positive slacks, and the flow f to the optimum.

    Returns the Newton steps taken, or -1 where |in - out| <= goal * flow was not reached at every state.
    """
    last = first.size - 2
    x, c = np.empty(f.size), np.empty(f.size)
    trial = np.empty(a.size)
    g, direction, d = np.empty(a.size), np.empty(a.size), np.empty(a.size)
    lightest = np.inf
    for e in range(f.size):
        lightest = min(lightest, weight[e])
    value = _evaluate(first, target, cost, weight, a, x)
    if value == np.inf:
        return -1
    for steps in range(most_steps + 1):
        worst = _flow(first, target, weight, x, f, c, g, d)
        if worst <= goal:
            return steps
        _newton(first, target, c, d, g, direction)
        decrement = 0.0
        for s in range(last):
            decrement -= g[s] * direction[s]
        # The dual over the lightest weight is self-concordant: so near the optimum a full step is right, and
        # the value, which stands still to its last bits there, is not asked.
        near = decrement < 0.0625 * lightest
        length = 1.0 if near else 1.0 / (1.0 + math.sqrt(max(decrement, 0.0) / lightest))
        better = False
        for _ in range(HALVINGS):
            for s in range(last):
                trial[s] = a[s] + length * direction[s]
            trial[last] = 0.0
            fresh = _evaluate(first, target, cost, weight, trial, x)
            if fresh <= value - 0.1 * length * decrement or (near and fresh < np.inf):
                better = True
                break
            length *= 0.5
        if not better:
            return -1
        a[:] = trial
        value = fresh
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _evaluate(first, target, cost, weight, a, x):
    """Fill the slacks; returns the dual, infinite where a slack is not positive."""
    value = a[0]
    for s in range(first.size - 2):
        for e in range(first[s], first[s + 1]):
            x[e] = cost[e] + a[s] - a[target[e]]
            if not x[e] > 0.0:
                return np.inf
            value -= weight[e] * math.log(x[e])
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _flow(first, target, weight, x, f, c, g, d):
    """Fill flow, weights, gradient and diagonal; returns the largest |in - out| as a share of the flow."""
    last = first.size - 2
    inflow, outflow = np.zeros(last + 1), np.zeros(last + 1)
    inflow[0] = 1.0
    d[:] = 0.0
    for s in range(last):
        for e in range(first[s], first[s + 1]):
            f[e] = weight[e] / x[e]
            c[e] = f[e] / x[e]
            outflow[s] += f[e]
            inflow[target[e]] += f[e]
            d[s] += c[e]
            d[target[e]] += c[e]
    worst = 0.0
    for s in range(last):
        g[s] = inflow[s] - outflow[s]
        worst = max(worst, abs(g[s]) / max(inflow[s], outflow[s]))
    # The initial state's inflow is given: g there is 1 - outflow, as the dual's gradient has it.
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(first, target, c, d, g, direction):
    """Solve H direction = -g by preconditioned conjugate gradients."""
    last = first.size - 2
    r, z, p, h = np.empty(last), np.empty(last), np.empty(last), np.empty(last)
    for s in range(last):
        direction[s] = 0.0
        r[s] = -g[s]
    direction[last] = 0.0
    _precondition(first, target, c, d, r, z)
    rho = 0.0
    for s in range(last):
        p[s] = z[s]
        rho += r[s] * z[s]
    goal = SOLVED * SOLVED * rho
    for _ in range(SOLVER_LIMIT):
        if not rho > goal:
            break
        curvature = 0.0
        for s in range(last):
            h[s] = d[s] * p[s]
        for s in range(last):
            for e in range(first[s], first[s + 1]):
                if target[e] < last:
                    h[s] -= c[e] * p[target[e]]
                    h[target[e]] -= c[e] * p[s]
        for s in range(last):
            curvature += p[s] * h[s]
        if not curvature > 0.0:
            break
        step, fresh = rho / curvature, 0.0
        for s in range(last):
            direction[s] += step * p[s]
            r[s] -= step * h[s]
        _precondition(first, target, c, d, r, z)
        for s in range(last):
            fresh += r[s] * z[s]
        ratio = fresh / rho
        rho = fresh
        for s in range(last):
            p[s] = z[s] + ratio * p[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _precondition(first, target, c, d, r, z):
    """z = (D - U)^-1 D (D - L)^-1 r: the states in order, then backwards (symmetric Gauss-Seidel)."""
    last = first.size - 2
    for s in range(last):
        z[s] = r[s]
    for s in range(last):
        here = z[s] / d[s]
        for e in range(first[s], first[s + 1]):
            if target[e] < last:
                z[target[e]] += c[e] * here
    for s in range(last - 1, -1, -1):
        for e in range(first[s], first[s + 1]):
            if target[e] < last:
                z[s] += c[e] * z[target[e]]
        z[s] /= d[s]


def warm_up() -> None:
    first = np.array([0, 2, 3, 3], dtype=np.int64)
    target = np.array([1, 2, 2], dtype=np.int32)
    a, f, cost = np.empty(3), np.empty(3), np.zeros(3)
    start(first, target, cost, 1.0, a)
    solve(first, target, cost, np.ones(3), 1e-9, 50, a, f)
