"""Mean, principal axes and rank of a matrix: what nearly every learner starts from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.errors import FeatureError
from fewbits.learners._core._device import Matrix, current_backend, product
from fewbits.learners._core._rows import (
    LARGE,
    SAME_ROWS,
    Readable,
    Rows,
    checksum,
    column_means,
    parts,
)
from fewbits.learners._core._shared_steps import cached_step

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
        Orthonormal columns; the largest entry of each is positive. In float64, in
        float32 if very many.
    scatter : ndarray of shape (rank,)
        Sums of squares along the directions, falling.
    """

    mean: Float64Array
    directions: FeatureArray
    scatter: Float64Array

    @property
    def rank(self) -> int:
        return len(self.scatter)


def principal_axes(X: Readable) -> PrincipalAxes:
    """Return the principal axes of the rows of `X`, read block by block.

    From a Gram matrix of features, or of rows where they are less than half as many:
    that takes four times the memory of the rows in float64. All sums are in float64. An
    axis is kept when its scatter exceeds the rounding error of the largest one.

    Raises
    ------
    FeatureError
        When all rows are the same.
    """
    return cached_step(
        "axes", lambda: (checksum(X), current_backend().name), lambda: _axes_of(X)
    )


def _axes_of(X: Readable) -> PrincipalAxes:
    mean = column_means(X)
    few_rows = 2 * len(X) < X.shape[1]
    scatter, directions = _from_rows(X, mean) if few_rows else _from_columns(X, mean)
    if not len(scatter):
        raise FeatureError(SAME_ROWS)
    return PrincipalAxes(mean, _signed(directions), scatter)


def _from_columns(X: Readable, mean: Float64Array) -> tuple[Float64Array, Float64Array]:
    place = current_backend()
    gram = place.zeros((X.shape[1], X.shape[1]))
    for block in Rows(X, mean, keep=False):
        rows = place.put(block)
        gram += rows.T @ rows
    constant = place.get(gram.diagonal()) == 0
    scatter, directions = _leading(gram, len(X))
    directions[constant] = 0  # exactly
    return scatter, directions


def _from_rows(X: Readable, mean: Float64Array) -> tuple[Float64Array, FeatureArray]:
    centred = Rows(X, mean, keep=False).gather()
    scatter, left = _leading(_gram_of_rows(centred), X.shape[1])
    directions = product(centred.T, left)
    directions /= np.sqrt(scatter)
    del centred, left
    # The weakest directions lose their orthogonality in the division; QR restores it.
    directions, triangle = np.linalg.qr(directions)
    return scatter, directions * np.sign(np.diag(triangle))


def _gram_of_rows(rows: FeatureArray) -> Matrix:
    put = current_backend().put(rows)
    return put @ put.T


def _leading(gram: Matrix, n: int) -> tuple[Float64Array, Float64Array]:
    """Return the eigenvalues above rounding error, falling, and their vectors.

    A large `gram` is lost.
    """
    place = current_backend()
    values, vectors = map(place.get, place.eigh(gram))
    threshold = values[-1] * max(n, len(gram)) * np.finfo(float).eps
    first = np.searchsorted(values, max(threshold, 0), side="right")
    return values[first:][::-1], vectors[:, first:][:, ::-1]


def _signed(directions: FeatureArray) -> FeatureArray:
    """Return the directions, the largest entry of each positive."""
    dtype = np.float64 if directions.size <= LARGE else np.float32
    signed: FeatureArray = np.empty(directions.shape, dtype)
    for part in parts(directions.shape[1], len(directions)):
        columns = directions[:, part]
        largest = np.abs(columns).argmax(axis=0, keepdims=True)
        signed[:, part] = columns * np.sign(np.take_along_axis(columns, largest, 0))
    return signed
