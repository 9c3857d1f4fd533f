"""Iterative quantization."""

from typing import Any

from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.encoders import LinearEncoder
from fewbits.learners._linalg._axes import principal_axes
from fewbits.learners._linalg._rotation import RotationLearner


class ITQ(RotationLearner):
    """Rotate the leading principal components towards the corners of a cube.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    n_iter : int, default=50
        Number of alternations between codes and rotation. 0 keeps the random rotation
        of the components, a baseline of its own.
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
        Seeds the initial rotation.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learnt encoder; save this, not the learner.
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
    The paper stops at as many bits as features; Xia et al. extend it by Procrustes'
    problem with a rectangular rotation. The same serves data whose rank is less than
    `n_bits`, by constant features or too few rows: all the directions that exist are
    rotated into `n_bits` dimensions, and no bit is wasted on the others. Where there is
    one direction only, all bits are equal or opposite, and a warning says so.

    A score of exactly 0 is encoded as 1. An interrupt keeps the rotation reached,
    with a warning.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Xia, He, Kohli and Sun, "Sparse Projections for High-Dimensional Binary Codes",
    CVPR 2015, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> itq = ITQ(n_bits=8, random_state=0).fit(X)
    >>> itq.encode(X).shape
    (200, 1)
    >>> itq.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> bool(itq.objective_[-1] < itq.objective_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_iter: int = 50,
        tol: float = 0.0,
        batch_size: int | None = None,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.tol = tol
        self.batch_size = batch_size
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        if axes.rank == 1 and len(X) > 2:
            self._tell_one_direction()
        return self._rotated(X, axes, None, rng)

    def _tell_one_direction(self) -> None:
        if self.n_bits > 1:
            warn_user(
                "X varies in one direction only, as rows of two kinds do: all "
                f"{self.n_bits} bits are equal or opposite, so there are two codes"
            )
