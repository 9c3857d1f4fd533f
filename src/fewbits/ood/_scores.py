"""Scores that are high for items of known classes, learnt in seconds from features."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._features import as_finite
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import FeatureError
from fewbits.ood._copies import identical_rows
from fewbits.ood._ridge import LeftOut, Matrix, Ridge

_PENALTIES = (1e-2, 1e-1, 1.0)
_MOST_WIDE, _SCALE = 2048, 0.7
_BLOCK = 4096  # items at a time


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
        seen = cls.expand((X - mean) / scale, width)
        best, weights, left_out = -1.0, np.empty(0), None
        for penalty in _PENALTIES:
            ridge = Ridge.fit(seen, classes, penalty)
            found = ridge.left_out(groups)
            area = _auroc(*found)
            if area > best:
                best, weights, left_out = area, ridge.weights, found
        assert left_out is not None
        # Single precision, as it is stored, so that it decides the same once loaded.
        rounded = (each.astype(np.float32) for each in (mean, scale, weights))
        return cls(*(each.astype(np.float64) for each in rounded)), left_out

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
            seen = self.expand(Z, len(linear))
            scores[span] = (seen @ linear + constants).max(axis=1)
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
        seen: Matrix = directions @ (_SCALE * _signs(d, width)) + phases
        np.cos(seen, out=seen)
        seen *= np.sqrt(2)
        return seen


def _signs(n_rows: int, n_columns: int) -> Matrix:
    """Return -1 and 1 that are the same in all versions of NumPy."""
    n_words = -(-n_rows * n_columns // 64)
    words = np.random.PCG64(0).random_raw(n_words).astype("<u8")
    bits = np.unpackbits(words.view(np.uint8), count=n_rows * n_columns)
    return 2 * bits.reshape(n_rows, n_columns).astype(np.float64) - 1


def _auroc(known: Matrix, unknown: Matrix) -> float:
    order = np.sort(unknown)
    below = np.searchsorted(order, known) + np.searchsorted(order, known, "right")
    return float(below.mean() / (2 * len(order)))


#: Scores by name; the first is the default.
SCORES: dict[str, type[RejectionScore]] = {
    each.name: each for each in (RandomFeaturesScore, RidgeScore)
}
