"""The relative-entropy projection onto the unit-flow polytope: the heart of Component Hedge.

The nearest flow to weights e**lw is w(e) = e**(lw(e) + a[target] - a[source]) with potentials a that minimise
the convex dual  sum of w + a[initial]  (a of the sink is 0); its gradient is inflow minus outflow. Newton's
method solves it. The Hessian is the Laplacian of the flow, H = L + L^T + (inflow - outflow) with
L = outflow - W, W the flow from state to state; it is solved by conjugate gradients preconditioned with
L^T (1 / outflow) L. Written for the unknown L x (Eisenstat 1981), an iteration is one solve with L, a sweep up
the layers, and one with L^T, a sweep down, and never a product with H. Before each step every layer is
renormalised to a total of 1, the exact minimiser over the slow, layer-constant modes. Where in and out of a
state are far apart, after a huge step of the weights, Newton would creep, about 1 in ln in/out at a time, and
its preconditioner is worthless: there a few sweeps that balance every state exactly come first.

All paths have the same length, so states and transitions lie in layers: layer j's transitions are
`edge_first[j]:edge_first[j + 1]` and leave the states `state_first[j]:state_first[j + 1]`. In an ensemble
(`drops[j] > 0`, see `kernels.layered`) ends of transitions are index arithmetic, else `source` and `target`.

Letters: a potentials [Q]; w flow [M]; inflow, outflow [Q]; v, t, y, r, p vectors over states in the solver.
"""

import math

import numpy as np
from numba import njit

from galloon.learners.kernels.exponential import fast_exp
from galloon.learners.kernels.layered import _gather, _spread
from galloon.learners.kernels.reductions import largest_of, total_of

SOLVER_LIMIT = 200
TRIES = 12
FAR = 2.0  # in ln in/out
SWEEPS = 3


@njit(cache=True, nogil=True, error_model="numpy")
def project(
    lw,
    a,
    source,
    target,
    edge_first,
    state_first,
    drops,
    absolute_goal,
    relative_goal,
    floor,
    most_steps,
    w,
    work,
):
    """Bring the potentials a (a start is taken from them) and the flow w to the projection of e**lw.

    Returns whether both goals were reached; `work` counts [evaluations, Newton steps, solver iterations, sweeps].
    """
    count = a.size
    inflow, outflow = np.empty(count), np.empty(count)
    x, trial = np.empty(count), np.empty(count)
    layout = (source, target, edge_first, state_first, drops)
    renormalise_layers(lw, a, layout, w)
    flow_sums(w, layout, inflow, outflow)
    work[0] += 1
    absolute, relative = violation(inflow, outflow, floor)
    for _ in range(most_steps):
        if absolute <= absolute_goal and relative <= relative_goal:
            return True
        if relative > FAR:
            _balance(lw, a, layout, w, inflow, outflow, work)
            absolute, relative = violation(inflow, outflow, floor)
        share = 0.01 if absolute > 1e-3 else 0.001
        work[1] += 1
        work[2] += newton_direction(w, layout, inflow, outflow, share, x)
        length, better = 1.0, False
        fresh_absolute, fresh_relative = absolute, relative
        for _ in range(TRIES):
            for s in range(count):
                trial[s] = a[s] + length * x[s]
            renormalise_layers(lw, trial, layout, w)
            flow_sums(w, layout, inflow, outflow)
            work[0] += 1
            fresh_absolute, fresh_relative = violation(inflow, outflow, floor)
            # With all layers at 1 the dual is a[initial] plus a constant. Near the end it stands still to the
            # last bit, and the violations decide.
            better = trial[0] < a[0] - 1e-13 * abs(a[0]) or (
                trial[0] <= a[0] + 1e-12 * (1.0 + abs(a[0]))
                and max(fresh_absolute / absolute_goal, fresh_relative / relative_goal)
                < max(absolute / absolute_goal, relative / relative_goal)
            )
            if better:
                break
            length *= 0.25
        if better:
            a[:] = trial
            absolute, relative = fresh_absolute, fresh_relative
        else:
            _balance(lw, a, layout, w, inflow, outflow, work)
            absolute, relative = violation(inflow, outflow, floor)
    return absolute <= absolute_goal and relative <= relative_goal


