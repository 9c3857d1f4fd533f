"""One bit per feature."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.codes import MAX_BITS
from fewbits.encoders import SparseEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._rows import as_float32, column_means, line_spans

_DIGIT_BITS, _LAST_DIGIT, _SIGN = 8, np.uint64(255), np.uint32(1 << 31)


@dataclass(eq=False, repr=False)
class Thresholding(Learner):
    """Give each feature one bit: whether it lies above a threshold.

    The code has as many bits as there are features.

    Parameters
    ----------
    threshold : {'zero', 'mean', 'median'}, default='zero'
        What a feature is compared with: zero, as for features that leave a ReLU, or its
        own mean or median over the training rows.

    Attributes
    ----------
    encoder_ : SparseEncoder
    thresholds_ : ndarray of shape (n_features,)
        In float32.
    n_dead_bits_ : int
        Bits that are the same for all rows, as those of constant features are; a
        warning is given if there are any.

    Raises
    ------
    FeatureError
        From `fit`, as in all learners, and when there are more than 65,536 features.

    Notes
    -----
    A feature that equals its threshold gives a 0, so a constant feature does, too.

    References
    ----------
    Agrawal, Girshick and Malik, "Analyzing the Performance of Multilayer Neural
    Networks for Object Recognition", ECCV 2014; the baseline of Table 2 in Xia et al.,
    "Sparse Projections for High-Dimensional Binary Codes", CVPR 2015.

    Examples
    --------
    >>> codes = Thresholding().fit([[1.0, -1.0], [0.0, 2.0]])
    >>> codes.transform([[0.5, 3.0], [-1.0, 0.0]])
    array([[1, 1],
           [0, 0]], dtype=uint8)
    """

    threshold: str = "zero"

    constraints: ClassVar = {"threshold": ["zero", "mean", "median"]}
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> SparseEncoder:
        n = X.shape[1]
        if n > MAX_BITS:
            raise FeatureError(f"a code has at most {MAX_BITS} bits, got {n} features")
        if self.threshold == "zero":
            thresholds = np.zeros(n)
        elif self.threshold == "mean":
            thresholds = column_means(X)
        else:  # of the one or two in the middle
            ranks = {(len(X) - 1) // 2, len(X) // 2}
            middle = [_order_statistic(X, rank) for rank in ranks]
            thresholds = np.mean(middle, axis=0)
        self.thresholds_ = as_float32(thresholds)
        rows = np.arange(n + 1)
        return SparseEncoder(rows, rows[:n], np.ones(n), -self.thresholds_, n)


def _order_statistic(X: Array, rank: int) -> NDArray[np.float64]:
    """Return the number of each column that `rank` others come before."""
    n_columns = X.shape[1]
    columns = np.arange(n_columns) << _DIGIT_BITS
    keys_so_far, before = np.zeros(n_columns, np.uint64), np.full(n_columns, rank)
    for shift in range(32 - _DIGIT_BITS, -1, -_DIGIT_BITS):
        counts = np.zeros(n_columns << _DIGIT_BITS, np.int64)
        for span in line_spans(*X.shape):
            bits = as_float32(X[span]).view(np.uint32)
            # 32-bit numbers in the same order as the features.
            keys = np.where(bits & _SIGN, ~bits, bits | _SIGN).astype(np.uint64)
            agrees = keys >> (shift + _DIGIT_BITS) == keys_so_far
            digits = (keys >> shift & _LAST_DIGIT).astype(np.int64)
            counts += np.bincount((digits + columns)[agrees], minlength=len(counts))
        up_to = counts.reshape(n_columns, -1).cumsum(axis=1)
        digit = (up_to <= before[:, None]).sum(axis=1)
        before -= up_to[np.arange(n_columns), digit - 1] * (digit > 0)
        keys_so_far = keys_so_far << _DIGIT_BITS | digit.astype(np.uint64)
    bits = keys_so_far.astype(np.uint32)
    bits = np.where(bits & _SIGN, bits ^ _SIGN, ~bits)
    return bits.view(np.float32).astype(np.float64)
