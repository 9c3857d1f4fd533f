"""Sparse projections."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits.encoders import Encoder, LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._device import as_dtype, product
from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import (
    check_batch_size,
    check_flag,
    check_integer,
    check_n_bits,
    check_number,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._axes import PrincipalAxes, principal_axes
from fewbits.learners._linalg._procrustes import random_rotation
from fewbits.learners._linalg._sign_products import products_of
from fewbits.learners.unsupervised.sparse_projections._config import SparseSolver
from fewbits.learners.unsupervised.sparse_projections._hard_threshold import (
    IterativeSteps,
    OneStep,
    SparseStep,
)
from fewbits.learners.unsupervised.sparse_projections._splitting import sparse_matrices


class SparseProjections(ResumableLearner):
    """Learn one sparse hyperplane per bit, near a dense and orthogonal solution.

    Encoding costs one multiply-add for each weight that is kept: a tenth of a dense
    map at the default `density`. Made for codes about as long as the features are wide,
    or longer.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    density : float, default=0.1
        Share of the weights that are kept, above 0 and at most 1. They are chosen over
        the whole matrix, so bits differ in how many they get.
    n_nonzero : int, default=None
        Number of weights that are kept, instead of `density`.
    solver : SparseSolver or None, default=None
        How the sparse step is done; None thresholds once.
    beta : float, default=1.0
        Weight of the second term of eq. (3), above 0.
    normalize : bool, default=True
        Scale the data in eq. (3) by one number so that the dense scores have a mean
        square of 1, as the bits do; False takes X in its own units.
    n_iter : int, default=50
        Number of outer iterations.
    tol : float, default=0
        Stop when an iteration lowers the objective by no more than this share of it;
        0 disables early stopping. Not with `batch_size`, which only estimates the
        objective.
    batch_size : int, default=None
        Rows per iteration, for data so large that a pass in every iteration is too
        much; iterations are averaged over about one pass. At least twice as many as
        there are directions to rotate are taken. None takes all rows.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial orthogonal matrix.

    Attributes
    ----------
    encoder_ : SparseEncoder
        The learnt encoder; save this, not the learner. A `LinearEncoder` when every
        weight is kept.
    objective_ : ndarray of shape (n_iter_,)
        Eq. (3) per entry of B, that is, divided by ``n * n_bits``, at the end of each
        iteration. See the notes on when it falls.
    n_iter_ : int
        Number of iterations done.
    n_dead_bits_ : int
        Bits that are the same for all rows, most often since they kept no weight; a
        warning is given if there are any.
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        From `fit`, as of all learners, and when `n_nonzero` exceeds the weights.

    Warns
    -----
    UserWarning
        When bits are constant because none of their weights was kept, or after an
        interrupt, which keeps the iterations reached.

    Notes
    -----
    The order of the steps is the paper's: B from the dense matrix, then the dense
    matrix, then the sparse one. Exactly ``ceil(density * n_features * n_bits)`` weights
    are kept, of equal ones those of earlier features; fewer only where the dense matrix
    has more zeros.

    The paper asks the dense matrix to be orthogonal, and projects the data on as many
    principal components as bits where that is impossible (fewer bits than features). We
    do so whenever the rank of the data is less than the number of features, too: the
    dense matrix lives in the row space of X. Otherwise Procrustes' problem leaves it
    undetermined where X has no variance, and constant features would get weights.

    Multiplying X by a number changes eq. (3) as multiplying `beta` by it would: larger
    units let the sparse matrix hold back the dense one, and 50 iterations end sooner on
    the way. The paper does not mention units; with `normalize` they have no effect.

    The steps for B and the dense matrix cannot raise eq. (3), for any number of bits.
    The sparse step can, as it chooses by the size of weights rather than by eq. (3);
    only ``SparseSolver(kind='iterative', start='previous')`` on all rows (no
    `batch_size`) cannot raise it in any iteration after the first. At ``density=1`` the
    two matrices are the same, and the iterations are those of ITQ, damped by `beta`.

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

    uses_device = True
    configs: ClassVar[Mapping[str, type[Config]]] = {"solver": SparseSolver}

    def __init__(
        self,
        n_bits: int = 64,
        *,
        density: float = 0.1,
        n_nonzero: int | None = None,
        solver: SparseSolver | None = None,
        beta: float = 1.0,
        normalize: bool = True,
        n_iter: int = 50,
        tol: float = 0.0,
        batch_size: int | None = None,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.density = density
        self.n_nonzero = n_nonzero
        self.solver = solver
        self.beta = beta
        self.normalize = normalize
        self.n_iter = n_iter
        self.tol = tol
        self.batch_size = batch_size
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_number("density", self.density, 0, 1, above=True)
        if self.n_nonzero is not None:
            check_integer("n_nonzero", self.n_nonzero, 1)
        check_flag("normalize", self.normalize)
        self._check_configs()
        check_number("beta", self.beta, 0, above=True)
        self._check_iterations()
        check_batch_size(self.batch_size, self.tol)

    def _learn(self, X: Array, y: Any) -> Encoder:
        m = self._count_to_keep(X.shape[1])
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        k = min(self.n_bits, axes.rank)
        scale = self._scale(len(X) * self.n_bits, axes.scatter[:k])
        # Of the scaled rows, whose directions are the same.
        axes = replace(axes, scatter=axes.scatter * scale**2)
        dtype = working_dtype(max(X.shape), k, self.n_bits)
        P = axes.directions[:, :k] * scale
        V = Rows(X, axes.mean, P, dtype, n_out=self.n_bits)
        Q = random_rotation(k, self.n_bits, rng)
        sparsify = self._sparse_step(axes, m, dtype)
        products = products_of(self.batch_size, rng)
        states = partial(
            sparse_matrices, V, axes, sparsify, self.beta, products=products
        )
        _, R, *_ = self._resume(states, (Q,), X)
        return self._deploy(R, axes.mean, m, X)

    def _count_to_keep(self, n_features: int) -> int:
        size = n_features * self.n_bits
        if self.n_nonzero is None:
            return max(1, math.ceil(round(self.density * size, 6)))
        if self.n_nonzero > size:
            raise ArgumentError(
                f"n_nonzero={self.n_nonzero} exceeds the {size} weights of "
                f"{self.n_bits} bits and {n_features} features"
            )
        return self.n_nonzero

    def _scale(self, size: int, scatter: NDArray[np.float64]) -> float:
        return float(np.sqrt(size / scatter.sum())) if self.normalize else 1.0

    def _sparse_step(self, axes: PrincipalAxes, m: int, dtype: DTypeLike) -> SparseStep:
        solver = self._config("solver", SparseSolver)
        if solver.kind == "one-step":
            return OneStep(m)
        bound = axes.scatter[0] if solver.step == "spectral" else axes.scatter.sum()
        W = as_dtype(axes.directions, dtype)
        return IterativeSteps(
            m,
            product(W * as_dtype(axes.scatter, dtype), W.T),
            step=1 / float(bound),
            n_inner=solver.n_iter,
            from_previous=solver.start == "previous",
        )

    def _deploy(
        self, R: FeatureArray, mean: NDArray[np.float64], m: int, X: Array
    ) -> Encoder:
        R = R.astype(np.float32, copy=False)
        make = LinearEncoder if m == R.size else SparseEncoder.from_dense
        encoder: Encoder = make(R, bias=-mean @ R, zero_bit=1)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder
