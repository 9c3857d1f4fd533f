"""The alternation of sparse projections (Xia et al. 2015, section 4)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.learners._axes import PrincipalAxes
from fewbits.learners._checkpoint import Arrays
from fewbits.learners._hard_threshold import SparseStep
from fewbits.learners._procrustes import polar
from fewbits.learners._rotation import sign_products
from fewbits.learners._rows import Rows

Float64Array = NDArray[np.float64]


def dense_start(
    V: Rows, axes: PrincipalAxes, Q: Float64Array
) -> tuple[FeatureArray, Float64Array]:
    """Return ``R = Rbar``, and Q: where `sparse_matrices` starts."""
    W = axes.directions[:, : len(Q)].astype(V.dtype, copy=False)
    return W @ Q.astype(V.dtype, copy=False), Q


def sparse_matrices(
    V: Rows, axes: PrincipalAxes, sparsify: SparseStep, beta: float, state: Arrays
) -> Iterator[tuple[Arrays, float]]:
    """Yield the sparse R (n_features, n_bits), and Q, with eq. (3) per entry of B.

    All matrices are the transposes of the paper's. The dense Rbar is ``P Q`` for the
    leading principal directions P (n_features, k) and a matrix Q (k, n_bits) with
    orthonormal rows; `V` walks over ``X P``, and `axes` holds the scatter of that X.
    They follow on the R and Q in `state`.
    """
    R, Q = state
    W, scatter = axes.directions.astype(V.dtype, copy=False), axes.scatter[:, None]
    k = len(Q)
    WR = W.T @ R
    while True:
        # Section 4.3: B = sign(X Rbar), of which only P'X'B is needed.
        C = sign_products(V, Q)
        # Section 4.2, eq. (12): the same of Y = (B + beta X R) / (1 + beta).
        Q = polar((C + beta * scatter[:k] * WR[:k]) / (1 + beta))
        Rbar = W[:, :k] @ Q.astype(V.dtype, copy=False)
        # Section 4.1, eq. (10) or (11).
        R = sparsify(Rbar, R)
        WR = W.T @ R
        size = V.shape[0] * Q.shape[1]
        yield (R, Q), _objective(size, Q, C, WR, scatter, beta) / size


def _objective(
    size: int,
    Q: Float64Array,
    C: Float64Array,
    WR: FeatureArray,
    scatter: Float64Array,
    beta: float,
) -> float:
    """Return ``||Rbar X - B||^2 + beta ||Rbar X - R X||^2``, eq. (3)."""
    k = len(Q)
    fit = size - 2 * np.vdot(Q, C) + scatter[:k].sum()
    inside, outside = (Q - WR[:k]) ** 2, WR[k:] ** 2
    gap = np.sum(scatter[:k] * inside) + np.sum(scatter[k:] * outside)
    return float(fit + beta * gap)
