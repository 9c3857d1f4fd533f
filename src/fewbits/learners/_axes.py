"""Mean, principal axes and rank of a matrix: what nearly every learner starts from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.errors import FeatureError
from fewbits.learners._rows import Rows, column_means

Float64Array = NDArray[np.float64]


@dataclass(frozen=True)
class PrincipalAxes:
    """The row space of the centred data, its directions of largest scatter first.

    Directions without scatter are left out, so ``rank`` may be less than the number of
    features: it is at most ``n - 1``, and constant features have no part in any axis.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    directions : ndarray of shape (n_features, rank)
        Orthonormal columns; the largest entry of each is positive.
    scatter : ndarray of shape (rank,)
        Sums of squares along the directions, falling.
    """

    mean: Float64Array
    directions: Float64Array
    scatter: Float64Array

    @property
    def rank(self) -> int:
        return len(self.scatter)


def principal_axes(X: Array) -> PrincipalAxes:
    """Return the principal axes of the rows of `X`, read block by block.

    The cost is the smaller of a Gram matrix of features and one of rows. All sums are
    in float64. An axis is kept when its scatter exceeds the rounding error of the
    largest one.

    Raises
    ------
    FeatureError
        When all rows are the same.
    """
    mean = column_means(X)
    few_rows = len(X) < X.shape[1]
    scatter, directions = _from_rows(X, mean) if few_rows else _from_columns(X, mean)
    if not len(scatter):
        raise FeatureError("every row of X is the same: there is nothing to learn")
    signs = np.sign(np.take_along_axis(directions, _largest(directions), axis=0))
    return PrincipalAxes(mean, directions * signs, scatter)


def _from_columns(X: Array, mean: Float64Array) -> tuple[Float64Array, Float64Array]:
    gram = np.zeros((X.shape[1], X.shape[1]))
    for block in Rows(X, mean, keep=False):
        gram += block.T @ block
    scatter, directions = _leading(gram, len(X))
    directions[np.diag(gram) == 0] = 0  # exactly, for constant features
    return scatter, directions


def _from_rows(X: Array, mean: Float64Array) -> tuple[Float64Array, Float64Array]:
    centred = np.concatenate(list(Rows(X, mean, keep=False)))
    scatter, left = _leading(centred @ centred.T, X.shape[1])
    # The weakest directions lose their orthogonality in the division; QR restores it.
    directions, triangle = np.linalg.qr(centred.T @ left / np.sqrt(scatter))
    return scatter, directions * np.sign(np.diag(triangle))


def _leading(gram: Float64Array, n: int) -> tuple[Float64Array, Float64Array]:
    """Return the eigenvalues above rounding error, falling, and their vectors."""
    values, vectors = np.linalg.eigh(gram)
    threshold = values[-1] * max(n, len(gram)) * np.finfo(float).eps
    keep = values > max(threshold, 0)
    return values[keep][::-1], vectors[:, keep][:, ::-1]


def _largest(columns: Float64Array) -> NDArray[np.intp]:
    rows: NDArray[np.intp] = np.abs(columns).argmax(axis=0, keepdims=True)
    return rows
