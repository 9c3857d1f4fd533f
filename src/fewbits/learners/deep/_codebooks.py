"""Codebooks of `LLC` that are drawn, or known from a classifier or CCA.

They are real numbers (n_classes, n_bits), whose signs are the codes; as they are, they
are a start for learning a codebook.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres._unique import unique

Matrix = NDArray[np.float64]
_LEAST = 1e-9  # share of the mean variance that CCA adds at least


def random_codebook(n_classes: int, n_bits: int, random_state: Any) -> Matrix:
    """Return random numbers whose signs are different codes."""
    C = check_random_state(random_state).standard_normal((n_classes, n_bits))
    signs: Matrix = unique(C).codes * np.abs(C)
    return signs


def widen(C: Matrix, n_bits: int, random_state: Any) -> Matrix:
    """Return C with random columns of the same spread behind its own."""
    C = np.asarray(C[:, :n_bits], np.float64)
    rng = check_random_state(random_state)
    more = rng.standard_normal((len(C), n_bits - C.shape[1]))
    spread = np.sqrt(np.mean(C**2)) if C.size else 1.0
    return np.hstack([C, more * spread])


def svd_codebook(W: Matrix, n_bits: int | None) -> Matrix:
    """Return the leading left singular vectors of a linear classifier."""
    W = W - W.mean(axis=0)  # which changes no decision
    n_bits = check_directions(n_bits, min(len(W) - 1, W.shape[1]), "classifier")
    U, _, _ = np.linalg.svd(W, full_matrices=False)
    return _signed(U[:, :n_bits])


def cca_codebook(
    M: Matrix,
    counts: Matrix,
    scatter: Matrix,
    n_bits: int | None,
    reg: float,
    labels: ArrayLike | None,
) -> Matrix:
    """Return where CCA between features and labels puts the classes."""
    # From the means M (n_classes, d) of classes, less that of all items, and the
    # covariance of features. `labels` are 1 for each label of an item, where items may
    # have several. Without `n_bits` there are as many as directions.
    values, E = np.linalg.eigh(scatter)
    whiten = E / np.sqrt(np.maximum(values, 0) + max(reg, _LEAST) * values.mean())
    if labels is None:
        # One-hot labels have covariance diag(p) - p p'; centred means need no more.
        p = counts / counts.sum()
        most, root = min(len(M) - 1, len(whiten)), np.sqrt(p)[:, None]
        n_bits = check_directions(n_bits, most, "cross-covariance")
        U, _, _ = np.linalg.svd(root * ((M - p @ M) @ whiten), full_matrices=False)
        return _signed(U[:, :n_bits] / root)
    Y = np.asarray(labels, np.float64)
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
    if n_bits is not None and n_bits > available:
        raise ArgumentError(
            f"the {name} has {available} directions, too few for {n_bits} bits: take "
            "fewer, or a learnt or random codebook"
        )
    return available if n_bits is None else n_bits
