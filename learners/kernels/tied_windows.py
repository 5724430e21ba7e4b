"""The projection of the tied learner for n-grams: consistent laws of all windows of contexts.

For each window C of n contexts a law w_C over the n-tuples of experts; for each S of n-1 contexts a law m_S.
Consistent means: the first n-1 of a tuple have law m of the first n-1 contexts, the last n-1 that of the last.
`project` finds, among all consistent laws, the one that minimises sum_C KL(w_C || u_C) + sum_S KL(m_S || unif),
u = exp(-losses) up to scale, by Newton's method on the multipliers a (left marginals) and b (right ones):

    w_C(x) = exp(-losses[C, x] + a[C, x // r] + b[C, x % R]),    m_S(y) ~ exp(-sum a[C, y] - sum b[C, y]),

sums over the C with left part S, and with right part S. The dual F = sum w + sum_S ln sum_y exp(...) is convex;
its gradient is left marginal - m, and right marginal - m. Newton's equations are solved by conjugate
gradients, which never needs the Hessian itself.

Letters: c contexts, r experts, R = r**(n-1), windows W = c**n, parts c**(n-1). losses float64 W x r**n;
a, b float64 W x R. C // c is the left part of C and C % c**(n-1) its right part; so for tuples with r.
"""

import numpy as np
from numba import njit

_NEWTON_STEPS = 50
_CONJUGATE_STEPS = 400
_HALVINGS = 40
_ARMIJO = 1e-4
_ROUNDING = 1e-12
_RIDGE = 1e-8


