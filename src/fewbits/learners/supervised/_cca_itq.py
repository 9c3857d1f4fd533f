"""Iterative quantization of canonical correlates."""

from typing import Any

from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import check_flag, check_number
from fewbits.learners._linalg._axes import principal_axes
from fewbits.learners._linalg._rotation import RotationLearner
from fewbits.learners.supervised._correlates import correlates


class CCAITQ(RotationLearner):
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
        0 disables early stopping. Not with `batch_size`.
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

    Where no feature correlates with the labels, there is no direction: all bits are
    constant, with a warning. Classes may be of any size, even one row. A score of
    exactly 0 is encoded as 1. An interrupt keeps the rotation reached, with a warning.

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
        check_number("reg", self.reg, 0)
        check_flag("relative", self.relative)
        super()._check_parameters()

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        found = correlates(X, Y, axes, reg=self.reg, relative=self.relative)
        self.correlations_ = found.correlations
        self.effective_rank_ = len(found.correlations)
        return self._rotated(X, axes, found.directions[:, : self.n_bits], rng, Y)
