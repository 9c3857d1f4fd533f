"""Choice of the supervision that serves known classes and those held out best."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from fewbits._repr import one_line
from fewbits._typing import Array
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners._core._iterative import interrupts_passed_on
from fewbits.learners._core._labels import one_class_each
from fewbits.learners._core._parameters import check_number
from fewbits.learners._core._progress import as_parts
from fewbits.learners._core._shared_steps import shared_steps

IntArray = NDArray[np.int64]

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
_TOLD_ONCE = ("constant on", "has learnt hardly anything")


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
        return one_line(self)


class _Fold(NamedTuple):
    learn: IntArray
    asked: tuple[IntArray, IntArray]  # of classes that are learnt from, and new ones
    base: IntArray  # of both


def check_supervision(supervision: Any) -> None:
    """Refuse what is neither a share nor "validated"."""
    if isinstance(supervision, str):
        if supervision == "validated":
            return
        raise ArgumentError(
            "supervision must be a number from 0 to 1, or 'validated', got "
            f"{supervision!r}"
        )
    check_number("supervision", supervision, 0, 1)


def supervision_of(
    learner: Any, X: Array, y: Any
) -> tuple[float, SupervisionScores | None]:
    """Return the share that a learner is told, or the best, and what decided on it."""
    if learner.supervision != "validated":
        return float(learner.supervision), None
    _, numbers = one_class_each(y, X, "supervision='validated'")
    return best_supervision(learner, X, numbers)


def best_supervision(
    learner: Any, X: Array, y: IntArray
) -> tuple[float, SupervisionScores]:
    """Return the share that ranks known and new classes best, and what decided on it.

    The best harmonic mean of both mean average precisions, the measure of generalised
    zero-shot learning.

    Parameters
    ----------
    learner : SupervisedITQ or DeepSupervisedITQ
        Not fitted; clones of it are.
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,), dtype int64
        Numbers of classes.
    """
    rng = check_random_state(learner.random_state)
    rows = np.sort(rng.permutation(len(y))[:_ROWS])
    large = np.flatnonzero(np.bincount(y[rows]) >= _LEAST_ROWS)
    if len(large) < _FOLDS:
        raise ArgumentError(
            f"supervision='validated' holds classes out: it needs {_FOLDS} of at least "
            f"{_LEAST_ROWS} rows, got {len(large)}"
        )
    rows = rows[np.isin(y[rows], large)]
    folds = _folds(y, rng.permutation(rows), rng.permutation(large))
    found: list[NDArray[np.float64]] = []  # of each fit

    def n_fits() -> int:
        return len(found)

    # The shares of a fold have the same principal axes, and network.
    with as_parts(n_fits, _FOLDS * len(SHARES)), shared_steps(), interrupts_passed_on():
        for fold in folds:
            found += (_precisions(learner, share, X, y, fold) for share in SHARES)
    precisions = _by_share(found)
    known, new = np.nanmean(precisions, axis=2).T
    best = int(np.argmax(2 * known * new / np.maximum(known + new, _LEAST)))
    return SHARES[best], SupervisionScores(np.array(SHARES), known, new)


def _folds(y: IntArray, rows: IntArray, classes: IntArray) -> Iterator[_Fold]:
    """Yield a fold for each part of the classes."""
    place = np.empty(len(rows), np.int64)  # of a row in its class
    for c in classes:
        members = y[rows] == c
        place[members] = np.arange(members.sum())
    for fold in range(_FOLDS):
        new = np.isin(y[rows], classes[fold::_FOLDS])
        known = ~new & (place % _FOLDS == fold)
        asks = np.where(new, place, place // _FOLDS) % 2 == 0
        yield _Fold(
            np.sort(rows[~new & ~known]),
            (rows[known & asks][:_QUERIES], rows[new & asks][:_QUERIES]),
            rows[(known | new) & ~asks],
        )


def _child(learner: Any, share: float) -> Any:
    child = clone(learner)
    if hasattr(child, "checkpoint"):
        child.set_params(checkpoint=None)
    n_iter = min(learner.n_iter, _ITERATIONS)
    return child.set_params(supervision=share, n_iter=n_iter, verbose=False)


def _precisions(
    learner: Any, share: float, X: Array, y: IntArray, fold: _Fold
) -> NDArray[np.float64]:
    """Return average precisions, shape (2, n_queries), padded with NaN."""
    found = np.full((2, max(map(len, fold.asked))), np.nan)
    child = _child(learner, share)
    with warnings.catch_warnings():
        for told in _TOLD_ONCE:
            warnings.filterwarnings("ignore", f".*{told}")
        encoder = child.fit(X[fold.learn], y[fold.learn]).encoder_
    base = encoder.encode(X[fold.base])
    for row, asked in zip(found, fold.asked, strict=True):
        relevance = same_label(y[asked], y[fold.base])
        score = mean_average_precision(encoder.encode(X[asked]), base, relevance)
        row[: len(asked)] = score.per_query
    return found


def _by_share(found: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return average precisions of all folds, shape (n_shares, 2, n_queries)."""
    n = len(SHARES)
    folds = (found[i : i + n] for i in range(0, len(found), n))
    return np.concatenate([np.stack(fold) for fold in folds], axis=2)