@njit(cache=True, nogil=True)
def laws(losses, a, b, contexts, experts):
    """The laws that these multipliers stand for: w float64 W x r**n, m float64 parts x R, and the dual F."""
    windows, size = losses.shape
    tuples = a.shape[1]
    parts = windows // contexts
    w = np.empty((windows, size))
    total = 0.0
    exponents = np.zeros((parts, tuples))
    for C in range(windows):
        for x in range(size):
            w[C, x] = np.exp(-losses[C, x] + a[C, x // experts] + b[C, x % tuples])
            total += w[C, x]
        for y in range(tuples):
            exponents[C // contexts, y] -= a[C, y]
            exponents[C % parts, y] -= b[C, y]
    for S in range(parts):
        highest = exponents[S].max()
        mass = 0.0
        for y in range(tuples):
            exponents[S, y] = np.exp(exponents[S, y] - highest)
            mass += exponents[S, y]
        exponents[S] /= mass
        total += highest + np.log(mass)
    return w, exponents, total


@njit(cache=True, nogil=True)
def _marginals(w, experts, tuples, left, right):
    left[:] = 0.0
    right[:] = 0.0
    for C in range(w.shape[0]):
        for x in range(w.shape[1]):
            left[C, x // experts] += w[C, x]
            right[C, x % tuples] += w[C, x]


@njit(cache=True, nogil=True)
def _curvature(w, m, left, right, da, db, contexts, experts, out_a, out_b):
    """The Hessian of F times the direction (da, db)."""
    windows, size = w.shape
    parts, tuples = m.shape
    for C in range(windows):
        for y in range(tuples):
            out_a[C, y] = left[C, y] * da[C, y]
            out_b[C, y] = right[C, y] * db[C, y]
        for x in range(size):
            out_a[C, x // experts] += w[C, x] * db[C, x % tuples]
            out_b[C, x % tuples] += w[C, x] * da[C, x // experts]
    lifts = np.zeros((parts, tuples))
    for C in range(windows):
        for y in range(tuples):
            lifts[C // contexts, y] += da[C, y]
            lifts[C % parts, y] += db[C, y]
    for S in range(parts):
        mean = 0.0
        for y in range(tuples):
            mean += m[S, y] * lifts[S, y]
        for y in range(tuples):
            lifts[S, y] = m[S, y] * (lifts[S, y] - mean)
    for C in range(windows):
        for y in range(tuples):
            out_a[C, y] += lifts[C // contexts, y]
            out_b[C, y] += lifts[C % parts, y]


@njit(cache=True, nogil=True)
def _newton_direction(w, m, left, right, ga, gb, contexts, experts, floor):
    """Solve Hessian x direction = -gradient by conjugate gradients, scaled by the diagonal."""
    parts = m.shape[0]
    da, db = np.zeros_like(ga), np.zeros_like(gb)
    ra, rb = -ga, -gb
    scale_a, scale_b = np.empty_like(ga), np.empty_like(gb)
    for C in range(ga.shape[0]):
        for y in range(ga.shape[1]):
            at_left, at_right = m[C // contexts, y], m[C % parts, y]
            scale_a[C, y] = 1.0 / (left[C, y] + at_left * (1.0 - at_left) + floor)
            scale_b[C, y] = 1.0 / (right[C, y] + at_right * (1.0 - at_right) + floor)
    za, zb = ra * scale_a, rb * scale_b
    pa, pb = za.copy(), zb.copy()
    ha, hb = np.empty_like(ga), np.empty_like(gb)
    alignment = (ra * za).sum() + (rb * zb).sum()
    first = alignment
    for _ in range(_CONJUGATE_STEPS):
        if alignment <= 1e-14 * first or alignment <= 0.0:
            break
        _curvature(w, m, left, right, pa, pb, contexts, experts, ha, hb)
        # Some directions change nothing (a up, b down): a small ridge keeps rounding from running off there.
        ha += _RIDGE * pa / scale_a
        hb += _RIDGE * pb / scale_b
        bend = (pa * ha).sum() + (pb * hb).sum()
        if bend <= 0.0:
            break
        step = alignment / bend
        da += step * pa
        db += step * pb
        ra -= step * ha
        rb -= step * hb
        za, zb = ra * scale_a, rb * scale_b
        before = alignment
        alignment = (ra * za).sum() + (rb * zb).sum()
        pa = za + (alignment / before) * pa
        pb = zb + (alignment / before) * pb
    return da, db


@njit(cache=True, nogil=True)
def _sweep(losses, a, b, contexts, experts):
    """One exact step for all left constraints, then one for all right ones: never uphill, good from afar."""
    windows = losses.shape[0]
    tuples = a.shape[1]
    parts = windows // contexts
    left, right = np.empty_like(a), np.empty_like(b)
    for side in range(2):
        w, m, _ = laws(losses, a, b, contexts, experts)
        _marginals(w, experts, tuples, left, right)
        for S in range(parts):
            wanted = np.log(np.maximum(m[S], 1e-300))
            for k in range(contexts):
                if side == 0:
                    wanted += np.log(np.maximum(left[S * contexts + k], 1e-300))
                else:
                    wanted += np.log(np.maximum(right[k * parts + S], 1e-300))
            wanted /= contexts + 1
            highest = wanted.max()
            wanted -= highest + np.log(np.exp(wanted - highest).sum())
            for k in range(contexts):
                if side == 0:
                    C = S * contexts + k
                    a[C] += wanted - np.log(np.maximum(left[C], 1e-300))
                else:
                    C = k * parts + S
                    b[C] += wanted - np.log(np.maximum(right[C], 1e-300))


@njit(cache=True, nogil=True)
def project(losses, a, b, contexts, experts, tolerance):
    """Move the multipliers a, b in place until the laws are consistent to the tolerance (absolute).

    Returns w, m, the largest inconsistency left, and the Newton steps taken.
    """
    tuples = a.shape[1]
    left, right = np.empty_like(a), np.empty_like(b)
    ga, gb = np.empty_like(a), np.empty_like(b)
    _sweep(losses, a, b, contexts, experts)
    w, m, value = laws(losses, a, b, contexts, experts)
    parts = m.shape[0]
    steps = 0
    before = np.inf
    while True:
        _marginals(w, experts, tuples, left, right)
        worst = 0.0
        for C in range(w.shape[0]):
            for y in range(tuples):
                ga[C, y] = left[C, y] - m[C // contexts, y]
                gb[C, y] = right[C, y] - m[C % parts, y]
                worst = max(worst, abs(ga[C, y]), abs(gb[C, y]))
        if worst <= tolerance or steps >= _NEWTON_STEPS:
            return w, m, worst, steps
        da, db = _newton_direction(w, m, left, right, ga, gb, contexts, experts, 1e-12)
        slope = (ga * da).sum() + (gb * db).sum()
        # So near the goal F cannot tell better from worse any more; Newton's full step can be trusted there,
        # and it is over when that does not help either.
        near = -slope <= _ROUNDING * (1.0 + abs(value))
        if near and worst > before / 2:
            return w, m, worst, steps
        length = 1.0
        new_w, new_m, new_value = laws(losses, a + da, b + db, contexts, experts)
        if not near:
            for _ in range(_HALVINGS):
                if new_value <= value + _ARMIJO * length * slope:
                    break
                length /= 2
                new_w, new_m, new_value = laws(losses, a + length * da, b + length * db, contexts, experts)
        a += length * da
        b += length * db
        w, m, value = new_w, new_m, new_value
        before = worst if near else np.inf
        steps += 1


def warm_up() -> None:
    losses = np.zeros((1, 4))
    project(losses, np.zeros((1, 2)), np.zeros((1, 2)), 1, 2, 1e-9)
