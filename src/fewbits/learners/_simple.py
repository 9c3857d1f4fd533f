"""Codes that are learnt at once: random hyperplanes, principal axes, thresholds."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import MAX_BITS
from fewbits.encoders import LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import N_BITS, USUAL, words
from fewbits.learners._core._rows import as_float32, column_means, line_spans
from fewbits.learners._linalg._orthogonal import principal_axes

_DEFAULT_BITS = 64  # of PCAH


@dataclass(eq=False, repr=False)
class LSH(Learner):
    """Cut the centred data with random hyperplanes.

    The share of bits in which two codes differ estimates the angle between the centred
    rows, divided by pi, without bias. Only the mean is learnt.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    random_state : int, RandomState instance or None, default=None
        Seeds the hyperplanes.

    Attributes
    ----------
    encoder_ : LinearEncoder

    Notes
    -----
    The normals are drawn one bit after the other from N(0, 1), so with the same seed a
    longer code begins with the shorter one. A score of exactly 0 is encoded as 1.

    References
    ----------
    Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> LSH(n_bits=32, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 32 bits)
    """

    n_bits: int = 64
    _: KW_ONLY
    random_state: Any = None

    constraints: ClassVar = USUAL
    is_nested = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        W = rng.standard_normal((self.n_bits, X.shape[1])).T
        return LinearEncoder(W, bias=-column_means(X) @ W, zero_bit=1)


@dataclass(eq=False, repr=False)
class PCAH(Learner):
    """Keep the signs of the leading principal components.

    Parameters
    ----------
    n_bits : int, default=None
        Length of the code, at most the rank of the centred data. None takes 64 bits,
        or as many as the rank allows.

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (1,)
        Share of the variance that lies outside the components that were kept.

    Notes
    -----
    The sign of a component is arbitrary; the largest weight of each is made positive.
    A score of exactly 0 is encoded as 1.

    References
    ----------
    Wang, Kumar and Chang, "Semi-Supervised Hashing for Scalable Image Retrieval", CVPR
    2010, where it is the unsupervised baseline.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> PCAH(n_bits=8).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    n_bits: int | None = None

    constraints: ClassVar = {"n_bits": [*N_BITS, None]}
    is_nested = True
    takes_sparse = True
    uses_device = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        axes = principal_axes(X)
        n_bits = self.n_bits or min(_DEFAULT_BITS, axes.rank)
        if n_bits > axes.rank:
            raise ArgumentError(
                f"PCAH makes one bit of a principal component: n_bits={n_bits}, but X "
                f"(n_samples={len(X)}, n_features={X.shape[1]}) has only {axes.rank}"
            )
        W = axes.directions[:, :n_bits]
        inside = axes.scatter[: W.shape[1]].sum() / axes.scatter.sum()
        self.objective_ = np.array([1 - inside])
        return LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)


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
