"""Logarithm, powers, sine and cosine, equal to the last bit on every machine.

Mathematical libraries disagree on the last digits of these functions, and NumPy's
differ from one processor to the next. What follows uses only operations whose result
IEEE 754 defines, and integer arithmetic, one NumPy call each, so that no compiler can
fuse two of them. The polynomials are within 1e-13 of the truth; they interpolate at
Chebyshev points, which is close to the best of their degree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]

_MANTISSA_BITS = 52
_ROOT_HALF = int(np.float64(0.7071067811865476).view(np.int64))
#: log2((1 + s) / (1 - s)) = s (c0 + c1 s^2 + ...) for logarithms in [-1/2, 1/2].
_LOG2 = (
    2.8853900817778504,
    0.9617966941122649,
    0.5770779426603044,
    0.4122092240611044,
    0.31990680380701336,
    0.2828850234074824,
)
#: sin(pi w) = w (c0 + c1 w^2 + ...) for w in [-1/2, 1/2].
_SINE = (
    3.141592653589635,
    -5.167712779987959,
    2.550164035906745,
    -0.5992644339357286,
    0.08214479467064854,
    -0.007364005472115722,
    0.0004474920849077101,
)
_LOG2_E = 1.4426950408889634
#: 2^f = c0 + c1 f + ... for f in [-1/2, 1/2].
_EXP2 = (
    1.0000000000000135,
    0.6931471805599462,
    0.2402265069564034,
    0.05550410866465167,
    0.009618129193934313,
    0.0013333558200794592,
    0.0001540343375125101,
    1.5252672924850737e-05,
    1.325964524488711e-06,
    1.0205905413765595e-07,
)


def log2(x: Float64Array) -> Float64Array:
    """Return the binary logarithm of normal numbers above 0, and -1023 for 0."""
    bits = x.view(np.int64)
    exponent = (bits - _ROOT_HALF) >> _MANTISSA_BITS
    ratio = (bits - (exponent << _MANTISSA_BITS)).view(np.float64)
    s = ratio - 1
    s /= ratio + 1
    logarithm = _polynomial(_LOG2, s * s)
    logarithm *= s
    logarithm += exponent
    return logarithm


def power(x: Float64Array, exponent: float) -> Float64Array:
    """Return ``x ** exponent`` for finite x of at least 0 and an exponent above 0."""
    result = _exp2(exponent * log2(x))
    result[x == 0] = 0
    return result


def exp(x: Float64Array) -> Float64Array:
    """Return e to the power of numbers from minus infinity to 700."""
    # 2**-1074 is the least number of all, and a limit of what an int32 has to hold.
    return _exp2(np.maximum(x * _LOG2_E, -1100.0))


def _exp2(x: Float64Array) -> Float64Array:
    """Return 2 to the power of `x`, which is overwritten."""
    whole = np.rint(x)
    x -= whole
    return np.ldexp(_polynomial(_EXP2, x), whole.astype(np.int32))


def cosine_and_sine(w: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return cos(pi w) and sin(pi w); overwrites `w`."""
    turns = np.rint(0.5 * w)
    turns *= 2
    w -= turns
    size = np.abs(w)
    sine = sine_of(np.minimum(size, 1 - size))
    np.copysign(sine, w, out=sine)
    return sine_of(np.subtract(0.5, size, out=size)), sine


def sine_of(w: Float64Array) -> Float64Array:
    """Return sin(pi w) for w in [-1/2, 1/2], of the sign of w."""
    sine = _polynomial(_SINE, w * w)
    sine *= w
    return sine


def _polynomial(coefficients: Sequence[float], x: Float64Array) -> Float64Array:
    """Return c0 + c1 x + c2 x^2 ..., by Horner's rule."""
    value = coefficients[-1] * x
    value += coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        value *= x
        value += coefficient
    return value
