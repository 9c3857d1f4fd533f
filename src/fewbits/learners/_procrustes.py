"""The orthogonal Procrustes problem.

``argmax tr(R' C)`` over matrices R of shape (k, b), k <= b, with ``R R' = I`` is the
polar factor ``U V'`` of ``C = U S V'``: the closest such matrix to C. For k = b it is a
rotation; k < b is the case of more bits than dimensions (Xia et al. 2015, section 4.2).
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]

_FLOOR = 1e-10
_MAX_ROUNDS = 2
_GRAM_FROM = 512


def polar(C: Float64Array) -> Float64Array:
    """Return the closest matrix to `C` (k, b), k <= b, whose rows are orthonormal.

    Large matrices go through the Gram matrix ``C C'``, several times faster than the
    SVD, to which those fall back that are too ill-conditioned for it.
    """
    if len(C) >= _GRAM_FROM:
        found = _polar_by_gram(C)
        if found is not None:
            return found
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    factor: Float64Array = U @ Vt
    return factor


def random_rotation(k: int, b: int, rng: RandomState) -> Float64Array:
    """Return a uniformly random (k, b) matrix, k <= b, with orthonormal rows."""
    return polar(rng.standard_normal((k, b)))


def _polar_by_gram(C: Float64Array) -> Float64Array | None:
    """Return ``(C C')^(-1/2) C``, or None when that loses too much accuracy.

    Squaring limits a round to condition numbers below 1e5. Whitening with eigenvalues
    clipped from below keeps the polar factor and makes the condition number smaller by
    1e5, so that a second round succeeds up to 1e10.
    """
    for _ in range(_MAX_ROUNDS):
        values, E = np.linalg.eigh(C @ C.T)
        floor = values[-1] * _FLOOR
        if not floor > 0:
            return None
        whiten = (E / np.sqrt(np.maximum(values, floor))) @ E.T
        C = whiten @ C
        if values[0] >= floor:
            return C
    return None
