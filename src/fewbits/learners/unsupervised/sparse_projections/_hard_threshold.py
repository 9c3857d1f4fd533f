"""The sparse step (Xia et al. 2015, section 4.1).

Matrices are the transposes of the paper's: R and the dense Rbar have shape (n_features,
n_bits).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fewbits._typing import FeatureArray
from fewbits.learners._core._device import product

#: Takes the dense matrix and the sparse one of before; returns a new sparse one.
SparseStep = Callable[[FeatureArray, FeatureArray], FeatureArray]


@dataclass(frozen=True)
class OneStep:
    """Threshold the dense matrix, eq. (11)."""

    m: int

    def __call__(self, Rbar: FeatureArray, R: FeatureArray) -> FeatureArray:
        return keep_largest(Rbar, self.m)


@dataclass(frozen=True)
class IterativeSteps:
    """Lower ``||R X - Rbar X||^2``, eq. (4), by iterative hard thresholding.

    From the first thresholded matrix on the objective never rises if `step` is at most
    one over the largest eigenvalue of `gram`, the paper's ``X X'``.
    """

    m: int
    gram: FeatureArray
    step: float
    n_inner: int
    from_previous: bool

    def __call__(self, Rbar: FeatureArray, R: FeatureArray) -> FeatureArray:
        R = R if self.from_previous else Rbar
        for _ in range(self.n_inner):
            # R + step * gram (Rbar - R), eq. (10), without more matrices than it takes
            moved = product(self.gram, Rbar - R)
            moved *= self.step
            moved += R
            R = keep_largest(moved, self.m)
        return R


def keep_largest(M: FeatureArray, m: int) -> FeatureArray:
    """Return ``thr_m(M)``: the `m` entries largest in magnitude, the rest zero.

    Of equal entries at the limit those of smaller row, then column, are kept, so the
    count is exact.
    """
    if m >= M.size:
        return M
    magnitudes = np.abs(M).ravel()
    magnitudes.partition(M.size - m)
    limit = magnitudes[M.size - m]
    np.abs(M, out=magnitudes.reshape(M.shape))
    keep = magnitudes > limit
    ties = np.flatnonzero(magnitudes == limit)
    del magnitudes
    keep[ties[: m - np.count_nonzero(keep)]] = True
    return np.where(keep.reshape(M.shape), M, M.dtype.type(0))
