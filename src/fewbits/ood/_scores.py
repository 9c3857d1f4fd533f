"""Scores that are high for items of known classes, learnt in seconds from features."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._features import as_finite
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import FeatureError

Matrix = NDArray[np.float64]

_PENALTIES = (1e-2, 1e-1, 1.0)
_MOST_WIDE, _SCALE = 2048, 0.7
_BLOCK = 4096  # items at a time
_LEAST = 1e-9  # of 1 - leverage


class LeftOut(NamedTuple):
    """The largest response to each item that a model is learnt from.

    Attributes
    ----------
    known : ndarray of shape (n,)
        Of a model that is learnt without the item and its copies.
    unknown : ndarray of shape (n,)
        Of a model that is learnt without the item's class.
    """

    known: Matrix
    unknown: Matrix


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class RejectionScore(ABC):
    """Largest response of a ridge regression to the indicators of classes.

    Subclasses say what the regression sees.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,), dtype float64
        Standardisation of features.
    weights : ndarray of shape (width + 1, n_classes), dtype float64
        The last row are constants.
    """

    name: ClassVar[str]

    mean: Matrix
    scale: Matrix
    weights: Matrix

    def __repr__(self) -> str:
        return one_line(self)

    @staticmethod
    @abstractmethod
    def width(n: int, n_features: int) -> int:
        """Return how many numbers the regression sees of each of `n` unlike items."""

    @staticmethod
    @abstractmethod
    def expand(Z: Matrix, width: int) -> Matrix:
        """Return what it sees of standardised features."""

    @classmethod
    @final
    def learn(
        cls, X: NDArray[Any], classes: IdArray, groups: IdArray | None = None
    ) -> tuple["RejectionScore", LeftOut]:
        """Return the score, and what it would have been without items and classes.

        Items of a group are left out together; without groups, identical ones are.
        The penalty is that which tells items that are left out from those whose class
        is left out best, by the area under the ROC curve.
        """
        mean, scale = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
        scale[scale <= 1e-6 * (np.abs(mean) + scale.max(initial=0))] = 1
        same = identical_rows(X)
        if not same.any():
            raise FeatureError("every row of X is the same: there is nothing to learn")
        groups = same if groups is None else groups
        width = cls.width(int(same.max()) + 1, X.shape[1])
        inputs = cls.expand((X - mean) / scale, width)
        best, weights, left_out = -1.0, np.empty(0), None
        for penalty in _PENALTIES:
            ridge = _Ridge.fit(inputs, classes, penalty)
            responses = ridge.left_out(groups)
            order = np.sort(responses.unknown)
            below = np.searchsorted(order, responses.known, side="left")
            not_above = np.searchsorted(order, responses.known, side="right")
            area = float((below + not_above).mean() / (2 * len(order)))
            if area > best:
                best, weights, left_out = area, ridge.weights, responses
        assert left_out is not None
        # Single precision, as it is stored, so that it decides the same once loaded.
        parts = (mean, scale, weights)
        rounded = (part.astype(np.float32).astype(np.float64) for part in parts)
        return cls(*rounded), left_out

    @final
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
            inputs = self.expand(Z, len(linear))
            scores[span] = (inputs @ linear + constants).max(axis=1)
        return scores


@final
class RidgeScore(RejectionScore):
    """Of the features themselves: small and fast, and weaker on texts."""

    name = "ridge"

    @staticmethod
    def width(n: int, n_features: int) -> int:
        return n_features

    @staticmethod
    def expand(Z: Matrix, width: int) -> Matrix:
        return Z


@final
class RandomFeaturesScore(RejectionScore):
    """Of random Fourier features of their directions: nearly a Gaussian kernel.

    The projections are of signs that the width determines, so that none are stored.

    References
    ----------
    Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
    """

    name = "random features"

    @staticmethod
    def width(n: int, n_features: int) -> int:
        return min(_MOST_WIDE, max(1, n // 2))

    @staticmethod
    def expand(Z: Matrix, width: int) -> Matrix:
        d = Z.shape[1]
        lengths = np.linalg.norm(Z, axis=1, keepdims=True)
        directions = Z / np.where(lengths > 0, lengths, 1)  # of projections N(0, 1)
        phases = (np.arange(width) + 0.5) * (2 * np.pi / width)
        # Signs that are the same in all versions of NumPy.
        words = np.random.PCG64(0).random_raw(-(-d * width // 64)).astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), count=d * width)
        signs = 2 * bits.reshape(d, width).astype(np.float64) - 1
        seen: Matrix = directions @ (_SCALE * signs) + phases
        np.cos(seen, out=seen)
        seen *= np.sqrt(2)
        return seen


#: Scores by name; the first is the default.
SCORES: dict[str, type[RejectionScore]] = {
    score.name: score for score in (RandomFeaturesScore, RidgeScore)
}


def identical_rows(X: Any) -> IdArray:
    """Return the number of the group of each row: equal ones, in float32, share it.

    Groups are numbered in the order of their first rows.
    """
    rows = np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)  # -0 equals 0
    groups: dict[bytes, int] = {}
    numbers = [groups.setdefault(row.tobytes(), len(groups)) for row in rows]
    return np.array(numbers, np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class _Ridge:
    """Ridge regression from features to indicators of classes.

    Classes weigh the same, whatever their sizes.
    """

    A: Matrix  # features and a constant, times the root of each item's weight
    roots: Matrix  # these square roots, (n, 1)
    classes: IdArray
    inverse: Matrix  # of the penalised Gram matrix
    weights: Matrix

    @classmethod
    def fit(cls, X: Matrix, classes: IdArray, penalty: float) -> "_Ridge":
        """Learn from features of unit variance; the penalty is a share of that."""
        sizes = np.bincount(classes)
        roots = np.sqrt(1 / sizes[classes])[:, None]
        A = np.column_stack([X, np.ones(len(X))]) * roots
        gram = A.T @ A
        gram[np.diag_indices_from(gram)] += penalty * len(sizes)
        inverse = np.linalg.inv(gram)
        sums = np.zeros((len(sizes), len(gram)))
        np.add.at(sums, classes, A * roots)
        return cls(A, roots, classes, inverse, inverse @ sums.T)

    def left_out(self, groups: IdArray) -> LeftOut:
        """Return the largest responses to items, leaving out each and its class.

        Both are exact, without learning again: by the Sherman-Morrison and the Woodbury
        identity. The items of a class have targets of 0 in all other columns, so that
        without them only the inverse changes there. Items of one group are left out
        together.
        """
        A, classes = self.A, self.classes
        responses = A @ self.weights
        unknown = np.empty(len(responses))
        for c in range(self.weights.shape[1]):
            members = np.flatnonzero(classes == c)
            others = np.delete(responses[members], c, axis=1)
            if len(members) <= A.shape[1]:
                among = A[members] @ self.inverse @ A[members].T
                without = np.linalg.solve(np.eye(len(members)) - among, others)
            else:
                weights = np.delete(self.weights, c, axis=1)
                without = A[members] @ np.linalg.solve(self._left(members), weights)
            unknown[members] = without.max(axis=1)
        projected = A @ self.inverse
        leverage = np.einsum("ij,ij->i", projected, A)
        by_group = np.split(
            np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]
        )
        together = []
        for rows in by_group:
            if len(rows) == 1:
                continue
            targets = np.zeros((len(rows), responses.shape[1]))
            targets[np.arange(len(rows)), classes[rows]] = self.roots[rows, 0]
            if len(rows) <= A.shape[1]:
                among = projected[rows] @ A[rows].T
                rest = responses[rows] - among @ targets
                without = np.linalg.solve(np.eye(len(rows)) - among, rest)
            else:
                weights = self.weights - self.inverse @ (A[rows].T @ targets)
                without = A[rows] @ np.linalg.solve(self._left(rows), weights)
            together.append((rows, without.max(axis=1)))
        responses[np.arange(len(A)), classes] -= leverage * self.roots[:, 0]
        known = responses.max(axis=1) / np.maximum(1 - leverage, _LEAST)
        for rows, largest in together:
            known[rows] = largest
        return LeftOut(known / self.roots[:, 0], unknown / self.roots[:, 0])

    def _left(self, rows: IdArray) -> Matrix:
        """Return what solves for the inverse without some rows."""
        A = self.A[rows]
        left: Matrix = np.eye(A.shape[1]) - self.inverse @ (A.T @ A)
        return left
