"""Classemes: a bit for each training class, fewer by elimination, more by bagging."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._base import Learner, warn_repeated_bits
from fewbits.learners._core._labels import class_numbers
from fewbits.learners._core._parameters import N_BITS, USUAL
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._orthogonal import principal_axes
from fewbits.learners._linalg._svm import hinge_svms

Float64Array = NDArray[np.float64]

_ELIMINATION_COST = 10.0
_DROPPED = 0.1  # share of the remaining bits, at a time


@dataclass(eq=False, repr=False)
class Classemes(Learner):
    """Classify items by all training classes: one bit per class.

    Parameters
    ----------
    n_bits : int, default=None
        Length of the code; None takes a bit for each class. Fewer are chosen by
        recursive feature elimination: linear SVMs of all classes are trained on the
        bits that are left, and those dropped that they use least. For more bits than
        classes, classifiers are trained again, on bootstrap samples of the rows.
    C : float, default=1
        Weight of the errors of a classifier (LIBLINEAR's C), for features scaled to a
        mean squared length of 1. Much smaller values make bits that are less certain of
        their class and carry more about new ones.
    class_weight : {'balanced', None}, default='balanced'
        Make the class weigh as much as all others. With None a bit is 0 for nearly
        everything that is not of its class: it carries little on new classes.
    random_state : int, RandomState instance or None, default=None
        Seeds LIBLINEAR and the bootstrap samples.

    Attributes
    ----------
    encoder_ : LinearEncoder
    classes_ : ndarray of shape (n_classes,)
    objective_ : ndarray of shape (1,)
        Sum over the classes of the objectives of the support vector machines that
        were trained on all rows.
    bit_classes_ : ndarray of shape (n_bits,)
        The class that each bit stands for.

    Notes
    -----
    Each class is separated from all others by a linear SVM with the hinge loss, as in
    the reimplementation by PiCoDes' authors; the original uses LP-beta and web images.
    A score of exactly 0 gives a 0. Bootstrap samples are ours: a class has as many rows
    in each as it has in all (Breiman, "Bagging Predictors", 1996).

    References
    ----------
    Torresani, Szummer and Fitzgibbon, "Efficient Object Category Recognition Using
    Classemes", ECCV 2010.

    Chapelle and Keerthi, "Multi-class Feature Selection with Support Vector Machines",
    2008.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["ant", "bee", "cat", "dog"], 20)
    >>> X = np.repeat(np.eye(4), 20, axis=0) + 0.1 * rng.normal(size=(80, 4))
    >>> Classemes().fit(X, y).transform(np.eye(4))
    array([[1, 0, 0, 0],
           [0, 1, 0, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 1]], dtype=uint8)
    """

    n_bits: int | None = None
    _: KW_ONLY
    C: float = 1.0
    class_weight: str | None = "balanced"
    random_state: Any = None

    constraints: ClassVar = USUAL | {
        "n_bits": [*N_BITS, None],
    }
    needs_labels = True
    uses_device = True
    takes_sparse = True
    _dead_bits = " on the training rows; raise C, or set class_weight='balanced'"

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, numbers = class_numbers(y, X, "Classemes")
        K = len(self.classes_)
        n_bits = K if self.n_bits is None else self.n_bits
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        axes = principal_axes(X)
        P = axes.directions * np.sqrt(len(X) / axes.scatter.sum())
        rows = np.concatenate(list(Rows(X, axes.mean, P)))
        planes = [self._machines(rows, numbers, seed)]
        A, a0 = planes[0]
        scores, positive = rows @ A.T + a0, numbers[:, None] == np.arange(K)
        slack = np.maximum(0, 1 - np.where(positive, scores, -scores))
        if self.class_weight is not None:
            n, counts = len(positive), positive.sum(axis=0)
            slack *= np.where(positive, n / (2 * counts), n / (2 * (n - counts)))
        self.objective_ = np.array([0.5 * np.sum(A**2) + self.C * slack.sum()])
        while K * len(planes) < n_bits:
            members = [np.flatnonzero(numbers == k) for k in np.unique(numbers)]
            drawn = np.concatenate([rng.choice(of, len(of)) for of in members])
            planes.append(self._machines(rows[drawn], numbers[drawn], seed))
        A, a0 = (np.concatenate(part) for part in zip(*planes, strict=True))
        H = rows @ A.T + a0 > 0
        last = K * (len(planes) - 1)  # of which some may go
        labels = [numbers == k for k in range(K)]
        some = most_used(H[:, last:], labels, n_bits - last, seed=seed)
        columns = np.concatenate([np.arange(last), last + some])
        if n_bits > K:  # the machines of two classes are opposites, in every code
            warn_repeated_bits(H[:, columns], "take fewer bits")
        self.bit_classes_ = self.classes_[columns % K]
        W = P @ A[columns].T
        return LinearEncoder(W, bias=a0[columns] - axes.mean @ W)

    def _machines(
        self, rows: Float64Array, numbers: NDArray[np.int64], seed: int
    ) -> tuple[Float64Array, Float64Array]:
        labels = [numbers == k for k in range(len(self.classes_))]
        balanced = self.class_weight is not None
        return hinge_svms(rows, labels, self.C, balanced=balanced, seed=seed)


def most_used(
    H: NDArray[Any],
    labels: list[NDArray[np.bool_]],
    n_bits: int,
    *,
    seed: int,
) -> NDArray[np.int64]:
    """Return the columns of bits that are left by multi-class RFE, rising."""
    columns = np.arange(H.shape[1])
    H = H - H.mean(axis=0)
    # As for the features: rows of a mean squared length of 1.
    H /= np.sqrt(max(np.sum(H**2) / len(H), np.finfo(float).tiny))
    while len(columns) > n_bits:
        W, _ = hinge_svms(H[:, columns], labels, _ELIMINATION_COST, seed=seed)
        n_dropped = min(len(columns) - n_bits, max(1, int(_DROPPED * len(columns))))
        order = np.argsort(np.sum(W**2, axis=0), kind="stable")
        columns = np.sort(columns[order[n_dropped:]])
    return columns
