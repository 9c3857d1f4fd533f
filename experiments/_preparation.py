"""What the PiCoDes paper does to classic features before anything learns from them."""

import numpy as np
from numpy.typing import NDArray

from experiments._classic_features import is_classic
from fewbits.learners import HomogeneousKernelMap
from fewbits.learners._core._rows import line_spans

KERNEL = "intersection"
#: Of the learning rows, held by the directions that are kept.
VARIANCE = 0.95

Features = NDArray[np.float32]


def prepared(name: str, X: Features, learn: NDArray[np.int64]) -> Features:
    """Return the features that learners see; classic ones are reduced.

    Parameters
    ----------
    name : str
        Of the set of features.
    learn : ndarray of int
        Rows that may be learnt from.
    """
    return reduced(X, learn) if is_classic(name) else X


def reduced(X: Features, learn: NDArray[np.int64]) -> Features:
    """Return the principal components of the rows behind a homogeneous kernel map.

    A few thousand rows have 68,580 mapped features, so the components come from the
    products of rows, and are never written down: a row is projected through its
    products with the learning rows.

    Returns
    -------
    ndarray of shape (n, n_components), dtype float32
    """
    kernel = HomogeneousKernelMap(KERNEL)
    Z = kernel.fit_transform(X[learn])
    mean = Z.mean(axis=0, dtype=np.float64).astype(np.float32)
    Z -= mean
    axes = leading((Z @ Z.T).astype(np.float64))
    rows = np.empty((len(X), axes.shape[1]), np.float32)
    for span in line_spans(len(X), Z.shape[1], least=1):
        rows[span] = (kernel.transform(X[span]) - mean) @ Z.T @ axes
    return rows


def leading(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coefficients of the fewest unit directions that hold enough variance.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Products of centred rows.

    Returns
    -------
    ndarray of shape (n, k)
        A direction is the sum of the rows, weighted by a column.
    """
    scatter, vectors = np.linalg.eigh(gram)
    scatter, vectors = np.maximum(scatter[::-1], 0), vectors[:, ::-1]
    shares = np.cumsum(scatter) / scatter.sum()
    k = int(np.searchsorted(shares, VARIANCE)) + 1
    found: NDArray[np.float64] = vectors[:, :k] / np.sqrt(scatter[:k])
    return found
