"""Canonical correlations between features and labels."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._axes import PrincipalAxes

Float64Array = NDArray[np.float64]

#: Correlations below this share of the largest count as zero.
_RANK_TOLERANCE = 1e-7
#: Share of the variance of labels that rounding alone may seem to explain.
_NOTHING = 1e-12


class Correlates(NamedTuple):
    """Directions that correlate with labels, and how much they do, falling."""

    directions: Float64Array  # (rank, k), in principal axes, times the correlations
    correlations: Float64Array  # (k,), at most the number of classes less one


def correlates(
    X: Array, Y: sp.csr_array, axes: PrincipalAxes, *, reg: float, relative: bool
) -> Correlates:
    """Return canonical directions of the features, both covariances regularised.

    Works in the principal axes of X, where the covariance of X is diagonal.

    Parameters
    ----------
    reg : float
        Added to both diagonals.
    relative : bool
        To that of the features in units of their mean variance.

    Warns
    -----
    UserWarning
        When nothing correlates: then there are no directions.
    """
    freedom = len(X) - 1
    variances = axes.scatter / freedom
    reg_x = reg * (variances.sum() / X.shape[1] if relative else 1.0)
    whiten_x = 1 / np.sqrt(variances + reg_x)
    Cxy = axes.directions.T @ centred_sums(X, Y, axes.mean).T / freedom
    Cyy = _covariance(Y)
    explained = np.sum((Cxy / np.sqrt(variances)[:, None]) ** 2)
    if explained <= _NOTHING * np.trace(Cyy):
        warn_user("no feature correlates with the labels")
        return Correlates(np.empty((axes.rank, 0)), np.empty(0))
    whiten_y = _inverse_root(Cyy, reg)
    U, r, _ = np.linalg.svd(whiten_x[:, None] * Cxy @ whiten_y, full_matrices=False)
    k = int(np.sum(r > r[0] * _RANK_TOLERANCE))
    return Correlates(whiten_x[:, None] * U[:, :k] * r[:k], r[:k])


def centred_sums(X: Array, Y: sp.csr_array, mean: Float64Array) -> Float64Array:
    """Return ``Y'(X - mean)``, shape (n_classes, n_features)."""
    sums, start = np.zeros((Y.shape[1], X.shape[1])), 0
    for block in Rows(X, mean, keep=False):
        sums += Y[start : start + len(block)].T @ block
        start += len(block)
    return sums


def _covariance(Y: sp.csr_array) -> Float64Array:
    n = Y.shape[0]
    share = np.asarray(Y.mean(axis=0))
    covariance: Float64Array = (Y.T @ Y).toarray() - n * np.outer(share, share)
    return covariance / (n - 1)


def _inverse_root(C: Float64Array, reg: float) -> Float64Array:
    """Return ``(C + reg I)^(-1/2)``, zero in the directions that have no variance."""
    values, E = np.linalg.eigh(C)
    exists = values > values[-1] * _RANK_TOLERANCE
    roots = np.sqrt(np.where(exists, values + reg, 1))
    inverse: Float64Array = (E * np.where(exists, 1 / roots, 0)) @ E.T
    return inverse