@njit(cache=True, nogil=True, error_model="numpy")
def renormalise_layers(lw, a, layout, w):
    """Shift each layer's potentials so that its transitions carry exactly 1 together; fills w, the flow."""
    source, target, edge_first, state_first, drops = layout
    spread = np.empty(_widest(edge_first))
    for j in range(edge_first.size - 2, -1, -1):
        x = w[edge_first[j] : edge_first[j + 1]]
        layer_lw = lw[edge_first[j] : edge_first[j + 1]]
        here = a[state_first[j] : state_first[j + 1]]
        if drops[j] > 0:
            _spread_targets(a, j, edge_first, state_first, drops, spread)
            for first in range(0, x.size, here.size):
                block = x[first : first + here.size]
                block_lw = layer_lw[first : first + here.size]
                block_spread = spread[first : first + here.size]
                for s in range(here.size):
                    block[s] = block_lw[s] + block_spread[s] - here[s]
        else:
            layer_source = source[edge_first[j] : edge_first[j + 1]]
            layer_target = target[edge_first[j] : edge_first[j + 1]]
            for e in range(x.size):
                x[e] = layer_lw[e] + a[layer_target[e]] - a[layer_source[e]]
        largest = largest_of(x)
        for e in range(x.size):
            x[e] = fast_exp(x[e] - largest)
        total = total_of(x)
        scale = 1.0 / total
        for e in range(x.size):
            x[e] *= scale
        # The layer before this one is weighed next, with these new potentials: one pass settles all layers.
        log_total = largest + math.log(total)
        for s in range(here.size):
            here[s] += log_total


@njit(cache=True, nogil=True, error_model="numpy")
def flow_sums(w, layout, inflow, outflow):
    """Fill inflow and outflow; the initial state's inflow is 1 by definition."""
    source, target, edge_first, state_first, drops = layout
    inflow[:] = 0.0
    outflow[:] = 0.0
    for j in range(edge_first.size - 1):
        x = w[edge_first[j] : edge_first[j + 1]]
        if drops[j] > 0:
            out = outflow[state_first[j] : state_first[j + 1]]
            for first in range(0, x.size, out.size):
                block = x[first : first + out.size]
                for s in range(out.size):
                    out[s] += block[s]
            if j < edge_first.size - 2:
                _gather(x, x.size, drops[j], inflow[state_first[j + 1] : state_first[j + 2]])
        else:
            for e in range(edge_first[j], edge_first[j + 1]):
                outflow[source[e]] += w[e]
                inflow[target[e]] += w[e]
    inflow[0] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def violation(inflow, outflow, floor):
    """The largest |in - out|, and the largest |ln in/out| where the flow is at least `floor`."""
    absolute, ratio = 0.0, 1.0
    for s in range(inflow.size - 1):
        absolute = max(absolute, abs(inflow[s] - outflow[s]))
        most = max(inflow[s], outflow[s])
        if most >= floor:
            ratio = max(ratio, most / min(inflow[s], outflow[s]))
    return absolute, math.log(ratio)


