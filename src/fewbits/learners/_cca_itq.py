"""Iterative quantization of canonical correlates."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._rows import Rows
from fewbits.learners._itq import RotationLearner
from fewbits.learners._linalg._orthogonal import PrincipalAxes, principal_axes

Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
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
        Stop when an iteration lowers the objective by this share or less; 0: never.
        Not with `batch_size`.
    batch_size : int, default=None
        Rows per iteration, as in `ITQ`. None takes all rows.
    checkpoint : path or None, default=None
        File of the progress: `fit` resumes from it, to the same result, and deletes it.
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

    n_bits: int = 64
    _: KW_ONLY
    reg: float = 1.0
    relative: bool = True
    n_iter: int = 50
    tol: float = 0.0
    batch_size: int | None = None
    checkpoint: Any = None
    verbose: bool = False
    random_state: Any = None

    needs_labels = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        T, self.correlations_ = correlates(
            X, Y, axes, reg=self.reg, relative=self.relative
        )
        self.effective_rank_ = len(self.correlations_)
        return self._rotated(X, axes, T[:, : self.n_bits], rng, Y)


#: Correlations below this share of the largest count as zero.
_RANK_TOLERANCE = 1e-7
#: Share of the variance of labels that rounding alone may seem to explain.
_NOTHING = 1e-12


class Correlates(NamedTuple):
    """Directions that correlate with labels, and how much they do, falling."""

    directions: Float64Array  # (rank, k), in principal axes, times the correlations
    correlations: Float64Array  # (k,), at most the number of classes less one


def correlates(
    X: Array, Y: sp.csr_array, axes: PrincipalAxes, *, reg: float, relative: bool
) -> Correlates:
    """Return canonical directions of the features, both covariances regularised."""
    freedom = len(X) - 1
    variances = axes.scatter / freedom
    reg_x = reg * (variances.sum() / X.shape[1] if relative else 1.0)
    whiten_x = 1 / np.sqrt(variances + reg_x)
    Cxy = axes.directions.T @ centred_sums(X, Y, axes.mean).T / freedom
    share = np.asarray(Y.mean(axis=0))
    Cyy = ((Y.T @ Y).toarray() - len(X) * np.outer(share, share)) / freedom
    explained = np.sum((Cxy / np.sqrt(variances)[:, None]) ** 2)
    if explained <= _NOTHING * np.trace(Cyy):
        warn_user("no feature correlates with the labels")
        return Correlates(np.empty((axes.rank, 0)), np.empty(0))
    # (Cyy + reg I)^(-1/2), zero in the directions that have no variance.
    values, E = np.linalg.eigh(Cyy)
    exists = values > values[-1] * _RANK_TOLERANCE
    roots = np.sqrt(np.where(exists, values + reg, 1))
    whiten_y = (E * np.where(exists, 1 / roots, 0)) @ E.T
    U, r, _ = np.linalg.svd(whiten_x[:, None] * Cxy @ whiten_y, full_matrices=False)
    k = int(np.sum(r > r[0] * _RANK_TOLERANCE))
    return Correlates(whiten_x[:, None] * U[:, :k] * r[:k], r[:k])


def centred_sums(X: Array, Y: sp.csr_array, mean: Float64Array) -> Float64Array:
    """Return ``Y'(X - mean)``, shape (n_classes, n_features)."""
    sums, start = np.zeros((Y.shape[1], X.shape[1])), 0
    for block in Rows(X, mean, keep=False):
        sums += Y[start : start + len(block)].T @ block
        start += len(block)
    return sums
