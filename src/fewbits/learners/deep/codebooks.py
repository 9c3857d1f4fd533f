"""Codes for classes: drawn, or taken from what a classifier or CCA knows about them.

All return real numbers of shape (n_classes, n_bits), whose signs are the codes; as they
are, they are a start for learning a codebook. `unique` makes equal codes different, and
`widen` adds bits where a method has too few.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from fewbits._labels import check_binary
from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import check_n_bits
from fewbits.learners.deep.centres._unique import (
    UniqueCodes,
    check_matrix,
    check_sizes,
    unique,
)

__all__ = [
    "UniqueCodes",
    "cca_codebook",
    "random_codebook",
    "svd_codebook",
    "unique",
    "widen",
]

Matrix = NDArray[np.float64]
_LEAST = 1e-9  # share of the mean variance that CCA adds at least


def random_codebook(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Matrix:
    """Return random numbers whose signs are different codes.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Raises
    ------
    ArgumentError
        When there are more classes than codes.

    Examples
    --------
    >>> C = random_codebook(100, 10)
    >>> len(np.unique(C > 0, axis=0))
    100
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    C = rng.standard_normal((n_classes, n_bits))
    signs: Matrix = unique(C).codes * np.abs(C)
    return signs


def widen(C: ArrayLike, n_bits: int, *, random_state: Any = 0) -> Matrix:
    """Return C with random columns of the same spread behind its own.

    Parameters
    ----------
    C : array-like of shape (n_classes, any)
    n_bits : int
        Columns that are wanted; of a C with more the first are taken.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits)

    Examples
    --------
    >>> widen([[1.0, 2.0], [-1.0, -2.0]], 4)[:, :2]
    array([[ 1.,  2.],
           [-1., -2.]])
    """
    C = check_matrix("C", C)[:, :n_bits]
    rng = check_random_state(random_state)
    more = rng.standard_normal((len(C), n_bits - C.shape[1]))
    spread = np.sqrt(np.mean(C**2)) if C.size else 1.0
    return np.hstack([C, more * spread])


def svd_codebook(weights: ArrayLike, n_bits: int | None = None) -> Matrix:
    """Return the leading left singular vectors of a linear classifier.

    Parameters
    ----------
    weights : array-like of shape (n_classes, d)
        Its rows; their mean is taken off first, which changes no decision.
    n_bits : int, default=None
        At most ``min(n_classes - 1, d)``, which None takes.

    Returns
    -------
    ndarray of shape (n_classes, n_bits)

    Raises
    ------
    ArgumentError
        When the classifier has fewer directions, or is not a matrix of finite numbers.

    Examples
    --------
    >>> svd_codebook([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 2).shape
    (3, 2)
    """
    W = check_matrix("weights", weights)
    W = W - W.mean(axis=0)
    n_bits = check_directions(n_bits, min(len(W) - 1, W.shape[1]), "classifier")
    U, _, _ = np.linalg.svd(W, full_matrices=False)
    return _signed(U[:, :n_bits])


def cca_codebook(
    means: ArrayLike,
    counts: ArrayLike,
    scatter: ArrayLike,
    n_bits: int | None = None,
    reg: float = 1.0,
    *,
    labels: ArrayLike | None = None,
) -> Matrix:
    """Return where CCA between features and labels puts the classes.

    Parameters
    ----------
    means : array-like of shape (n_classes, d)
        Of the features of each class, less the mean of all items.
    counts : array-like of shape (n_classes,)
    scatter : array-like of shape (d, d)
        Covariance of the features.
    n_bits : int, default=None
        At most as many as there are directions, which None takes: ``min(n_classes - 1,
        d)`` for items of one label, and with `labels` the smaller of d and the rank of
        their covariance.
    reg : float, default=1.0
        Added to the diagonal of the covariance, in units of the mean variance; at least
        1e-9.
    labels : array-like of shape (n, n_classes), default=None
        1 for each label of an item, where items may have several; None for one each.

    Returns
    -------
    ndarray of shape (n_classes, n_bits)

    Raises
    ------
    ArgumentError
        When there are fewer directions, or shapes do not fit.
    """
    M, S = check_matrix("means", means), check_matrix("scatter", scatter)
    p = np.asarray(counts, np.float64)
    if p.shape != (len(M),) or not (p > 0).all() or S.shape != (M.shape[1],) * 2:
        raise ArgumentError(
            f"means of shape {M.shape} need a positive count for each class and a "
            f"scatter of shape {(M.shape[1],) * 2}, got {p.shape} and {S.shape}"
        )
    values, E = np.linalg.eigh(S)
    whiten = E / np.sqrt(np.maximum(values, 0) + max(reg, _LEAST) * values.mean())
    if labels is None:
        # One-hot labels have covariance diag(p) - p p'; centred means need no more.
        p = p / p.sum()
        most, root = min(len(M) - 1, len(whiten)), np.sqrt(p)[:, None]
        n_bits = check_directions(n_bits, most, "cross-covariance")
        U, _, _ = np.linalg.svd(root * ((M - p @ M) @ whiten), full_matrices=False)
        return _signed(U[:, :n_bits] / root)
    Y = check_matrix("labels", check_binary(labels))
    if Y.shape[1] != len(M):
        raise ArgumentError(f"{len(M)} classes need as many labels, got {Y.shape}")
    p = Y.mean(axis=0)
    values, V = np.linalg.eigh(np.atleast_2d(np.cov(Y, rowvar=False, bias=True)))
    real = values > _LEAST * values[-1]
    root = V[:, real] / np.sqrt(values[real])
    most = min(root.shape[1], len(whiten))
    n_bits = check_directions(n_bits, most, "cross-covariance")
    U, _, _ = np.linalg.svd(root.T @ (p[:, None] * M) @ whiten, full_matrices=False)
    A = root @ U[:, :n_bits]
    return _signed(A - p @ A)  # an item of one label, less the mean of all


def _signed(U: Matrix) -> Matrix:
    """Give singular vectors signs that do not depend on the solver."""
    largest = U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])]
    signed: Matrix = U * np.where(largest < 0, -1, 1)
    return signed


def check_directions(n_bits: int | None, available: int, name: str) -> int:
    """Return a length for which there are directions; None takes all there are."""
    if n_bits is None:
        return available
    if check_n_bits(n_bits) > available:
        raise ArgumentError(
            f"the {name} has {available} directions, too few for {n_bits} bits: take "
            "fewer, or a learnt or random codebook"
        )
    return n_bits
