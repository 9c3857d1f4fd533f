"""Ridge regression to classes, and its answers without an item or without a class."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray

Matrix = NDArray[np.float64]

_LEAST = 1e-9  # of 1 - leverage


class LeftOut(NamedTuple):
    """The largest response to each item that a model is learnt from.

    Attributes
    ----------
    known : ndarray of shape (n,)
        Of a model that is learnt without the item.
    unknown : ndarray of shape (n,)
        Of a model that is learnt without the item's class.
    """

    known: Matrix
    unknown: Matrix


@dataclass(frozen=True, eq=False, slots=True)
class Ridge:
    """Ridge regression from features to indicators of classes.

    Classes weigh the same, whatever their sizes.

    Attributes
    ----------
    A : ndarray of shape (n, n_features + 1)
        Features and a constant, times the square root of each item's weight.
    roots : ndarray of shape (n, 1)
        These square roots.
    classes : ndarray of shape (n,)
    inverse : ndarray of shape (n_features + 1, n_features + 1)
        Of the penalised Gram matrix.
    weights : ndarray of shape (n_features + 1, n_classes)
    """

    A: Matrix
    roots: Matrix
    classes: IdArray
    inverse: Matrix
    weights: Matrix

    @classmethod
    def fit(cls, X: Matrix, classes: IdArray, penalty: float) -> "Ridge":
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

    def left_out(self) -> LeftOut:
        """Return the largest responses to items, leaving out each and its class.

        Both are exact, without learning again: by the Sherman-Morrison and the Woodbury
        identity. The items of a class have targets of 0 in all other columns, so that
        without them only the inverse changes there.
        """
        responses = self.A @ self.weights
        leverage = np.einsum("ij,ij->i", self.A @ self.inverse, self.A)
        rows = np.arange(len(responses))
        unknown = np.empty(len(responses))
        for c in range(self.weights.shape[1]):
            own = np.flatnonzero(self.classes == c)
            others = np.delete(responses[own], c, axis=1)
            unknown[own] = self._without(own, others, c).max(axis=1)
        responses[rows, self.classes] -= leverage * self.roots[:, 0]
        known = responses.max(axis=1) / np.maximum(1 - leverage, _LEAST)
        return LeftOut(known / self.roots[:, 0], unknown / self.roots[:, 0])

    def _without(self, own: IdArray, responses: Matrix, c: int) -> NDArray[Any]:
        """Return what other classes respond to items of class c, learnt without it."""
        A = self.A[own]
        if len(own) <= A.shape[1]:
            among = A @ self.inverse @ A.T
            return np.linalg.solve(np.eye(len(own)) - among, responses)
        left = np.eye(A.shape[1]) - self.inverse @ (A.T @ A)
        return A @ np.linalg.solve(left, np.delete(self.weights, c, axis=1))
