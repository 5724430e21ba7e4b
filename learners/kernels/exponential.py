"""exp and log in a form that the compiler turns into vector instructions.

libm's cannot be vectorised here (no SVML in the wheels) and would take most of a push. `fast_exp` is
branch-free: x = k ln 2 + f with |f| <= ln 2 / 2, a polynomial for e^f, and k put into the exponent bits;
below -708 it gives about 3e-308 rather than 0. `fast_log` takes the exponent off and sums the series of
artanh. Both are within 4e-16 of libm, relative to the larger of the result and 1 for the logarithm.
"""

import numpy as np
from llvmlite import ir
from numba import float64, njit, types
from numba.extending import intrinsic

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # the leading bits of ln 2, so that k * LN2_HIGH is exact
LN2_LOW = 1.9082149292705877e-10
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
ONE_BITS = 0x3FF0000000000000
TWO_52_BITS = 0x4330000000000000
TWO_52_AND_BIAS = 4503599627370496.0 + 1023.0
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding and removing it rounds to the nearest integer


@intrinsic
def _as_float(typing_context, bits):
    """The float64 with these bits."""
    del typing_context, bits

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def _as_bits(typing_context, number):
    """The bits of this float64."""
    del typing_context, number

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _shift_down(typing_context, bits):
    """The exponent field of positive bits. A logical shift: the arithmetic one has no vector form."""
    del typing_context, bits

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.lshr(arguments[0], ir.Constant(ir.IntType(64), 52))

    return types.int64(types.int64), generate


@intrinsic
def _fused(typing_context, a, b, c):
    """a * b + c rounded once: half the instructions of the polynomial where the machine has them."""
    del typing_context, a, b, c

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@njit(float64(float64), inline="always", cache=True, nogil=True, error_model="numpy")
def fast_exp(x):
    """e**x for x in [-708, 709]; smaller x count as -708."""
    x = max(x, -708.0)
    shifted = _fused(x, LOG2_E, ROUNDER)
    k = shifted - ROUNDER
    f = _fused(k, -LN2_LOW, _fused(k, -LN2_HIGH, x))
    # Interpolation in Chebyshev's points of |f| <= 0.347, by Horner: a relative error of 1e-17.
    p = 2.5109303861418224e-08
    p = _fused(p, f, 2.763271977931359e-07)
    p = _fused(p, f, 2.755724352806059e-06)
    p = _fused(p, f, 2.4801485264359798e-05)
    p = _fused(p, f, 0.00019841269886439094)
    p = _fused(p, f, 0.0013888888952522233)
    p = _fused(p, f, 0.008333333333321993)
    p = _fused(p, f, 0.04166666666648728)
    p = _fused(p, f, 0.16666666666666674)
    p = _fused(p, f, 0.5000000000000019)
    p = _fused(p, f, 1.0)
    p = _fused(p, f, 1.0)
    # The low bits of `shifted` hold k; moved into the exponent field they scale by 2**k.
    return p * _as_float((_as_bits(shifted) << 52) + (1023 << 52))


@njit(float64(float64), inline="always", cache=True, nogil=True, error_model="numpy")
def fast_log(x):
    """ln x for normal positive x."""
    bits = _as_bits(x)
    exponent = _shift_down(bits + (ONE_BITS - SQRT_HALF_BITS))
    k = _as_float(exponent | TWO_52_BITS) - TWO_52_AND_BIAS  # an integer to a float, by its bits
    m = _as_float(bits - ((exponent - 1023) << 52))  # in [sqrt(1/2), sqrt(2))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    # ln m = 2 (s + s^3/3 + s^5/5 + ...); |s| <= 0.1716, so the 21st power leaves 1e-17.
    p = 0.09523809523809523
    p = _fused(p, z, 0.10526315789473684)
    p = _fused(p, z, 0.11764705882352941)
    p = _fused(p, z, 0.13333333333333333)
    p = _fused(p, z, 0.15384615384615385)
    p = _fused(p, z, 0.18181818181818182)
    p = _fused(p, z, 0.2222222222222222)
    p = _fused(p, z, 0.2857142857142857)
    p = _fused(p, z, 0.4)
    p = _fused(p, z, 0.6666666666666666)
    return k * LN2_HIGH + (_fused(p * z, s, k * LN2_LOW) + 2.0 * s)


@njit(cache=True, nogil=True, error_model="numpy")
def log_in_place(values):
    """Replace each value by its natural logarithm."""
    for i in range(values.size):
        values[i] = fast_log(values[i])


@njit(cache=True, nogil=True, error_model="numpy")
def exp_in_place(values):
    """Replace each value by its exponential."""
    for i in range(values.size):
        values[i] = fast_exp(values[i])


def warm_up() -> None:
    exp_in_place(np.zeros(4))
    log_in_place(np.ones(4))
