"""The alternation of sparse projections (Xia et al. 2015, section 4)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._device import as_dtype, product
from fewbits.learners._core._rows import LARGE, Rows, parts
from fewbits.learners._linalg._axes import PrincipalAxes
from fewbits.learners._linalg._procrustes import polar
from fewbits.learners._linalg._sign_products import Products, of_all_rows
from fewbits.learners.unsupervised.sparse_projections._hard_threshold import SparseStep

Float64Array = NDArray[np.float64]


def sparse_matrices(
    V: Rows,
    axes: PrincipalAxes,
    sparsify: SparseStep,
    beta: float,
    state: Arrays,
    products: Products = of_all_rows,
) -> Iterator[tuple[Arrays, float]]:
    """Yield Q and the sparse R (n_features, n_bits) with eq. (3) per entry of B.

    All matrices are the transposes of the paper's. The dense Rbar is ``P Q`` for the
    leading principal directions P (n_features, k) and a matrix Q (k, n_bits) with
    orthonormal rows; `V` walks over ``X P``, and `axes` holds the scatter of that X.
    They follow on Q and R in `state`, or on Q alone: there R is Rbar.
    """
    Q, *before = state
    W, scatter = as_dtype(axes.directions, V.dtype), axes.scatter[:, None]
    k, size = len(Q), V.shape[0] * Q.shape[1]
    R = before[0] if before else product(W[:, :k], as_dtype(Q, V.dtype))
    WR, memory = product(W.T, R), tuple(before[1:])
    while True:
        # Section 4.3: B = sign(X Rbar), of which only P'X'B is needed.
        C, memory = products(V, Q, memory)
        # Section 4.2, eq. (12): the same of Y = (B + beta X R) / (1 + beta).
        Y = _toward(C, WR, scatter, beta)
        del WR  # free large arrays early
        Q = polar(Y)
        fit = size - 2 * np.vdot(Q, C) + scatter[:k].sum()
        del C, Y
        Rbar = product(W[:, :k], as_dtype(Q, V.dtype))
        # Section 4.1, eq. (10) or (11).
        R = sparsify(Rbar, R)
        del Rbar
        WR = product(W.T, R)
        # ||Rbar X - B||^2 + beta ||Rbar X - R X||^2, eq. (3).
        yield (Q, R, *memory), float(fit + beta * _gap(Q, WR, scatter)) / size


def _toward(
    C: Float64Array, WR: FeatureArray, scatter: Float64Array, beta: float
) -> FeatureArray:
    """Return P'X'Y."""
    found = np.empty(C.shape, np.float64 if C.size <= LARGE else np.float32)
    for part in parts(*C.shape):
        found[part] = (C[part] + beta * scatter[part] * WR[part]) / (1 + beta)
    return found


def _gap(Q: FeatureArray, WR: FeatureArray, scatter: Float64Array) -> float:
    """Return ``||Rbar X - R X||^2``."""
    k, gap = len(Q), 0.0
    for part in parts(*Q.shape):
        gap += np.sum(scatter[:k][part] * (Q[part] - WR[:k][part]) ** 2)
    for part in parts(*WR[k:].shape):
        gap += np.sum(scatter[k:][part] * WR[k:][part] ** 2)
    return gap
