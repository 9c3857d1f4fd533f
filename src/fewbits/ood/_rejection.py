"""Rejection of items of unknown classes, at rates that hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits._checks import check_choice, check_rate
from fewbits._features import as_finite
from fewbits._intervals import fewest_values, mean_limits
from fewbits._labels import as_classes, as_groups
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError, ArtefactError, FeatureError

Matrix = NDArray[np.float64]

#: Scores by name; the first is the default.
SCORES = ("random features", "ridge")
_PENALTIES = (1e-2, 1e-1, 1.0)
_MOST_WIDE, _SCALE = 2048, 0.7
_BLOCK = 4096  # items at a time
_LEAST = 1e-9  # of 1 - leverage
_FORMAT = "fewbits-rejection-1"
_MOST_ITEMS, _GRID = 10_000, 1000
_FEWEST_CLASSES = 5  # whose spread says anything
_LEVEL = 0.95
_BOTH = 2 * _LEVEL - 1  # of two-sided limits whose upper one has that level


@dataclass(frozen=True, eq=False, slots=True)
class RejectionScore:
    """Largest response of a ridge regression to the indicators of classes.

    Attributes
    ----------
    name : {"random features", "ridge"}
        What the regression sees: random Fourier features of the directions of items,
        which is nearly a Gaussian kernel (Rahimi and Recht, "Random Features for
        Large-Scale Kernel Machines", NIPS 2007), or the features themselves, which is
        small and fast, and weaker on texts.
    mean, scale : ndarray of shape (n_features,), dtype float64
        Standardisation of features.
    weights : ndarray of shape (width + 1, n_classes), dtype float64
        The last row are constants.
    """

    name: str
    mean: Matrix
    scale: Matrix
    weights: Matrix

    __repr__ = short_repr

    def __call__(self, X: ArrayLike) -> Matrix:
        """Return the score of each item.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n,), dtype float64

        Raises
        ------
        FeatureError
            When `X` is not a matrix of as many features as were learnt from, or one is
            not finite in float32; names the row.
        """
        X = as_finite(X, len(self.mean))
        *weights, constants = self.weights
        linear, scores = np.asarray(weights), np.empty(len(X))
        for span in spans(len(X), _BLOCK):
            Z = (X[span] - self.mean) / self.scale
            inputs = _inputs(self.name, Z, len(linear))
            scores[span] = (inputs @ linear + constants).max(axis=1)
        return scores


class RejectionThreshold(NamedTuple):
    """A threshold of scores, and what to expect of it.

    Attributes
    ----------
    threshold : float
        Items with a lower score are rejected.
    false_reject_rate : float
        Expected share of known items that are rejected, at most.
    false_accept_rate : float or None
        Expected share of items of a new class that are accepted; None with fewer than
        five known classes, which cannot tell. Often too high where classes are few: it
        is measured with one class left out, and then scores are higher.
    false_accept_interval : tuple of float or None
        95 % confidence interval of that share, over classes: two-sided, or one-sided,
        from 0 to at most the rate that is held, where that is the false-accept rate.
        Never of width 0: a class in n may be accepted without being seen.
    """

    threshold: float
    false_reject_rate: float
    false_accept_rate: float | None
    false_accept_interval: tuple[float, float] | None

    def __repr__(self) -> str:
        return short_repr(self)


@dataclass(frozen=True, eq=False, slots=True)
class Rejection:
    """A score of features, and which share of items any threshold of it rejects.

    Attributes
    ----------
    score : RejectionScore
        High for items of known classes.
    thresholds : ndarray of shape (m,)
        In ascending order.
    false_reject : ndarray of shape (m,)
        Expected share of known items below each threshold, at most.
    false_accept : ndarray of shape (m,)
        Share of the items of a class that reach each threshold when the score is
        learnt without the class: the mean over classes.
    standard_errors : ndarray of shape (m,)
        Of `false_accept`, over classes.
    n_items, n_classes : int
        From which they are estimated; items that are left out together are one.
    """

    score: RejectionScore = field(repr=False)
    thresholds: Matrix = field(repr=False)
    false_reject: Matrix = field(repr=False)
    false_accept: Matrix = field(repr=False)
    standard_errors: Matrix = field(repr=False)
    n_items: int
    n_classes: int

    __repr__ = short_repr

    def threshold(
        self,
        *,
        max_false_reject_rate: float | None = None,
        max_false_accept_rate: float | None = None,
    ) -> RejectionThreshold:
        """Return the threshold that holds one of two rates.

        Parameters
        ----------
        max_false_reject_rate : float, default=None
            Largest share of known items that may be rejected, between 0 and 1. It holds
            for new items of the known classes, in the mean over calibrations.
        max_false_accept_rate : float, default=None
            Largest share of the items of new classes that may be accepted. It holds
            for classes that differ from the known ones as these do from each other;
            by the upper limit of a one-sided 95 % confidence interval over classes,
            which can be as low as .05 from 52 classes on.

        Returns
        -------
        RejectionThreshold

        Raises
        ------
        ArgumentError
            When not just one rate is given, it is out of range, or items or classes are
            too few to hold it.
        """
        if (max_false_reject_rate is None) == (max_false_accept_rate is None):
            raise ArgumentError(
                "give either max_false_reject_rate or max_false_accept_rate"
            )
        if max_false_reject_rate is not None:
            rate = max_false_reject_rate
            check_rate(rate, "max_false_reject_rate")
            place = int(np.searchsorted(self.false_reject, rate, side="right")) - 1
            if place < 0:
                raise ArgumentError(
                    f"max_false_reject_rate={rate:g} needs at least "
                    f"{int(np.ceil(1 / rate)) - 1} known items, but {self.n_items} "
                    "were learnt from, copies counted once"
                )
            return self._at(place)
        assert max_false_accept_rate is not None
        rate = max_false_accept_rate
        check_rate(rate, "max_false_accept_rate")
        needed = max(_FEWEST_CLASSES, fewest_values(rate, _BOTH))
        if self.n_classes < needed:
            raise ArgumentError(
                f"max_false_accept_rate={rate:g} needs at least {needed} known "
                f"classes, but {self.n_classes} were learnt from: hold "
                "max_false_reject_rate instead"
            )
        # Limits that the false-accept rates of a new class stay below with a confidence
        # of 95 %. They are nowhere lower than those that hold in expectation, (n r + 1)
        # / (n + 1) of rates r over n classes (Angelopoulos et al., "Conformal Risk
        # Control", 2024, theorem 1).
        upper = self._limits(_BOTH)[1]
        place = int(np.argmax(upper <= rate))
        if self.false_reject[place] >= 1:
            raise ArgumentError(
                f"max_false_accept_rate={rate:g} would reject all known items: raise "
                "it, or hold max_false_reject_rate instead"
            )
        interval = 0.0, float(upper[place])
        return self._at(place)._replace(false_accept_interval=interval)

    def _limits(self, confidence: float) -> tuple[Matrix, Matrix]:
        rates, errors = self.false_accept, self.standard_errors
        return mean_limits(rates, errors, self.n_classes, confidence)

    def _at(self, place: int) -> RejectionThreshold:
        threshold = float(self.thresholds[place])
        rejected = float(self.false_reject[place])
        if self.n_classes < _FEWEST_CLASSES:
            return RejectionThreshold(threshold, rejected, None, None)
        mean = float(self.false_accept[place])
        low, high = (float(limits[place]) for limits in self._limits(_LEVEL))
        return RejectionThreshold(threshold, rejected, mean, (low, high))


def learn_rejection(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    score: str = SCORES[0],
) -> Rejection:
    """Learn to tell items of known classes from those of new ones.

    The score is linear, so that exact leave-one-out over items and over classes takes
    seconds in all. No item of an unknown class is needed. Features must
    not have been trained on these classes.

    Copies of an item have to be left out with it, or far more known items are rejected
    than promised. Identical rows always are; copies that are not identical, such as
    augmentations of an image or frames of a video, need `groups`.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Of more than 10,000 items some are drawn.
    labels : array-like of shape (n,)
        At least two classes.
    groups : array-like of shape (n,), default=None
        Strings or whole numbers, the same for items that are copies of each other; for
        instance the number of the image, or the name of the video. Groups that hold
        identical rows are one, and each counts as one item. The rate of false
        rejections then holds for items of new groups.
    score : {"random features", "ridge"}, default="random features"
        The largest response of a ridge regression to classes, from random Fourier
        features or from the features themselves.

    Returns
    -------
    Rejection

    Raises
    ------
    FeatureError
        When `X` is not a matrix of numbers that are finite in float32, or all its rows
        are the same.
    ArgumentError
        When lengths differ, a label or group is missing, there is one class only, or no
        such score.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 30, 1500)
    >>> X = np.eye(30)[y] * 5 + rng.normal(size=(1500, 30))
    >>> limit = learn_rejection(X, y).threshold(max_false_reject_rate=0.05)
    >>> limit.false_reject_rate <= 0.05, limit.false_accept_rate < 0.5
    (True, True)
    """
    check_choice(score, "score", SCORES)
    features = as_finite(X)
    names, classes = as_classes(labels, len(features))
    numbers = None if groups is None else as_groups(groups, len(features))
    if len(names) < 2:
        raise ArgumentError(f"rejection needs at least 2 classes, got {len(names)}")
    # Some items at random, and one of each class.
    order = np.random.default_rng(0).permutation(len(classes))
    firsts = np.unique(classes[order], return_index=True)[1]
    rows = np.union1d(order[:_MOST_ITEMS], order[firsts])
    X, classes = features[rows], classes[rows]
    copies = _identical_rows(X)
    if numbers is not None:  # groups that hold the same row are one
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = int(copies.max()) + 1
        ends = copies, n + numbers[rows]
        size = int(ends[1].max()) + 1
        graph = coo_array((np.ones(len(rows), np.int8), ends), shape=(size, size))
        together = connected_components(graph, directed=False)[1][copies]
        copies = np.unique(together, return_inverse=True)[1].astype(np.int64)
    learnt, left_out = learn_score(score, X, classes, copies)
    shares = np.linspace(0, 1, _GRID)
    grid = [np.quantile(values, shares, method="nearest") for values in left_out]
    above = np.nextafter(max(part[-1] for part in grid), np.inf)
    thresholds = np.unique(np.concatenate([*grid, [above]]))
    # How many groups lie below each threshold: of each, the share that does.
    order = np.argsort(left_out.known, kind="stable")
    portions = (1 / np.bincount(copies))[copies[order]]
    total = np.concatenate([[0], np.cumsum(portions)])
    below = total[np.searchsorted(left_out.known[order], thresholds)]
    n_groups = int(copies.max()) + 1
    ends_of_classes = np.cumsum(np.bincount(classes))[:-1]
    by_class = left_out.unknown[np.argsort(classes, kind="stable")]
    accepted = np.stack(
        [
            1 - np.searchsorted(np.sort(scores), thresholds) / len(scores)
            for scores in np.split(by_class, ends_of_classes)
        ]
    )
    return Rejection(
        learnt,
        thresholds,
        (below + 1) / (n_groups + 1),
        accepted.mean(axis=0),
        accepted.std(axis=0, ddof=1) / np.sqrt(len(accepted)),
        n_groups,
        len(accepted),
    )


def _inputs(name: str, Z: Matrix, width: int) -> Matrix:
    """Return what the regression sees of standardised features."""
    if name == "ridge":
        return Z
    d = Z.shape[1]
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    directions = Z / np.where(lengths > 0, lengths, 1)  # of projections N(0, 1)
    phases = (np.arange(width) + 0.5) * (2 * np.pi / width)
    # Signs that the width determines, so that none are stored; the same in all versions
    # of NumPy.
    words = np.random.PCG64(0).random_raw(-(-d * width // 64)).astype("<u8")
    bits = np.unpackbits(words.view(np.uint8), count=d * width)
    signs = 2 * bits.reshape(d, width).astype(np.float64) - 1
    inputs: Matrix = directions @ (_SCALE * signs) + phases
    np.cos(inputs, out=inputs)
    inputs *= np.sqrt(2)
    return inputs


class _LeftOut(NamedTuple):
    """The largest response to each item of models without it, and without its class."""

    known: Matrix
    unknown: Matrix


def learn_score(
    name: str, X: NDArray[Any], classes: IdArray, groups: IdArray
) -> tuple[RejectionScore, _LeftOut]:
    """Return the score, and what it would have been without groups and classes."""
    # The penalty is that which tells items that are left out from those whose class is
    # left out best, by the area under the ROC curve.
    mean, scale = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
    scale[scale <= 1e-6 * (np.abs(mean) + scale.max(initial=0))] = 1
    same = _identical_rows(X)
    if not same.any():
        raise FeatureError("every row of X is the same: there is nothing to learn")
    n = int(same.max()) + 1
    width = X.shape[1] if name == "ridge" else min(_MOST_WIDE, max(1, n // 2))
    inputs = _inputs(name, (X - mean) / scale, width)
    best, weights, left_out = -1.0, np.empty(0), None
    for penalty in _PENALTIES:
        learnt, responses = _ridge(inputs, classes, groups, penalty)
        order = np.sort(responses.unknown)
        below = np.searchsorted(order, responses.known, side="left")
        not_above = np.searchsorted(order, responses.known, side="right")
        area = float((below + not_above).mean() / (2 * len(order)))
        if area > best:
            best, weights, left_out = area, learnt, responses
    assert left_out is not None
    # Single precision, as it is stored, so that it decides the same once loaded.
    parts = (mean, scale, weights)
    rounded = (part.astype(np.float32).astype(np.float64) for part in parts)
    return RejectionScore(name, *rounded), left_out


def _identical_rows(X: Any) -> IdArray:
    """Return the number of the group of each row: equal ones, in float32, share it."""
    rows = np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)  # -0 equals 0
    groups: dict[bytes, int] = {}
    numbers = [groups.setdefault(row.tobytes(), len(groups)) for row in rows]
    return np.array(numbers, np.int64)


def _ridge(
    X: Matrix, classes: IdArray, groups: IdArray, penalty: float
) -> tuple[Matrix, _LeftOut]:
    """Regress indicators of classes on features of unit variance; classes weigh alike.

    What items and their classes are left out of is exact, without learning again: by
    the Sherman-Morrison and the Woodbury identity. The items of a class have targets of
    0 in all other columns, so that without them only the inverse changes there.
    """
    sizes = np.bincount(classes)
    roots = np.sqrt(1 / sizes[classes])[:, None]
    A = np.column_stack([X, np.ones(len(X))]) * roots
    gram = A.T @ A
    gram[np.diag_indices_from(gram)] += penalty * len(sizes)
    inverse = np.linalg.inv(gram)
    sums = np.zeros((len(sizes), len(gram)))
    np.add.at(sums, classes, A * roots)
    weights = inverse @ sums.T
    responses = A @ weights

    def left(rows: IdArray) -> Matrix:
        """Return what solves for the inverse without some rows."""
        B = A[rows]
        return np.asarray(np.eye(B.shape[1]) - inverse @ (B.T @ B))

    unknown = np.empty(len(responses))
    for c in range(weights.shape[1]):
        members = np.flatnonzero(classes == c)
        others = np.delete(responses[members], c, axis=1)
        if len(members) <= A.shape[1]:
            among = A[members] @ inverse @ A[members].T
            without = np.linalg.solve(np.eye(len(members)) - among, others)
        else:
            remaining = np.delete(weights, c, axis=1)
            without = A[members] @ np.linalg.solve(left(members), remaining)
        unknown[members] = without.max(axis=1)
    projected = A @ inverse
    leverage = np.einsum("ij,ij->i", projected, A)
    by_group = np.split(
        np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]
    )
    together = []
    for rows in by_group:
        if len(rows) == 1:
            continue
        targets = np.zeros((len(rows), responses.shape[1]))
        targets[np.arange(len(rows)), classes[rows]] = roots[rows, 0]
        if len(rows) <= A.shape[1]:
            among = projected[rows] @ A[rows].T
            rest = responses[rows] - among @ targets
            without = np.linalg.solve(np.eye(len(rows)) - among, rest)
        else:
            remaining = weights - inverse @ (A[rows].T @ targets)
            without = A[rows] @ np.linalg.solve(left(rows), remaining)
        together.append((rows, without.max(axis=1)))
    responses[np.arange(len(A)), classes] -= leverage * roots[:, 0]
    of_classes = responses.max(axis=1) / np.maximum(1 - leverage, _LEAST)
    for rows, largest in together:
        of_classes[rows] = largest
    return weights, _LeftOut(of_classes / roots[:, 0], unknown / roots[:, 0])


_OF_SCORE = ("mean", "scale", "weights")
_CURVES = ("thresholds", "false_reject", "false_accept", "standard_errors")
_COUNTS = ("n_items", "n_classes")


def rejection_bytes(rejection: Rejection) -> bytes:
    """Return the content of a file that `load_rejection` reads, in single precision."""
    score = rejection.score
    tensors: Tensors = {
        **{name: getattr(score, name).astype(np.float32) for name in _OF_SCORE},
        **{name: getattr(rejection, name) for name in _CURVES},
        "counts": np.array([getattr(rejection, name) for name in _COUNTS], np.int64),
    }
    fingerprint = checksum(score.name, tensors)
    metadata = {"format": _FORMAT, "score": score.name, "fingerprint": fingerprint}
    return tensor_bytes(tensors, metadata)


def load_rejection(path: str | Path) -> Rejection:
    """Read a rejection, and check it against its fingerprint."""
    metadata, tensors = read_tensors(path, "rejection", _FORMAT)
    name = metadata.get("score", "")
    if name not in SCORES or checksum(name, tensors) != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    parts = (tensors[part].astype(np.float64) for part in _OF_SCORE)
    score = RejectionScore(name, *parts)
    n_items, n_classes = tensors["counts"].tolist()
    curves = {name: tensors[name] for name in _CURVES}
    return Rejection(score, n_items=n_items, n_classes=n_classes, **curves)
