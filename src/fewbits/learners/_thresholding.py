"""One bit per feature."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fewbits._typing import Array
from fewbits.codes import MAX_BITS
from fewbits.encoders import SparseEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import words
from fewbits.learners._core._rows import as_float32, column_means, line_spans


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

    Notes
    -----
    A feature that equals its threshold gives a 0. At most 65,536 features.

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

    constraints: ClassVar = {"threshold": [words("zero", "mean", "median")]}
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> SparseEncoder:
        n = X.shape[1]
        if n > MAX_BITS:
            raise FeatureError(f"a code has at most {MAX_BITS} bits, got {n} features")
        if self.threshold == "zero":
            thresholds = np.zeros(n)
        elif self.threshold == "mean":
            thresholds = column_means(X)
        else:
            matrix = getattr(X, "matrix", X)  # of a sparse one, sparse
            thresholds = np.empty(n)
            for span in line_spans(n, len(X), least=8):
                columns = matrix[:, span]
                if hasattr(columns, "toarray"):
                    columns = columns.toarray()
                thresholds[span] = np.median(as_float32(columns).astype(float), axis=0)
        self.thresholds_ = as_float32(thresholds)
        rows = np.arange(n + 1)
        return SparseEncoder(rows, rows[:n], np.ones(n), -self.thresholds_, n)
