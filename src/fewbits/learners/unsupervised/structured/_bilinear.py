"""Bilinear projections."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits._unit_rows import unit_rows
from fewbits.encoders import BilinearEncoder
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._parameters import check_flag, check_n_bits
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows, column_means
from fewbits.learners._core._signs import signs
from fewbits.learners._linalg._procrustes import polar
from fewbits.learners.unsupervised.structured._structured import centred

Float64Array = NDArray[np.float64]


class BilinearProjections(ResumableLearner):
    """Write the features as a matrix and multiply it from both sides.

    Two small matrices, random or rotations that are learnt, stand for one large
    projection: about ``2 * d * sqrt(d)`` multiply-adds instead of ``d * n_bits``.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    learn : bool, default=True
        Alternate between codes and rotations (BP-opt); False keeps random Gaussian
        matrices (BP-rand).
    n_iter : int, default=5
        Number of alternations.
    tol : float, default=0
        Stop when an iteration lowers the objective by no more than this share of it;
        0 disables early stopping.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the matrices.

    Attributes
    ----------
    encoder_ : BilinearEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Minus the mean dot product of a code, scaled to unit length, and the scores of
        its row of unit length, after each iteration and with the signs that its last
        side was solved for; signs of the new scores would only lower it. It never
        rises. Empty for random matrices.
    n_iter_ : int
        Number of iterations done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Notes
    -----
    The features fill a matrix row by row, in the order they come in; images and
    concatenated descriptors keep their structure. Its shape is the one closest to a
    square; where the longer side would be more than twice the shorter one, as for
    prime numbers, zeros are appended up to the next number with better factors. Bits
    are treated alike, and those that are too many dropped. A side with more bits than
    features gets orthonormal rows in place of columns, as in `ITQ`.

    Rows are centred, and scaled to unit length for learning. A score of exactly 0 gives
    a 1. An interrupt keeps the rotations reached, with a warning.

    References
    ----------
    Gong, Kumar, Rowley and Lazebnik, "Learning Binary Codes for High-Dimensional Data
    Using Bilinear Projections", CVPR 2013.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> bp = BilinearProjections(n_bits=12, random_state=0).fit(X)
    >>> bp.encode(X).shape
    (200, 2)
    >>> bp.encoder_
    BilinearEncoder(16 -> 12 bits)
    >>> bool(bp.objective_[-1] < bp.objective_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        learn: bool = True,
        n_iter: int = 5,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.learn = learn
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_flag("learn", self.learn)
        self._check_iterations()

    def _learn(self, X: Array, y: Any) -> BilinearEncoder:
        rng = check_random_state(self.random_state)
        d1, d2 = near_square(X.shape[1])
        b1, b2 = near_square(self.n_bits)
        b2 = -(-self.n_bits // b1)
        start = rng.standard_normal((d1, b1)), rng.standard_normal((d2, b2))
        mean = column_means(X)
        if self.learn:
            start = closest_rotation(start[0]), closest_rotation(start[1])
            rows = Rows(X, mean, n_out=max(d1 * b2, b1 * d2, b1 * b2))
            left, right = self._resume(partial(side_rotations, rows), start, X)
        else:
            left, right = self._run(iter(()), start)
        zeros = np.zeros(self.n_bits)
        encoder = BilinearEncoder(left, right, zeros, X.shape[1], zero_bit=1)
        encoder = centred(encoder, mean)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder


def near_square(n: int) -> tuple[int, int]:
    """Return a, b with ``a <= b <= 2 a`` and the smallest product of at least `n`."""
    if n == 1:
        return 1, 1
    while True:
        for a in range(math.isqrt(n), 0, -1):
            if n > 2 * a * a:
                break
            if n % a == 0:
                return a, n // a
        n += 1


def closest_rotation(C: FeatureArray) -> FeatureArray:
    """Return the closest matrix to `C` with orthonormal columns, or rows if wide."""
    return polar(C) if C.shape[0] <= C.shape[1] else polar(C.T).T


def side_rotations(rows: Rows, sides: Arrays) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations of both sides.

    Raises ``sum tr(B_n' left' Z_n right)`` over signs B and each side in turn, exactly,
    so it never falls. The signs are renewed before each side.
    """
    left, right = sides
    n_bits = left.shape[1] * right.shape[1]
    while True:
        right = closest_rotation(_correlation(rows, left, right, of_left=False))
        C = _correlation(rows, left, right, of_left=True)
        left = closest_rotation(C)
        value = float(np.vdot(left, C)) / (rows.shape[0] * math.sqrt(n_bits))
        yield (left, right), -value


def _correlation(
    rows: Rows, left: FeatureArray, right: FeatureArray, *, of_left: bool
) -> Float64Array:
    """Return the matrix whose dot product with a side is the sum to be raised."""
    C = np.zeros(left.shape if of_left else right.shape)
    for block in rows:  # what it takes is gone when the next is made
        C += _of_block(unit_rows(block), left, right, of_left=of_left)
    return C


def _of_block(
    block: FeatureArray, left: FeatureArray, right: FeatureArray, *, of_left: bool
) -> Float64Array:
    """Return what some rows add to it."""
    (n, d), (d1, d2) = block.shape, (len(left), len(right))
    Z = np.pad(block, ((0, 0), (0, d1 * d2 - d))).reshape(n, d1, d2)
    half = (Z.reshape(n * d1, d2) @ right).reshape(n, d1, right.shape[1])
    B = signs(left.T @ half >= 0)  # (n, b1, b2)
    if of_left:
        found = np.tensordot(half, B, axes=([0, 2], [0, 2]))
    else:
        found = np.tensordot(left.T @ Z, B, axes=([0, 1], [0, 1]))
    return np.asarray(found, np.float64)
