"""Codes from labels by linear maps: directions that are rotated, random halves."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from fewbits._repr import short_repr
from fewbits._runtime import changed
from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners._core._base import Learner
from fewbits.learners._core._device import product
from fewbits.learners._core._iterative import (
    interrupts_passed_on,
    report,
    shared_steps,
)
from fewbits.learners._core._labels import class_numbers, indicator
from fewbits.learners._core._parameters import USUAL, Constraint, Interval, words
from fewbits.learners._core._rows import Rows
from fewbits.learners._itq import RotationLearner
from fewbits.learners._linalg._orthogonal import PrincipalAxes, principal_axes

Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LabelledITQ(RotationLearner):
    """A learner that rotates directions which correlate with labels.

    Parameters
    ----------
    reg : float, default=1.0
        Added to the diagonals of both covariance matrices, of labels, and of features
        in units of their mean variance (the paper: 1e-4 in the units of X). Results
        depend on it strongly; choose it on validation data.
    n_iter : int, default=50
        Number of alternations between codes and rotation; 0 keeps a random rotation.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    _: KW_ONLY
    reg: float = 1.0

    needs_labels = True


@dataclass(eq=False, repr=False)
class CCAITQ(LabelledITQ):
    """Rotate label-correlated directions towards the corners of a cube.

    Canonical correlation analysis finds the directions of the features that correlate
    most with the labels; each is scaled by its correlation, and ITQ rotates them.

    Parameters
    ----------
    n_bits : int, default=64

    Attributes
    ----------
    encoder_ : LinearEncoder
    correlations_ : ndarray of shape (effective_rank_,)
        Regularised canonical correlations, falling.
    effective_rank_ : int
        Number of directions that correlate with the labels at all: at most the number
        of classes less one. More bits than this are rotations of the same directions.

    Notes
    -----
    With L classes at most L - 1 correlations differ from zero. The published code goes
    on with the noise directions behind them; here a rectangular rotation as in `ITQ`
    makes the other bits. With about as many features as rows, a small `reg` overfits
    completely. Where no feature correlates with the labels, all bits are constant, with
    a warning. A score of exactly 0 is encoded as 1.

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

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        T, self.correlations_ = correlates(X, Y, axes, self.reg)
        self.effective_rank_ = len(self.correlations_)
        return self._rotated(X, axes, T[:, : self.n_bits], rng, Y)


#: Correlations below this share of the largest count as zero.
_CORRELATION_TOLERANCE = 1e-7
#: Share of the variance of labels that rounding alone may seem to explain.
_NOTHING = 1e-12


class Correlates(NamedTuple):
    """Directions that correlate with labels, and how much they do, falling."""

    directions: Float64Array  # (rank, k), in principal axes, times the correlations
    correlations: Float64Array  # (k,), at most the number of classes less one


def correlates(
    X: Array, Y: sp.csr_array, axes: PrincipalAxes, reg: float
) -> Correlates:
    """Return canonical directions of the features, both covariances regularised."""
    freedom = len(X) - 1
    variances = axes.scatter / freedom
    reg_x = reg * (variances.sum() / X.shape[1])
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
    exists = values > values[-1] * _CORRELATION_TOLERANCE
    roots = np.sqrt(np.where(exists, values + reg, 1))
    whiten_y = (E * np.where(exists, 1 / roots, 0)) @ E.T
    U, r, _ = np.linalg.svd(whiten_x[:, None] * Cxy @ whiten_y, full_matrices=False)
    k = int(np.sum(r > r[0] * _CORRELATION_TOLERANCE))
    return Correlates(whiten_x[:, None] * U[:, :k] * r[:k], r[:k])


def centred_sums(X: Array, Y: sp.csr_array, mean: Float64Array) -> Float64Array:
    """Return ``Y'(X - mean)``, shape (n_classes, n_features)."""
    sums, start = np.zeros((Y.shape[1], X.shape[1])), 0
    for block in Rows(X, mean, keep=False):
        sums += Y[start : start + len(block)].T @ block
        start += len(block)
    return sums


IntArray = NDArray[np.int64]

#: Directions below this share of the largest variance count as none.
_RANK_TOLERANCE = 1e-10
#: What `supervision` may be.
SUPERVISION: Constraint = [words("validated"), Interval(float, 0, 1)]


