"""Iterative quantization of canonical correlates."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._device import product
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import (
    check_batch_size,
    check_flag,
    check_n_bits,
    check_number,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._axes import PrincipalAxes, principal_axes
from fewbits.learners._linalg._procrustes import random_rotation
from fewbits.learners._linalg._rotation import rotations
from fewbits.learners._linalg._sign_products import products_of

Float64Array = NDArray[np.float64]

#: Correlations below this share of the largest count as zero.
_RANK_TOLERANCE = 1e-7


class CCAITQ(ResumableLearner):
    """Rotate label-correlated directions towards the corners of a cube.

    Canonical correlation analysis finds the directions of the features that correlate
    most with the labels; each is scaled by its correlation, and ITQ rotates them.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    reg : float, default=1.0
        Added to the diagonals of both covariance matrices, of features and of labels.
        Results depend on it strongly; choose it on validation data.
    relative : bool, default=True
        Measure `reg` for the features in units of their mean variance, so that their
        scale does not matter. False adds `reg` itself, as the paper does with 1e-4.
    n_iter : int, default=50
        Number of alternations between codes and rotation; 0 keeps a random rotation.
    tol : float, default=0
        Stop when an iteration lowers the objective by no more than this share of it;
        0 does all iterations. Not with `batch_size`.
    batch_size : int, default=None
        Rows per iteration, as in `ITQ`. None takes all rows.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial rotation.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learnt encoder; save this, not the learner.
    correlations_ : ndarray of shape (effective_rank_,)
        Regularised canonical correlations, falling.
    effective_rank_ : int
        Number of directions that correlate with the labels at all: at most the number
        of classes less one. More bits than this are rotations of the same directions.
    classes_ : ndarray of shape (n_classes,)
    objective_ : ndarray of shape (n_iter_,)
        Mean squared distance between scores and bits (as -1 and 1), at the end of each
        iteration. It never rises; with `batch_size` it is a batch's, and may.
    n_iter_ : int
        Number of iterations done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Notes
    -----
    With L classes at most L - 1 correlations differ from zero. The published code goes
    on with the noise directions behind them, scaled by nearly zero. They are left out
    here, and a rectangular rotation as in `ITQ` makes the other bits.

    With about as many features as rows, ``reg=1e-4, relative=False`` overfits
    completely, while ``reg=1.0`` makes this a strong baseline.

    Classes may be of any size, even one row. A score of exactly 0 gives a 1. An
    interrupt keeps the rotation reached, with a warning.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat(["ant", "bee", "cat"], 30)
    >>> centres = np.repeat(np.eye(3, 16), 30, axis=0)
    >>> X = centres * 9 + np.random.default_rng(0).normal(size=(90, 16))
    >>> cca = CCAITQ(n_bits=8, random_state=0).fit(X, labels)
    >>> cca.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> cca.effective_rank_
    2
    """

    needs_labels = True
    uses_device = True

    def __init__(
        self,
        n_bits: int = 64,
        *,
        reg: float = 1.0,
        relative: bool = True,
        n_iter: int = 50,
        tol: float = 0.0,
        batch_size: int | None = None,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.reg = reg
        self.relative = relative
        self.n_iter = n_iter
        self.tol = tol
        self.batch_size = batch_size
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_number("reg", self.reg, 0)
        check_flag("relative", self.relative)
        self._check_iterations(least=0)
        check_batch_size(self.batch_size, self.tol)

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        E, energy = self._correlates(X, Y, axes)
        _check_scale(E, np.sqrt(axes.scatter[0] / len(X)))
        k = E.shape[1]
        dtype = working_dtype(len(X), k, self.n_bits)
        V = Rows(X, axes.mean, E, dtype, n_out=self.n_bits)
        R = random_rotation(k, self.n_bits, rng)
        products = products_of(self.batch_size, rng)
        states = partial(rotations, V, energy, products=products)
        R, *_ = self._resume(states, (R,), X, Y)
        W = product(E, R)
        encoder = LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder

    def _correlates(
        self, X: Array, Y: sp.csr_array, axes: PrincipalAxes
    ) -> tuple[Float64Array, float]:
        """Return the directions times their correlations, and the scatter along them.

        Works in the principal axes of X, where the covariance of X is diagonal.
        """
        freedom = len(X) - 1
        variances = axes.scatter / freedom
        reg_x = self.reg * (variances.sum() / X.shape[1] if self.relative else 1.0)
        whiten_x = 1 / np.sqrt(variances + reg_x)
        Cxy = axes.directions.T @ _centred_sums(X, Y, axes.mean).T / freedom
        whiten_y = _inverse_root(_covariance(Y), self.reg)
        U, r, _ = np.linalg.svd(whiten_x[:, None] * Cxy @ whiten_y, full_matrices=False)
        k = int(np.sum(r > r[0] * _RANK_TOLERANCE))
        self.correlations_, self.effective_rank_ = r[:k], k
        scaled = whiten_x[:, None] * U[:, : self.n_bits] * r[: self.n_bits]
        scaled = scaled[:, :k]
        return axes.directions @ scaled, float(axes.scatter @ (scaled**2).sum(axis=1))


def _check_scale(E: Float64Array, spread: float) -> None:
    """Refuse features so small that the weights, which are whitened, leave float32."""
    if np.linalg.norm(E, axis=1).max() > np.finfo(np.float32).max:
        raise FeatureError(
            f"X varies by {spread:.1g} only, too little for weights in float32: "
            "multiply it by a constant"
        )


def _centred_sums(X: Array, Y: sp.csr_array, mean: Float64Array) -> Float64Array:
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
