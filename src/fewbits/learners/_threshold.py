"""One bit per feature."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.codes import MAX_BITS
from fewbits.encoders import SparseEncoder
from fewbits.errors import FeatureError
from fewbits.learners._base import Learner
from fewbits.learners._parameters import check_choice
from fewbits.learners._rows import as_single, column_means, spans

_THRESHOLDS = ("zero", "mean", "median")


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
        The learned map, one weight a bit; save this, not the learner.
    thresholds_ : ndarray of shape (n_features,)
        In float32.
    objective_ : ndarray of shape (0,)
        Empty: nothing is optimised.
    n_features_in_ : int

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

    def __init__(self, threshold: str = "zero") -> None:
        self.threshold = threshold

    def _check_parameters(self) -> None:
        check_choice("threshold", self.threshold, _THRESHOLDS)

    def _learn(self, X: Array, y: Any) -> SparseEncoder:
        n = X.shape[1]
        if n > MAX_BITS:
            raise FeatureError(f"a code has at most {MAX_BITS} bits, got {n} features")
        self.thresholds_ = as_single(_compute(self.threshold, X))
        self.objective_ = np.empty(0)
        return SparseEncoder(
            np.arange(n + 1), np.arange(n), np.ones(n), -self.thresholds_, n
        )


def _compute(threshold: str, X: Array) -> NDArray[Any]:
    if threshold == "zero":
        return np.zeros(X.shape[1])
    return column_means(X) if threshold == "mean" else _column_medians(X)


def _column_medians(X: Array) -> NDArray[np.float64]:
    """Return the medians, a few columns at a time."""
    medians = np.empty(X.shape[1])
    for span in spans(X.shape[1], len(X), least=1):
        medians[span] = np.median(as_single(X[:, span]), axis=0)
    return medians
