"""Fused multiply-adds of float32, in NumPy, which has none."""

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def fused_multiply_add(
    x: Float32Array, w: Float32Array, total: Float32Array
) -> Float32Array:
    """Return ``x * w + total`` rounded once to float32.

    The product is exact in float64. The sum is rounded to odd there (Boldo and
    Melquiond 2008), so that rounding it again to float32 makes no second error.
    """
    product = x.astype(np.float64) * np.float64(w)
    addend = total.astype(np.float64)
    sum_ = product + addend
    # TwoSum: the exact error of the addition above; no number once it overflowed.
    virtual = sum_ - product
    error = (product - (sum_ - virtual)) + (addend - virtual)
    even = (sum_.view(np.int64) & 1) == 0
    inexact = np.isfinite(sum_) & (error != 0)
    away = np.where((error > 0) == (sum_ > 0), 1, -1)
    odd = sum_.view(np.int64) + np.where(inexact & even, away, 0)
    return odd.view(np.float64).astype(np.float32)
