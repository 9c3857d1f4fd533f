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
        Of a model that is learnt without the item and its copies.
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

    def left_out(self, groups: IdArray) -> LeftOut:
        """Return the largest responses to items, leaving out each and its class.

        Both are exact, without learning again: by the Sherman-Morrison and the Woodbury
        identity. The items of a class have targets of 0 in all other columns, so that
        without them only the inverse changes there. Items of one group are left out
        together.
        """
        responses = self.A @ self.weights
        unknown = np.empty(len(responses))
        for c in range(self.weights.shape[1]):
            own = np.flatnonzero(self.classes == c)
            others = np.delete(responses[own], c, axis=1)
            unknown[own] = self._without(own, others, c).max(axis=1)
        known = self._without_groups(responses, groups)
        return LeftOut(known / self.roots[:, 0], unknown / self.roots[:, 0])

    def _without_groups(self, responses: Matrix, groups: IdArray) -> Matrix:
        """Return the largest response to each item, learnt without its group."""
        seen = self.A @ self.inverse
        sizes = np.bincount(groups)
        by_group = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
        together = [
            (own, self._without_group(own, responses[own], seen[own]).max(axis=1))
            for own in by_group
            if len(own) > 1
        ]
        leverage = np.einsum("ij,ij->i", seen, self.A)
        rows = np.arange(len(responses))
        responses[rows, self.classes] -= leverage * self.roots[:, 0]
        known: Matrix = responses.max(axis=1) / np.maximum(1 - leverage, _LEAST)
        for own, found in together:
            known[own] = found
        return known

    def _without_group(
        self, own: IdArray, responses: Matrix, seen: Matrix
    ) -> NDArray[Any]:
        """Return responses to these items, learnt without them, whatever class."""
        A = self.A[own]
        targets = np.zeros_like(responses)
        targets[np.arange(len(own)), self.classes[own]] = self.roots[own, 0]
        if len(own) <= A.shape[1]:
            among = seen @ A.T
            rest = responses - among @ targets
            return np.linalg.solve(np.eye(len(own)) - among, rest)
        left = np.eye(A.shape[1]) - self.inverse @ (A.T @ A)
        weights = self.weights - self.inverse @ (A.T @ targets)
        return A @ np.linalg.solve(left, weights)

    def _without(self, own: IdArray, responses: Matrix, c: int) -> NDArray[Any]:
        """Return what other classes respond to items of class c, learnt without it."""
        A = self.A[own]
        if len(own) <= A.shape[1]:
            among = A @ self.inverse @ A.T
            return np.linalg.solve(np.eye(len(own)) - among, responses)
        left = np.eye(A.shape[1]) - self.inverse @ (A.T @ A)
        return A @ np.linalg.solve(left, np.delete(self.weights, c, axis=1))
