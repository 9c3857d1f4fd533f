"""Iterative quantization between features and their supervised directions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import check_flag, check_number
from fewbits.learners._linalg._axes import PrincipalAxes, principal_axes
from fewbits.learners._linalg._rotation import RotationLearner
from fewbits.learners.supervised._correlates import correlates
from fewbits.learners.supervised._held_out_classes import (
    check_supervision,
    supervision_of,
)

Float64Array = NDArray[np.float64]

#: Directions below this share of the largest variance count as none.
_RANK_TOLERANCE = 1e-10


class SupervisedITQ(RotationLearner):
    """Rotate features and their supervised directions together: one code for all.

    Codes from labels find items of the classes that were trained on, and lose those of
    classes that come later; codes without labels serve both alike. `supervision` moves
    between them: 0 is `ITQ`, 1 is `CCAITQ`.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    supervision : float or 'validated', default=0.5
        Share of the variance that comes from supervised directions, from 0 to 1.
        'validated' chooses it: classes and rows are held out, and the share taken with
        the best harmonic mean of mAP on known classes and on those held out (Xian et
        al., 2019). It takes a few times as long, on at most 20,000 rows.
    reg : float, default=1.0
        Regulariser of the canonical correlations, as in `CCAITQ`.
    relative : bool, default=True
        Measure `reg` for the features in units of their mean variance.
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
        Seeds the initial rotation, and which classes are held out.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learnt encoder; save this, not the learner.
    supervision_ : float
        The share that was used.
    validation_ : SupervisionScores or None
        What was measured for each share; None unless it was chosen.
    classes_ : ndarray of shape (n_classes,)
    objective_ : ndarray of shape (n_iter_,)
        Mean squared distance between scores and bits (as -1 and 1), at the end of each
        iteration. It never rises; with `batch_size` it is a batch's, and may.
    n_iter_ : int
        Number of iterations done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        When y is missing or holds a single class; when 'validated' has fewer than three
        classes of six rows.

    Notes
    -----
    With ``C`` the canonical directions times their correlations, ITQ's principal
    components and rotation are those of ``[sqrt(1 - a) x / s, sqrt(a) C'x / t]``, where
    s and t make the total variance of each block 1. That is linear in x, so the encoder
    is one matrix, as ITQ's is. Equivalently, distances are measured in the metric
    ``(1 - a) / s^2 I + a / t^2 C C'``.

    L classes have at most L - 1 directions. At 1, more bits are rotations of the same
    directions, as in `CCAITQ`; below 1, those of the features fill the rest. Where no
    feature correlates with labels at all, the codes are ITQ's, with a warning.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Xian, Lampert, Schiele and Akata, "Zero-Shot Learning - A Comprehensive Evaluation
    of the Good, the Bad and the Ugly", TPAMI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat(["ant", "bee", "cat"], 30)
    >>> centres = np.repeat(np.eye(3, 16), 30, axis=0)
    >>> X = centres * 9 + np.random.default_rng(0).normal(size=(90, 16))
    >>> SupervisedITQ(n_bits=8, random_state=0).fit(X, labels).encoder_
    LinearEncoder(16 -> 8 bits)
    >>> learner = SupervisedITQ(8, supervision="validated", random_state=0)
    >>> 0 <= learner.fit(X, labels).supervision_ <= 1
    True
    """

    needs_labels = True

    def __init__(
        self,
        n_bits: int = 64,
        *,
        supervision: float | str = 0.5,
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
        self.supervision = supervision
        self.reg = reg
        self.relative = relative
        self.n_iter = n_iter
        self.tol = tol
        self.batch_size = batch_size
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_supervision(self.supervision)
        check_number("reg", self.reg, 0)
        check_flag("relative", self.relative)
        super()._check_parameters()

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        self.supervision_, self.validation_ = supervision_of(self, X, y)
        axes = principal_axes(X)
        if self.supervision_ == 0:
            return self._rotated(X, axes, None, rng, Y)
        C, _ = correlates(X, Y, axes, reg=self.reg, relative=self.relative)
        if not C.shape[1]:
            return self._rotated(X, axes, None, rng, Y)
        T = leading(C, axes, len(X), self.n_bits, self.supervision_)
        return self._rotated(X, axes, T, rng, Y)


def leading(
    C: Float64Array, axes: PrincipalAxes, n_rows: int, n_bits: int, share: float
) -> Float64Array:
    """Return the leading components of both blocks, as directions in principal axes.

    Parameters
    ----------
    C : ndarray of shape (rank, k)
        Supervised directions, in principal axes.
    share : float
        Of the supervised block, above 0.

    Returns
    -------
    ndarray of shape (rank, at most n_bits)
    """
    if share == 1:
        return C[:, :n_bits]
    variances = axes.scatter / n_rows
    weights = (1 - share) / variances.sum(), share / (variances @ (C**2).sum(axis=1))
    blocks = [np.sqrt(weights[0]) * np.eye(axes.rank), np.sqrt(weights[1]) * C]
    M = np.hstack(blocks)
    values, vectors = np.linalg.eigh(M.T @ (variances[:, None] * M))
    exists = values > values[-1] * _RANK_TOLERANCE
    found: Float64Array = M @ vectors[:, exists][:, ::-1][:, :n_bits]
    return found
