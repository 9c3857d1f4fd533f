"""Scores that are high for items of known classes, learnt in seconds from features."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._features import as_finite
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import FeatureError

Matrix = NDArray[np.float64]

#: Scores by name; the first is the default.
SCORES = ("random features", "ridge")
_PENALTIES = (1e-2, 1e-1, 1.0)
_MOST_WIDE, _SCALE = 2048, 0.7
_BLOCK = 4096  # items at a time
_LEAST = 1e-9  # of 1 - leverage


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

    __repr__ = one_line

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


class LeftOut(NamedTuple):
    """The largest response to each item of models without it, and without its class."""

    known: Matrix
    unknown: Matrix


def learn_score(
    name: str, X: NDArray[Any], classes: IdArray, groups: IdArray
) -> tuple[RejectionScore, LeftOut]:
    """Return the score, and what it would have been without items and classes.

    Items of a group are left out together. The penalty is that which tells items that
    are left out from those whose class is left out best, by the area under the ROC
    curve.
    """
    mean, scale = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
    scale[scale <= 1e-6 * (np.abs(mean) + scale.max(initial=0))] = 1
    same = identical_rows(X)
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


def identical_rows(X: Any) -> IdArray:
    """Return the number of the group of each row: equal ones, in float32, share it."""
    rows = np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)  # -0 equals 0
    groups: dict[bytes, int] = {}
    numbers = [groups.setdefault(row.tobytes(), len(groups)) for row in rows]
    return np.array(numbers, np.int64)


def _ridge(
    X: Matrix, classes: IdArray, groups: IdArray, penalty: float
) -> tuple[Matrix, LeftOut]:
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
    return weights, LeftOut(of_classes / roots[:, 0], unknown / roots[:, 0])
