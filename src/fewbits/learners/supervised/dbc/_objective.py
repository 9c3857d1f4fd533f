"""Eq. (1) of discriminative binary codes, in O(N k) counts instead of pairs.

Hamming distance adds over bits, so every term does; all functions return one number for
each bit. Rows come sorted by class, which makes a class a slice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labels = NDArray[np.bool_]  # (n, n_bits): L of the paper, True for +1

#: What `Objective.terms` returns.
TERMS = (
    "intra",
    "inter",
    "regulariser",
    "slack",
    "intra_predicted",
    "inter_predicted",
)


@dataclass(frozen=True)
class Categories:
    """Number of rows of each class, in the order of the rows.

    With `even`, the rows of small classes weigh more in the pairs, so that all classes
    have the same mass; otherwise each row has a mass of 1.
    """

    sizes: IntArray
    even: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def row_masses(self) -> NDArray[Any]:
        """The mass of a row of each class; over all rows they are 1 in the mean."""
        if not self.even:
            return np.ones_like(self.sizes)
        return self.n_rows / (len(self.sizes) * self.sizes)

    @property
    def starts(self) -> IntArray:
        starts: IntArray = np.cumsum(self.sizes) - self.sizes
        return starts

    @property
    def slices(self) -> list[slice]:
        pairs = zip(self.starts.tolist(), self.sizes.tolist(), strict=True)
        return [slice(start, start + size) for start, size in pairs]

    def sums(self, values: NDArray[Any], dtype: Any = np.float64) -> NDArray[Any]:
        """Add the rows of each class; shape (n_classes, n_bits)."""
        totals: NDArray[Any] = np.add.reduceat(values, self.starts, axis=0, dtype=dtype)
        return totals

    def counts(self, labels: Labels) -> IntArray:
        """Return the number of ones for each class and bit."""
        return self.sums(labels, np.int64)


def pair_counts(
    ones: IntArray, categories: Categories
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the pairs of rows that differ, within classes and between them.

    A class with n1 ones and n0 zeros has n0 n1 such pairs; of all N0 N1 such pairs the
    others are between classes. The paper's sums see every pair twice, and halve that.
    A pair counts as much as the product of the masses of its rows.

    Parameters
    ----------
    ones : ndarray of shape (n_classes, n_bits), dtype int64
    categories : Categories

    Returns
    -------
    intra, inter : ndarrays of shape (n_bits,)
        Of whole numbers unless the classes are `even`.
    """
    mass = categories.row_masses[:, None]
    zeros = categories.sizes[:, None] - ones
    intra: NDArray[Any] = (mass * ones * (mass * zeros)).sum(axis=0)
    N1, N0 = (mass * ones).sum(axis=0), (mass * zeros).sum(axis=0)
    return intra, N1 * N0 - intra


def hinge(scores: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the squared slack of each row if its label were 1, and if it were 0."""
    return np.maximum(0, 1 - scores) ** 2, np.maximum(0, 1 + scores) ** 2


@dataclass(frozen=True)
class Objective:
    """Eq. (1) for one bit, its sums brought to the scale of 1.

    ``intra - lambda2 (inter - 1) + gamma |w|^2 + lambda1 slack``, where intra counts
    pairs in units of their largest possible number, the sum of ``N_c^2 / 4``, inter in
    units of ``N^2 / 4``, and slack is a weighted mean over the rows. It is never
    negative. Where classes are `even`, ``N_c`` are their masses.
    """

    categories: Categories
    gamma: float
    lambda1: float
    lambda2: float
    balanced: bool

    @property
    def most_intra(self) -> float:
        masses = self.categories.row_masses * self.categories.sizes
        return float((masses.astype(float) ** 2).sum() / 4)

    @property
    def most_inter(self) -> float:
        return self.categories.n_rows**2 / 4

    def pairs(self, intra: NDArray[Any], inter: NDArray[Any]) -> Float64Array:
        """Return what two numbers of pairs cost."""
        cost: Float64Array = intra / self.most_intra + self.lambda2 * (
            1 - inter / self.most_inter
        )
        return cost

    def row_weight(self, n_alike: NDArray[Any]) -> Float64Array:
        """Return the share of one row in the slack, given how many have its label."""
        n = 2 * np.maximum(n_alike, 1) if self.balanced else self.categories.n_rows
        weight: Float64Array = 1 / np.broadcast_to(n, np.shape(n_alike))
        return weight

    def slack(
        self, loss1: Float64Array, loss0: Float64Array, N1: NDArray[Any]
    ) -> Float64Array:
        """Return the weighted mean of the slack, from its sums over ones and zeros."""
        N0 = self.categories.n_rows - N1
        slack: Float64Array = self.row_weight(N1) * loss1 + self.row_weight(N0) * loss0
        return slack

    def terms(
        self, labels: Labels, scores: Float64Array, norms: Float64Array
    ) -> dict[str, Float64Array]:
        """Return the terms of each bit, without their weights.

        Parameters
        ----------
        labels : ndarray of shape (n, n_bits), dtype bool
        scores : ndarray of shape (n, n_bits)
        norms : ndarray of shape (n_bits,)
            Squared norms of the hyperplanes.
        """
        intra, inter = self._pair_terms(labels)
        predicted = self._pair_terms(scores > 0)
        if_one, if_zero = hinge(scores)
        loss1 = np.where(labels, if_one, 0).sum(axis=0)
        loss0 = np.where(labels, 0, if_zero).sum(axis=0)
        slack = self.slack(loss1, loss0, labels.sum(axis=0))
        return dict(zip(TERMS, (intra, inter, norms, slack, *predicted), strict=True))

    def value(self, terms: dict[str, Float64Array]) -> Float64Array:
        """Add the terms of each bit up."""
        pairs = terms["intra"] + self.lambda2 * (1 - terms["inter"])
        return pairs + self.gamma * terms["regulariser"] + self.lambda1 * terms["slack"]

    def _pair_terms(self, labels: Labels) -> tuple[Float64Array, Float64Array]:
        categories = self.categories
        intra, inter = pair_counts(categories.counts(labels), categories)
        return intra / self.most_intra, inter / self.most_inter
