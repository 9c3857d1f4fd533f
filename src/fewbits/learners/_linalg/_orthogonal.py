"""Orthogonal matrices that nearly every learner starts from or arrives at.

The principal axes of rows, polar factors, and random rotations.
"""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256

import numpy as np
from numpy.random import RandomState
from numpy.typing import DTypeLike, NDArray

from fewbits._typing import FeatureArray
from fewbits.errors import FeatureError
from fewbits.learners._core._device import current_backend, product
from fewbits.learners._core._iterative import cached_step
from fewbits.learners._core._rows import (
    LARGE,
    SAME_ROWS,
    Readable,
    Rows,
    checksum,
    column_means,
    parts,
)

Float64Array = NDArray[np.float64]


@dataclass(frozen=True)
class PrincipalAxes:
    """The row space of the centred data, its directions of largest scatter first."""

    mean: Float64Array
    #: (n_features, rank), orthonormal columns, of which the largest entry is positive;
    #: none without scatter, so at most n - 1 of them. In float32 if very many.
    directions: FeatureArray
    scatter: Float64Array  # sums of squares along the directions, falling
    rank: int  # the number of directions


def principal_axes(X: Readable) -> PrincipalAxes:
    """Return the principal axes of the rows of `X`, read block by block."""
    # From a Gram matrix of features, or of rows where they are less than half as many:
    # that takes four times the memory of the rows in float64. All sums are in float64.
    # An axis is kept when its scatter exceeds the rounding error of the largest one.
    return cached_step(
        "axes",
        lambda: (checksum(X), current_backend().name),
        partial(_principal_axes, X),
    )


def _principal_axes(X: Readable) -> PrincipalAxes:
    mean, backend = column_means(X), current_backend()
    few_rows = 2 * len(X) < X.shape[1]
    if few_rows:
        centred = Rows(X, mean, keep=False).gather()
        rows = backend.put(centred)
        gram = rows @ rows.T
        del rows
    else:
        gram = backend.put(np.zeros((X.shape[1], X.shape[1])))
        for block in Rows(X, mean, keep=False):
            rows = backend.put(block)
            gram += rows.T @ rows
        constant = backend.get(gram.diagonal()) == 0

    # A large Gram matrix is lost here. Eigenvalues rise; those of rounding go.
    values, vectors = map(backend.get, backend.eigh(gram))
    least = values[-1] * max(*X.shape) * np.finfo(float).eps
    first = np.searchsorted(values, max(least, 0), side="right")
    scatter, directions = values[first:][::-1], vectors[:, first:][:, ::-1]
    if not len(scatter):
        raise FeatureError(SAME_ROWS)

    if few_rows:
        directions = product(centred.T, directions)
        directions /= np.sqrt(scatter)
        del centred, vectors
        # The weakest lose their orthogonality in the division; QR restores it.
        directions, triangle = np.linalg.qr(directions)
        directions = directions * np.sign(np.diag(triangle))
    else:
        directions[constant] = 0  # exactly

    signed = np.empty(
        directions.shape, np.float64 if directions.size <= LARGE else np.float32
    )
    for part in parts(directions.shape[1], len(directions)):
        columns = directions[:, part]
        largest = np.abs(columns).argmax(axis=0, keepdims=True)
        signed[:, part] = columns * np.sign(np.take_along_axis(columns, largest, 0))
    return PrincipalAxes(mean, signed, scatter, len(scatter))


# The orthogonal Procrustes problem: ``argmax tr(R' C)`` over matrices R of shape
# (k, b), k <= b, with ``R R' = I`` is the polar factor ``U V'`` of ``C = U S V'``, the
# closest such matrix to C. For k = b it is a rotation; k < b is the case of more bits
# than dimensions (Xia et al. 2015, section 4.2).

_FLOOR = 1e-10
_MAX_ROUNDS = 2
_GRAM_FROM, _PRODUCTS_FROM = 512, 4097

#: For the iteration by products: what the smallest singular value is taken for, as a
#: share of the largest (smaller costs accuracy), and when it has arrived or given up.
_LEAST = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
_MAX_STEPS = 20
_POWER_STEPS = 20