@dataclass(eq=False, repr=False)
class SupervisedITQ(LabelledITQ):
    """Rotate features and their supervised directions together: one code for all.

    Codes from labels find items of the classes that were trained on, and lose those of
    classes that come later; codes without labels serve both alike. `supervision` moves
    between them: 0 is `ITQ`, 1 is `CCAITQ`.

    Parameters
    ----------
    n_bits : int, default=64
    supervision : float or 'validated', default=0.5
        Share of the variance that comes from supervised directions, from 0 to 1.
        'validated' chooses it: classes and rows are held out, and the share taken with
        the best harmonic mean of mAP on known classes and on those held out (Xian et
        al., 2019). It takes a few times as long, on at most 20,000 rows.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial rotation, and which classes are held out.

    Attributes
    ----------
    encoder_ : LinearEncoder
    supervision_ : float
        The share that was used.
    validation_ : SupervisionScores or None
        What was measured for each share; None unless it was chosen.

    Notes
    -----
    With ``C`` the canonical directions times their correlations, ITQ's principal
    components and rotation are those of ``[sqrt(1 - a) x / s, sqrt(a) C'x / t]``, where
    s and t make the total variance of each block 1: one matrix, as ITQ's is. Where no
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

    _: KW_ONLY
    supervision: float | str = 0.5

    constraints: ClassVar = RotationLearner.constraints | {"supervision": SUPERVISION}

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        self.supervision_, self.validation_ = supervision_of(self, X, y)
        axes = principal_axes(X)
        if self.supervision_ == 0:
            return self._rotated(X, axes, None, rng, Y)
        C, _ = correlates(X, Y, axes, self.reg)
        T = None
        if C.shape[1]:
            T = _leading(C, axes, len(X), self.n_bits, self.supervision_)
        return self._rotated(X, axes, T, rng, Y)


def _leading(
    C: Float64Array, axes: PrincipalAxes, n_rows: int, n_bits: int, share: float
) -> Float64Array:
    """Return the leading components of both blocks, as directions in principal axes."""
    if share == 1:
        return C[:, :n_bits]
    variances = axes.scatter / n_rows
    weights = (1 - share) / variances.sum(), share / (variances @ (C**2).sum(axis=1))
    blocks = [np.sqrt(weights[0]) * np.eye(axes.rank), np.sqrt(weights[1]) * C]
    M = np.hstack(blocks)
    values, vectors = np.linalg.eigh(M.T @ (variances[:, None] * M))
    exists = values > values[-1] * _RANK_TOLERANCE
    return np.asarray(M @ vectors[:, exists][:, ::-1][:, :n_bits])


#: Shares to choose from; the first is ITQ.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
#: Every class is held out once; of the rows of other classes, as many are.
_FOLDS = 3
#: Rows that are learnt from and ranked, and those that ask, at most.
_ROWS, _QUERIES = 20_000, 1000
#: Of each child, at most: the order of shares is settled long before the rotation is.
_ITERATIONS = 10
#: In every fold a class is learnt from, asks and answers.
_LEAST_ROWS = 2 * _FOLDS
_LEAST = 1e-15
#: Warnings that only the final fit should give.
_WARNED_ONCE = ("constant on", "has learnt hardly anything")


@dataclass(frozen=True, eq=False)
class SupervisionScores:
    """Mean average precision among rows held out, for each share of supervision.

    Attributes
    ----------
    shares : ndarray of shape (n,)
    known, new : ndarray of shape (n,)
        Of queries of classes that were learnt from, and of classes held out.
    """

    shares: NDArray[np.float64]
    known: NDArray[np.float64]
    new: NDArray[np.float64]

    def __repr__(self) -> str:
        return short_repr(self)


def supervision_of(
    learner: Any, X: Array, y: Any
) -> tuple[float, SupervisionScores | None]:
    """Return the share of a learner, or the best, and what decided on it."""
    # The best has the largest harmonic mean of both mean average precisions, the
    # measure of generalised zero-shot learning.
    if learner.supervision != "validated":
        return float(learner.supervision), None
    _, y = class_numbers(y, X, "supervision='validated'")
    rng = check_random_state(learner.random_state)
    rows = np.sort(rng.permutation(len(y))[:_ROWS])
    large = np.flatnonzero(np.bincount(y[rows]) >= _LEAST_ROWS)
    if len(large) < _FOLDS:
        raise ArgumentError(
            f"supervision='validated' holds classes out: it needs {_FOLDS} of at least "
            f"{_LEAST_ROWS} rows, got {len(large)}"
        )
    rows = rows[np.isin(y[rows], large)]
    rows, classes = rng.permutation(rows), rng.permutation(large)
    place = np.empty(len(rows), np.int64)  # of a row in its class
    for c in classes:
        members = y[rows] == c
        place[members] = np.arange(members.sum())
    precisions: list[NDArray[np.float64]] = []  # of each fit
    n, name = len(SHARES), type(learner).__name__
    # The shares of a fold have the same principal axes, and network.
    with shared_steps(), interrupts_passed_on():
        for fold in range(_FOLDS):
            new = np.isin(y[rows], classes[fold::_FOLDS])
            seen = ~new & (place % _FOLDS == fold)
            asks = np.where(new, place, place // _FOLDS) % 2 == 0
            learn = np.sort(rows[~new & ~seen])
            queries = rows[seen & asks][:_QUERIES], rows[new & asks][:_QUERIES]
            base = rows[(seen | new) & ~asks]
            for share in SHARES:
                with changed(progress=None):  # fits are reported, not their iterations
                    child = clone(learner)
                    if hasattr(child, "checkpoint"):
                        child.set_params(checkpoint=None)
                    n_iter = min(learner.n_iter, _ITERATIONS)
                    child.set_params(supervision=share, n_iter=n_iter, verbose=False)
                    precisions.append(_precisions(child, X, y, learn, queries, base))
                error = 1 - float(np.nanmean(precisions[-1]))
                report(name, len(precisions), _FOLDS * n, error, verbose=False)
    by_fold = (precisions[i : i + n] for i in range(0, len(precisions), n))
    by_share = np.concatenate([np.stack(fold) for fold in by_fold], axis=2)
    known, new = np.nanmean(by_share, axis=2).T
    best = int(np.argmax(2 * known * new / np.maximum(known + new, _LEAST)))
    return SHARES[best], SupervisionScores(np.array(SHARES), known, new)


def _precisions(
    child: Any,
    X: Array,
    y: IntArray,
    learn: IntArray,
    queries: tuple[IntArray, IntArray],  # of classes learnt from, and new ones
    base: IntArray,  # of both
) -> NDArray[np.float64]:
    """Return average precisions, shape (2, n_queries), padded with NaN."""
    with warnings.catch_warnings():
        for message in _WARNED_ONCE:
            warnings.filterwarnings("ignore", f".*{message}")
        rows = getattr(X, "matrix", X)  # of a sparse one, sparse
        encoder = child.fit(rows[learn], y[learn]).encoder_
    codes = encoder.encode(rows[base])
    precisions = np.full((2, max(map(len, queries))), np.nan)
    for row, some in zip(precisions, queries, strict=True):
        relevance = same_label(y[some], y[base])
        score = mean_average_precision(encoder.encode(rows[some]), codes, relevance)
        row[: len(some)] = score.per_query
    return precisions


@dataclass(eq=False, repr=False)
class ECOC(Learner):
    """Predict random codewords of classes by ridge regression.

    Each bit parts the classes into random halves, and a hyperplane predicts the half.
    Nothing else is learnt: what other codes from labels are to be compared with.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    reg : float, default=1.0
        Added to the diagonal of the covariance of the features, in units of their mean
        variance.
    random_state : int, RandomState instance or None, default=None
        Draws the halves.

    Attributes
    ----------
    encoder_ : LinearEncoder
    classes_ : ndarray of shape (n_classes,)
    codewords_ : ndarray of shape (n_classes, n_bits), dtype uint8
        The bits that rows of a class should have.
    objective_ : ndarray of shape (1,)
        Mean squared error of the scores, codewords being -1 and 1, and the regulariser.

    Notes
    -----
    Scores are cut at their mean, so that halves of few rows do not give constant bits.
    A row of several classes should have the bit that most of them have. L classes have
    2^(L-1) - 1 partitions, so the bits of few classes repeat. A score of exactly 0
    gives a 0.

    References
    ----------
    Dietterich and Bakiri, "Solving Multiclass Learning Problems via Error-Correcting
    Output Codes", JAIR 2, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat(["ant", "bee", "cat", "dog"], 20)
    >>> X = np.repeat(np.eye(4), 20, axis=0)
    >>> ecoc = ECOC(n_bits=8, random_state=0).fit(X, labels)
    >>> bool((ecoc.transform(np.eye(4)) == ecoc.codewords_).all())
    True
    """

    n_bits: int = 64
    _: KW_ONLY
    reg: float = 1.0
    random_state: Any = None

    constraints: ClassVar = USUAL
    needs_labels = True
    uses_device = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        # 0 and 1 as often as each other in every column, the larger half drawn.
        n, n_bits = len(self.classes_), self.n_bits
        order = np.argsort(rng.random_sample((n, n_bits)), axis=0)
        halves = 2 * order + rng.randint(2, size=n_bits) < n
        self.codewords_ = halves.astype(np.uint8)
        signs = 2.0 * self.codewords_ - 1
        axes = principal_axes(X)
        covariances = axes.directions.T @ centred_sums(X, Y, axes.mean).T
        ridge = self.reg * axes.scatter.sum() / X.shape[1]
        covariances = covariances @ signs
        weights = covariances / (axes.scatter + ridge)[:, None]
        targets = Y @ signs
        energy = np.sum((targets - targets.mean(axis=0)) ** 2)
        # Of ridge regression: what is explained is the product with the solution.
        self.objective_ = np.array([energy - np.vdot(weights, covariances)])
        self.objective_ /= targets.size
        W = product(axes.directions, weights)
        return LinearEncoder(W, bias=-axes.mean @ W)
