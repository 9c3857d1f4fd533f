"""Codes learnt at once: hyperplanes, axes, thresholds, waves."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import MAX_BITS
from fewbits.encoders import EigenfunctionEncoder, LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import N_BITS, USUAL, words
from fewbits.learners._core._rows import (
    Rows,
    as_float32,
    column_means,
    line_spans,
    working_dtype,
)
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


Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SpectralHashing(Learner):
    """Take the signs of the smoothest waves on a box around the principal components.

    Were the data uniform in that box, the waves would be the eigenfunctions of the
    graph Laplacian of the data. A long axis gets several bits, with 1, 2, 3 ... half
    periods from one end of it to the other, before a short one gets its first.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.

    Attributes
    ----------
    encoder_ : EigenfunctionEncoder
    objective_ : ndarray of shape (1,)
        Mean eigenvalue of the waves by the Laplacian of the box, in units of one over
        the squared features. The paper's are ``1 - exp(-eps^2 / 2 * ours)``, in the
        same order whatever eps.

    Notes
    -----
    Only the first `n_bits` principal components are considered, as in the paper, and
    only waves along one of them. The box reaches from the least to the largest value,
    so a few outliers stretch it. A score of exactly 0 gives a 0, as in the authors'
    code.

    References
    ----------
    Weiss, Torralba and Fergus, "Spectral Hashing", NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(200, 2)) * [3, 1]
    >>> hashing = SpectralHashing(n_bits=4).fit(X)
    >>> hashing.encoder_
    EigenfunctionEncoder(2 -> 4 bits)
    >>> hashing.encoder_.axes, hashing.encoder_.modes
    (array([0, 0, 1, 0], dtype=int32), array([1, 2, 1, 3], dtype=int32))
    """

    n_bits: int = 64

    constraints: ClassVar = USUAL
    uses_device = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> EigenfunctionEncoder:
        components = principal_axes(X)
        P = components.directions[:, : self.n_bits]
        dtype = working_dtype(len(X), *P.shape)
        # The box: the least and the largest value along each axis.
        low, high = np.full(P.shape[1], np.inf), np.full(P.shape[1], -np.inf)
        for block in Rows(X, components.mean, P, dtype, keep=False):
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        axes, modes = smoothest_modes(high - low, self.n_bits)
        self.objective_ = np.array([np.mean((np.pi * modes / (high - low)[axes]) ** 2)])
        used, axes = np.unique(axes, return_inverse=True)
        W, start = P[:, used] / (high - low)[used], low[used] / (high - low)[used]
        # cos(pi m t) = sin(pi (m t + 1/2)), where t runs from 0 to 1 along the box
        bias = 0.5 - modes * (start + components.mean @ W)[axes]
        return EigenfunctionEncoder(W, axes, modes, bias)


def smoothest_modes(
    lengths: Float64Array, n_bits: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the axis and the mode of the `n_bits` smallest eigenvalues, rising."""
    # Mode ``m >= 1`` of an axis of length ``R`` has the eigenvalue ``(pi m / R)^2``.
    # Below the frequency (b + k) / sum(R), k axes have more than b modes in all: axis i
    # has floor(frequency * R_i).
    frequency = (n_bits + len(lengths)) / lengths.sum()
    counts = np.ceil(frequency * lengths).astype(np.intp)
    axes = np.repeat(np.arange(len(lengths)), counts)
    modes = 1 + np.arange(len(axes)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(modes / lengths[axes], kind="stable")[:n_bits]
    return axes[order], modes[order]