def polar(C: FeatureArray) -> FeatureArray:
    """Return the closest matrix to `C` (k, b), k <= b, whose rows are orthonormal."""
    # Large matrices go through the Gram matrix ``C C'``, several times faster than the
    # SVD, to which those fall back that are too ill-conditioned for it. Still larger
    # ones and those on a device are iterated by products, the former in float32: what
    # they come from was multiplied in float32, too.
    k = len(C)
    if k >= _PRODUCTS_FROM or (k >= _GRAM_FROM and current_backend().is_torch):
        dtype = np.float32 if k >= _PRODUCTS_FROM else np.float64
        factor = _polar_by_products(C, dtype)
        if factor is not None:
            return factor
    if k >= _GRAM_FROM:
        factor = _polar_by_gram(C)
        if factor is not None:
            return factor
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    return np.asarray(U @ Vt)


def random_rotation(k: int, b: int, rng: RandomState) -> FeatureArray:
    """Return a uniformly random (k, b) matrix, k <= b, with orthonormal rows."""
    drawn = rng.standard_normal((k, b))
    return cached_step(
        "rotation",
        lambda: (sha256(drawn.data).digest(), current_backend().name),
        partial(polar, drawn),
    )


def _polar_by_gram(C: FeatureArray) -> Float64Array | None:
    """Return ``(C C')^(-1/2) C``, or None when that loses too much accuracy."""
    # Squaring limits a round to condition numbers below 1e5. Whitening with eigenvalues
    # clipped from below keeps the polar factor and makes the condition number smaller
    # by 1e5, so that a second round succeeds up to 1e10.
    D: Float64Array = C.astype(np.float64, copy=False)
    for _ in range(_MAX_ROUNDS):
        values, E = np.linalg.eigh(D @ D.T)
        floor = values[-1] * _FLOOR
        if not floor > 0:
            return None
        whiten = (E / np.sqrt(np.maximum(values, floor))) @ E.T
        D = whiten @ D
        if values[0] >= floor:
            return D
    return None


def _polar_by_products(C: FeatureArray, dtype: DTypeLike) -> FeatureArray | None:
    """Return the limit of ``X (a + b X'X) / (1 + c X'X)``, or None if there is none."""
    # The dynamically weighted Halley iteration (Nakatsukasa, Bai and Gygi 2010) with
    # Cholesky factors: it moves all singular values to 1, in three steps where they
    # differ by a factor of 1,000, and takes the room of X twice and of the Gram matrix.
    backend = current_backend()
    X = backend.put(C.astype(dtype))
    eps, least = np.finfo(dtype).eps, _LEAST[np.dtype(dtype)]
    gram = X @ X.T
    # A little more than the largest eigenvalue.
    v = gram.sum(1)
    for _ in range(_POWER_STEPS):
        length = float((v @ v) ** 0.5)
        if not 0 < length < np.inf:
            return None
        v = gram @ (v / length)
    largest = 1.2 * float((v @ v) ** 0.5)
    if not 0 < largest < np.inf:
        return None
    X /= largest**0.5
    gram /= largest
    for _ in range(_MAX_STEPS):
        s = least**2
        d = np.cbrt(4 * (1 - s) / s**2)
        a = np.sqrt(1 + d)
        a = float(a + np.sqrt(8 - 4 * d + 8 * (2 - s) / (s * np.sqrt(1 + d))) / 2)
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        least = min(1.0, least * (a + b * least**2) / (1 + c * least**2))
        gram *= c
        diagonal = gram.reshape(-1)[:: len(gram) + 1]
        diagonal += 1
        try:
            moved = backend.solve(gram, X)
        except np.linalg.LinAlgError:
            return None
        del gram, diagonal
        moved *= a - b / c
        X *= b / c
        X += moved
        del moved
        gram = X @ X.T
        # The root mean square of the lengths of the rows of ``gram - I``.
        diagonal = gram.reshape(-1)[:: len(gram) + 1]
        diagonal -= 1
        error = float((gram.reshape(-1) @ gram.reshape(-1) / len(gram)) ** 0.5)
        diagonal += 1
        if error < 100 * eps:
            return backend.get(X)
        if not np.isfinite(error):
            return None
    return None