@njit(cache=True, nogil=True, error_model="numpy")
def newton_direction(w, layout, inflow, outflow, share, x):
    """Solve H x = outflow - inflow until the residual has fallen to `share`; returns the iterations taken."""
    state_first = layout[3]
    count = state_first[state_first.size - 1]  # all states but the sink
    inverse, root = np.empty(count), np.empty(count)
    r, p, v, t, y = np.zeros(count), np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    unknown = np.zeros(count)
    for s in range(count):
        inverse[s] = 1.0 / outflow[s] if outflow[s] > 1e-300 else 0.0
        root[s] = math.sqrt(outflow[s])
        v[s] = outflow[s] - inflow[s]
    _solve_down(w, layout, inverse, v, y)
    rho = 0.0
    for s in range(count):
        r[s] = root[s] * y[s]
        p[s] = r[s]
        rho += r[s] * r[s]
    goal = share * share * rho
    iterations = 0
    while iterations < SOLVER_LIMIT and rho > goal:
        iterations += 1
        for s in range(count):
            v[s] = root[s] * p[s]
        _solve_up(w, layout, inverse, v, t)
        for s in range(count):
            v[s] += (inflow[s] - outflow[s]) * t[s]
        v[0] -= inflow[0] * t[0]  # the initial state's inflow is given, it does not move with the potentials
        _solve_down(w, layout, inverse, v, y)
        curvature = 0.0
        for s in range(count):
            y[s] = root[s] * (t[s] + y[s])
            curvature += p[s] * y[s]
        if not curvature > 0.0:
            break
        step = rho / curvature
        fresh = 0.0
        for s in range(count):
            unknown[s] += step * p[s]
            r[s] -= step * y[s]
            fresh += r[s] * r[s]
        ratio = fresh / rho
        rho = fresh
        for s in range(count):
            p[s] = r[s] + ratio * p[s]
    for s in range(count):
        v[s] = root[s] * unknown[s]
    _solve_up(w, layout, inverse, v, t)
    x[:count] = t
    x[count] = 0.0
    return iterations


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_up(w, layout, inverse, v, t):
    """Solve (outflow - W) t = v, from the last layer to the first."""
    source, target, edge_first, state_first, drops = layout
    t[:] = v
    last = edge_first.size - 2
    spread = np.empty(_widest(edge_first))
    for j in range(last, -1, -1):
        here = t[state_first[j] : state_first[j + 1]]
        if j < last:  # beyond the last layer lies the sink, held at 0
            if drops[j] > 0:
                x = w[edge_first[j] : edge_first[j + 1]]
                _spread(t[state_first[j + 1] : state_first[j + 2]], x.size // drops[j], drops[j], spread)
                for first in range(0, x.size, here.size):
                    block, block_spread = x[first : first + here.size], spread[first : first + here.size]
                    for s in range(here.size):
                        here[s] += block[s] * block_spread[s]
            else:
                for e in range(edge_first[j], edge_first[j + 1]):
                    t[source[e]] += w[e] * t[target[e]]
        scale = inverse[state_first[j] : state_first[j + 1]]
        for s in range(here.size):
            here[s] *= scale[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_down(w, layout, inverse, v, y):
    """Solve (outflow - W^T) y = v, from the first layer to the last."""
    source, target, edge_first, state_first, drops = layout
    y[:] = v
    last = edge_first.size - 2
    products, sums = np.empty(_widest(edge_first)), np.empty(_widest(edge_first))
    for j in range(last + 1):
        here = y[state_first[j] : state_first[j + 1]]
        scale = inverse[state_first[j] : state_first[j + 1]]
        for s in range(here.size):
            here[s] *= scale[s]
        if j == last:
            break
        if drops[j] > 0:
            x = w[edge_first[j] : edge_first[j + 1]]
            for first in range(0, x.size, here.size):
                block, block_products = x[first : first + here.size], products[first : first + here.size]
                for s in range(here.size):
                    block_products[s] = block[s] * here[s]
            following = y[state_first[j + 1] : state_first[j + 2]]
            _gather(products, x.size, drops[j], sums)
            for s in range(following.size):
                following[s] += sums[s]
        else:
            for e in range(edge_first[j], edge_first[j + 1]):
                y[target[e]] += w[e] * y[source[e]]


@njit(cache=True, nogil=True, error_model="numpy")
def _balance(lw, a, layout, w, inflow, outflow, work):
    """A few sweeps, each with all layers back at 1; fills the flow and its sums."""
    for _ in range(SWEEPS):
        sweep(lw, a, layout)
        renormalise_layers(lw, a, layout, w)
    work[3] += SWEEPS
    flow_sums(w, layout, inflow, outflow)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(lw, a, layout):
    """Balance one layer's states after the other exactly, down and up: slow, but sure whatever the weights."""
    source, target, edge_first, state_first, _ = layout
    layer_count = edge_first.size - 1
    count = a.size
    top_in, top_out = np.empty(count), np.empty(count)
    total_in, total_out = np.empty(count), np.empty(count)
    for k in range(1, 2 * layer_count - 2):
        j = k if k < layer_count else 2 * layer_count - 2 - k  # the layer that leaves the states to balance
        for s in range(state_first[j], state_first[j + 1]):
            top_in[s], top_out[s], total_in[s], total_out[s] = -np.inf, -np.inf, 0.0, 0.0
        for e in range(edge_first[j - 1], edge_first[j]):
            top_in[target[e]] = max(top_in[target[e]], lw[e] - a[source[e]])
        for e in range(edge_first[j], edge_first[j + 1]):
            top_out[source[e]] = max(top_out[source[e]], lw[e] + a[target[e]])
        for e in range(edge_first[j - 1], edge_first[j]):
            total_in[target[e]] += math.exp(lw[e] - a[source[e]] - top_in[target[e]])
        for e in range(edge_first[j], edge_first[j + 1]):
            total_out[source[e]] += math.exp(lw[e] + a[target[e]] - top_out[source[e]])
        for s in range(state_first[j], state_first[j + 1]):  # in * e**a = out * e**-a
            a[s] = 0.5 * (top_out[s] + math.log(total_out[s]) - top_in[s] - math.log(total_in[s]))


@njit(cache=True, nogil=True)
def _spread_targets(a, j, edge_first, state_first, drops, spread):
    """spread[c] = the potential of the state that transition c of layer j enters; the sink's is 0."""
    size = edge_first[j + 1] - edge_first[j]
    if j == edge_first.size - 2:
        spread[:size] = 0.0
    else:
        _spread(a[state_first[j + 1] : state_first[j + 2]], size // drops[j], drops[j], spread)


@njit(cache=True, nogil=True)
def _widest(edge_first):
    """The largest number of transitions of a layer."""
    widest = 0
    for j in range(edge_first.size - 1):
        widest = max(widest, edge_first[j + 1] - edge_first[j])
    return widest


def warm_up() -> None:
    source = np.array([0, 0, 1, 2], dtype=np.int32)
    target = np.array([1, 2, 3, 3], dtype=np.int32)
    layers = np.array([0, 2, 4], dtype=np.int64)
    states = np.array([0, 1, 3], dtype=np.int64)
    drops = np.zeros(2, dtype=np.int64)
    project(
        np.zeros(4),
        np.zeros(4),
        source,
        target,
        layers,
        states,
        drops,
        1e-9,
        1e-6,
        1e-12,
        10,
        np.empty(4),
        np.zeros(4, dtype=np.int64),
    )
