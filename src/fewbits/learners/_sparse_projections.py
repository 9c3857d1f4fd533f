"""Sparse projections (Xia et al. 2015)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits.encoders import Encoder, LinearEncoder, SparseEncoder
from fewbits.learners._core._device import product
from fewbits.learners._core._iterative import Arrays
from fewbits.learners._core._parameters import (
    POSITIVE,
    SHARE,
    USUAL,
    Config,
    Interval,
    words,
)
from fewbits.learners._core._rows import LARGE, Rows, parts, working_dtype
from fewbits.learners._itq import RotationLearner, sign_products
from fewbits.learners._linalg._orthogonal import (
    PrincipalAxes,
    polar,
    principal_axes,
    random_rotation,
)


@dataclass(kw_only=True, repr=False, eq=False)
class SparseSolver(Config):
    """The sparse step of `SparseProjections`.

    Parameters
    ----------
    kind : {'one-step', 'iterative'}, default='one-step'
        Threshold once, eq. (11), or `n_iter` times, eq. (10). The paper finds the two
        equally accurate. The other settings are of the latter.
    n_iter : int, default=30
        Number of thresholdings in each sparse step.
    step : {'frobenius', 'spectral'}, default='frobenius'
        Step size of eq. (10): the paper's ``1 / ||X||_F^2``, which is safe and tiny, or
        ``1 / lambda_max(X X')``, the largest for which eq. (4) cannot rise.
    """

    kind: str = "one-step"
    n_iter: int = 30
    step: str = "frobenius"

    constraints: ClassVar = {
        "kind": [words("one-step", "iterative")],
        "n_iter": [Interval(int, 1)],
        "step": [words("frobenius", "spectral")],
    }


@dataclass(eq=False, repr=False)
class SparseProjections(RotationLearner):
    """Learn one sparse hyperplane per bit, near a dense and orthogonal solution.

    Encoding costs one multiply-add for each weight that is kept: a tenth of a dense
    map at the default `density`. Made for codes about as long as the features are wide,
    or longer.

    Parameters
    ----------
    n_bits : int, default=64
    density : float, default=0.1
        Share of the weights that are kept, above 0 and at most 1. They are chosen over
        the whole matrix, so bits differ in how many they get.
    solver : SparseSolver or None, default=None
        How the sparse step is done; None thresholds once.
    beta : float, default=1.0
        Weight of the second term of eq. (3), above 0.
    n_iter : int, default=50
        Number of outer iterations.

    Attributes
    ----------
    encoder_ : SparseEncoder
        A `LinearEncoder` when every weight is kept.
    objective_ : ndarray of shape (n_iter_,)
        Eq. (3) per entry of B, that is, divided by ``n * n_bits``, at the end of each
        iteration. See the notes on when it falls.

    Notes
    -----
    The order of the steps is the paper's: B from the dense matrix, then the dense
    matrix, then the sparse one. Exactly ``ceil(density * n_features * n_bits)`` weights
    are kept, of equal ones those of earlier features; fewer only where the dense matrix
    has more zeros.

    The dense matrix lives in the row space of X, of fewer bits in that of as many
    principal components, as in the paper.

    Multiplying X by a number would change eq. (3) as multiplying `beta` by it. So X is
    scaled by one number, with which the dense scores have a mean square of 1, as the
    bits do.

    The steps for B and the dense matrix cannot raise eq. (3). The sparse step can, as
    it chooses by the size of weights. At ``density=1`` the iterations are those of ITQ,
    damped by `beta`.

    A score of exactly 0 is encoded as 1.

    References
    ----------
    Xia, He, Kohli and Sun, "Sparse Projections for High-Dimensional Binary Codes",
    CVPR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> sp = SparseProjections(n_bits=32, density=0.25, random_state=0).fit(X)
    >>> sp.encoder_
    SparseEncoder(16 -> 32 bits)
    >>> sp.encoder_.density
    0.25
    """

    _: KW_ONLY
    density: float = 0.1
    solver: SparseSolver | None = None
    beta: float = 1.0

    constraints: ClassVar = USUAL | {
        "density": SHARE,
        "beta": POSITIVE,
    }
    configs: ClassVar[Mapping[str, type[Config]]] = {"solver": SparseSolver}

    def _learn(self, X: Array, y: Any) -> Encoder:
        size = X.shape[1] * self.n_bits
        m = max(1, math.ceil(round(self.density * size, 6)))
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        k = min(self.n_bits, axes.rank)
        scale = float(np.sqrt(len(X) * self.n_bits / axes.scatter[:k].sum()))
        # Of the scaled rows, whose directions are the same.
        axes = replace(axes, scatter=axes.scatter * scale**2)
        dtype = working_dtype(max(X.shape), k, self.n_bits)
        P = axes.directions[:, :k] * scale
        V = Rows(X, axes.mean, P, dtype, n_out=self.n_bits)
        Q = random_rotation(k, self.n_bits, rng)
        sparsify = SparseStep(m, self._config("solver", SparseSolver), axes, dtype)
        states = partial(sparse_matrices, V, axes, sparsify, self.beta)
        R = self._run(states, (Q,), X)[1].astype(np.float32, copy=False)
        make = LinearEncoder if m == R.size else SparseEncoder.from_dense
        encoder: Encoder = make(R, bias=-axes.mean @ R, zero_bit=1)
        return encoder


def sparse_matrices(
    V: Rows,
    axes: PrincipalAxes,
    sparsify: SparseStep,
    beta: float,
    state: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield Q and the sparse R (n_features, n_bits) with eq. (3) per entry of B."""
    # All matrices are the transposes of the paper's. The dense Rbar is ``P Q`` for the
    # leading principal directions P (n_features, k) and a matrix Q (k, n_bits) with
    # orthonormal rows; `V` walks over ``X P``, and `axes` holds the scatter of that X.
    # They follow on Q and R in `state`, or on Q alone: there R is Rbar.
    Q, *before = state
    scatter = axes.scatter[:, None]
    W = axes.directions.astype(V.dtype, copy=False)
    k, size = len(Q), V.shape[0] * Q.shape[1]
    R = before[0] if before else product(W[:, :k], Q.astype(V.dtype, copy=False))
    WR = product(W.T, R)
    while True:
        # Section 4.3: B = sign(X Rbar), of which only P'X'B is needed.
        C = sign_products(V, Q)
        # Section 4.2, eq. (12): the same of Y = (B + beta X R) / (1 + beta).
        Y = np.empty(C.shape, np.float64 if C.size <= LARGE else np.float32)
        for part in parts(*C.shape):
            Y[part] = (C[part] + beta * scatter[part] * WR[part]) / (1 + beta)
        del WR  # free large arrays early
        Q = polar(Y)
        fit = size - 2 * np.vdot(Q, C) + scatter[:k].sum()
        del C, Y
        Rbar = product(W[:, :k], Q.astype(V.dtype, copy=False))
        # Section 4.1, eq. (10) or (11).
        R = sparsify(Rbar)
        del Rbar
        WR = product(W.T, R)
        # ||Rbar X - B||^2 + beta ||Rbar X - R X||^2, eq. (3).
        gap = 0.0
        for part in parts(*Q.shape):
            gap += np.sum(scatter[:k][part] * (Q[part] - WR[:k][part]) ** 2)
        for part in parts(*WR[k:].shape):
            gap += np.sum(scatter[k:][part] * WR[k:][part] ** 2)
        yield (Q, R), float(fit + beta * gap) / size


class SparseStep:
    """Thresholding of the dense matrix to `m` weights, section 4.1."""

    # Once, eq. (11), or iterative hard thresholding that lowers ``||R X - Rbar X||^2``,
    # eq. (4): from the first thresholded matrix on it never rises if the step is at
    # most one over the largest eigenvalue of the paper's ``X X'``.

    def __init__(
        self, m: int, solver: SparseSolver, axes: PrincipalAxes, dtype: DTypeLike
    ) -> None:
        self.m, self.solver = m, solver
        if solver.kind == "iterative":
            spectral = solver.step == "spectral"
            bound = axes.scatter[0] if spectral else axes.scatter.sum()
            self.step = 1 / float(bound)
            W = axes.directions.astype(dtype, copy=False)
            self.gram = product(W * axes.scatter.astype(dtype, copy=False), W.T)

    def __call__(self, Rbar: FeatureArray) -> FeatureArray:
        if self.solver.kind == "one-step":
            return keep_largest(Rbar, self.m)
        R = Rbar
        for _ in range(self.solver.n_iter):
            # R + step * gram (Rbar - R), eq. (10), without more matrices than it takes
            moved = product(self.gram, Rbar - R)
            moved *= self.step
            moved += R
            R = keep_largest(moved, self.m)
        return R


def keep_largest(M: FeatureArray, m: int) -> FeatureArray:
    """Return ``thr_m(M)``: the `m` entries largest in magnitude, the rest zero."""
    # Of equal entries at the limit those of smaller row, then column, are kept, so the
    # count is exact.
    if m >= M.size:
        return M
    magnitudes = np.abs(M).ravel()
    magnitudes.partition(M.size - m)
    limit = magnitudes[M.size - m]
    np.abs(M, out=magnitudes.reshape(M.shape))
    keep = magnitudes > limit
    ties = np.flatnonzero(magnitudes == limit)
    del magnitudes
    keep[ties[: m - np.count_nonzero(keep)]] = True
    return np.where(keep.reshape(M.shape), M, M.dtype.type(0))
