"""The orthogonal Procrustes problem.

``argmax tr(R' C)`` over matrices R of shape (k, b), k <= b, with ``R R' = I`` is the
polar factor ``U V'`` of ``C = U S V'``: the closest such matrix to C. For k = b it is a
rotation; k < b is the case of more bits than dimensions (Xia et al. 2015, section 4.2).
"""

from hashlib import sha256

import numpy as np
from numpy.random import RandomState
from numpy.typing import DTypeLike, NDArray

from fewbits._typing import FeatureArray
from fewbits.learners._core._device import Matrix, current_backend
from fewbits.learners._core._shared_steps import cached_step

Float64Array = NDArray[np.float64]

_FLOOR = 1e-10
_MAX_ROUNDS = 2
_GRAM_FROM, _PRODUCTS_FROM = 512, 4097

#: For the iteration by products: what the smallest singular value is taken for, as a
#: share of the largest (smaller costs accuracy), and when it has arrived or given up.
_LEAST = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
_MAX_STEPS = 20
_POWER_STEPS = 20


def polar(C: FeatureArray) -> FeatureArray:
    """Return the closest matrix to `C` (k, b), k <= b, whose rows are orthonormal.

    Large matrices go through the Gram matrix ``C C'``, several times faster than the
    SVD, to which those fall back that are too ill-conditioned for it. Still larger ones
    and those on a device are iterated by products, the former in float32: what they
    come from was multiplied in float32, too.
    """
    k = len(C)
    if k >= _PRODUCTS_FROM or (k >= _GRAM_FROM and current_backend().is_torch):
        dtype = np.float32 if k >= _PRODUCTS_FROM else np.float64
        found = _polar_by_products(C, dtype)
        if found is not None:
            return found
    if k >= _GRAM_FROM:
        found = _polar_by_gram(C)
        if found is not None:
            return found
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    factor: Float64Array = U @ Vt
    return factor


def random_rotation(k: int, b: int, rng: RandomState) -> FeatureArray:
    """Return a uniformly random (k, b) matrix, k <= b, with orthonormal rows."""
    drawn = rng.standard_normal((k, b))
    return cached_step(
        "rotation",
        lambda: (sha256(drawn.data).digest(), current_backend().name),
        lambda: polar(drawn),
    )


def _polar_by_gram(C: FeatureArray) -> Float64Array | None:
    """Return ``(C C')^(-1/2) C``, or None when that loses too much accuracy.

    Squaring limits a round to condition numbers below 1e5. Whitening with eigenvalues
    clipped from below keeps the polar factor and makes the condition number smaller by
    1e5, so that a second round succeeds up to 1e10.
    """
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
    """Return the limit of ``X (a + b X'X) / (1 + c X'X)``, or None if there is none.

    The dynamically weighted Halley iteration (Nakatsukasa, Bai and Gygi 2010) with
    Cholesky factors: it moves all singular values to 1, in three steps where they
    differ by a factor of 1,000, and takes the room of X twice and of the Gram matrix.
    """
    place = current_backend()
    X = place.put(C.astype(dtype))
    eps, least = np.finfo(dtype).eps, _LEAST[np.dtype(dtype)]
    gram = X @ X.T
    largest = _largest_eigenvalue(gram)
    if not 0 < largest < np.inf:
        return None
    X /= largest**0.5
    gram /= largest
    for _ in range(_MAX_STEPS):
        a, b, c = _halley_weights(least)
        least = min(1.0, least * (a + b * least**2) / (1 + c * least**2))
        gram *= c
        diagonal = _diagonal(gram)
        diagonal += 1
        try:
            moved = place.solve(gram, X)
        except np.linalg.LinAlgError:
            return None
        del gram, diagonal
        moved *= a - b / c
        X *= b / c
        X += moved
        del moved
        gram = X @ X.T
        error = _distance_to_identity(gram)
        if error < 100 * eps:
            return place.get(X)
        if not np.isfinite(error):
            return None
    return None


def _halley_weights(least: float) -> tuple[float, float, float]:
    """Return a, b, c for singular values between `least` and 1."""
    s = least**2
    d = np.cbrt(4 * (1 - s) / s**2)
    a = np.sqrt(1 + d) + np.sqrt(8 - 4 * d + 8 * (2 - s) / (s * np.sqrt(1 + d))) / 2
    b = (a - 1) ** 2 / 4
    return float(a), float(b), float(a + b - 1)


def _largest_eigenvalue(gram: Matrix) -> float:
    """Return a little more than the largest eigenvalue."""
    v = gram.sum(1)
    for _ in range(_POWER_STEPS):
        length = float((v @ v) ** 0.5)
        if not 0 < length < np.inf:
            return length
        v = gram @ (v / length)
    return 1.2 * float((v @ v) ** 0.5)


def _distance_to_identity(gram: Matrix) -> float:
    """Return the root mean square of the lengths of the rows of ``gram - I``."""
    diagonal = _diagonal(gram)
    diagonal -= 1
    entries = gram.reshape(-1)
    square = float(entries @ entries)
    diagonal += 1
    return float((square / len(gram)) ** 0.5)


def _diagonal(gram: Matrix) -> Matrix:
    """Return a view of the diagonal."""
    return gram.reshape(-1)[:: len(gram) + 1]
