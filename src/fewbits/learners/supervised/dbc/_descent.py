"""The discrete step of discriminative binary codes: labels for fixed hyperplanes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.learners._core._rows import line_spans
from fewbits.learners.supervised.dbc._objective import (
    Float64Array,
    Labels,
    Objective,
    hinge,
)

#: As many as the released code does; fewer when nothing moves any more.
_SWEEPS = 10


def improve(
    labels: Labels, scores: Float64Array, objective: Objective, *, by_image: bool
) -> Labels:
    """Lower eq. (1) over the labels, for fixed hyperplanes; it cannot rise.

    One class after the other gets the best labels that it can have while the others
    keep theirs. Bits do not interact.

    Parameters
    ----------
    labels : ndarray of shape (n, n_bits), dtype bool
        Where to start; both values in every column, and so in what is returned.
    scores : ndarray of shape (n, n_bits)
    objective : Objective
    by_image : bool
        Whether rows of one class may differ. If not, those of `labels` must not.
    """
    improved = np.empty_like(labels)
    for bits in line_spans(labels.shape[1], len(labels), least=1):
        descent = _Descent(labels[:, bits], scores[:, bits], objective, by_image)
        improved[:, bits] = descent.run()
    return improved


class _Descent:
    """Coordinate descent over the (class, bit) cells, all bits at once.

    The n1 ones of a cell belong to the rows with the n1 largest scores, however much
    ones and zeros weigh: the slack of a 1 falls with the score, that of a 0 rises. So
    the m + 1 values of n1 lead to the best of all 2^m labellings of m rows. Codes by
    category have the first and the last of them only.

    Each labelling is known by five sums: ones, their mass, pairs that differ, slack of
    ones and of zeros. `tables` holds them for the candidates of each class, `now` for
    its labels, and `total` for all classes.
    """

    def __init__(
        self, labels: Labels, scores: Float64Array, objective: Objective, by_image: bool
    ) -> None:
        self.labels, self.objective = labels, objective
        if_one, if_zero = hinge(scores)
        self.orders, self.tables, now = [], [], []
        categories = objective.categories
        for rows, mass in zip(categories.slices, categories.row_masses, strict=True):
            order = np.argsort(-scores[rows], axis=0, kind="stable")
            table = _candidates(order, if_one[rows], if_zero[rows], mass)
            self.orders.append(order)
            self.tables.append(table if by_image else table[:, [0, -1]])
            now.append(_sums(labels[rows], if_one[rows], if_zero[rows], mass))
        self.now = np.stack(now, axis=1)
        self.total = self.now.sum(axis=1)

    def run(self) -> Labels:
        moved = np.zeros(self.now.shape[1:], bool)
        for _ in range(_SWEEPS):
            moves = np.array([self._settle(c) for c in range(len(moved))])
            moved |= moves
            if not moves.any():
                break
        return self._relabel(moved)

    def _settle(self, c: int) -> NDArray[np.bool_]:
        """Give class `c` its best target bits; return the bits that changed."""
        table, others = self.tables[c], self.total - self.now[:, c]
        costs = self._costs(others[:, None] + table)
        best, bits = costs.argmin(axis=0), np.arange(costs.shape[1])
        better: NDArray[np.bool_] = costs[best, bits] < self._costs(
            others + self.now[:, c]
        )
        self.now[:, c, better] = table[:, best[better], bits[better]]
        self.total = others + self.now[:, c]
        return better

    def _costs(self, sums: Float64Array) -> Float64Array:
        """Return what of eq. (1) depends on labels; infinite for a constant bit."""
        N1, mass, intra, loss1, loss0 = sums
        n = self.objective.categories.n_rows  # and the mass of all rows
        N0 = n - N1
        pairs = self.objective.pairs(intra, mass * (n - mass) - intra)
        slack = self.objective.slack(loss1, loss0, N1)
        costs = pairs + self.objective.lambda1 * slack
        return np.where((N1 > 0) & (N0 > 0), costs, np.inf)

    def _relabel(self, moved: NDArray[np.bool_]) -> Labels:
        labels = self.labels.copy()
        for c, rows in enumerate(self.objective.categories.slices):
            leading = np.arange(len(labels[rows]))[:, None] < self.now[0, c]
            best = np.empty_like(leading)
            np.put_along_axis(best, self.orders[c], leading, axis=0)
            labels[rows] = np.where(moved[c], best, labels[rows])
        return labels


def _candidates(
    order: NDArray[np.intp], if_one: Float64Array, if_zero: Float64Array, mass: float
) -> Float64Array:
    """Return the five sums for 0, 1, ... m ones, shape (5, m + 1, n_bits)."""
    m, n_bits = order.shape
    table = np.zeros((5, m + 1, n_bits))
    table[:3] = _counts(np.arange(m + 1), m, mass)[:, :, None]
    np.cumsum(np.take_along_axis(if_one, order, axis=0), axis=0, out=table[3, 1:])
    zeros = np.take_along_axis(if_zero, order[::-1], axis=0)
    table[4, :m] = np.cumsum(zeros, axis=0)[::-1]
    return table


def _sums(
    labels: Labels, if_one: Float64Array, if_zero: Float64Array, mass: float
) -> Float64Array:
    """Return the five sums of these labels, shape (5, n_bits)."""
    loss1 = np.where(labels, if_one, 0).sum(axis=0)
    loss0 = np.where(labels, 0, if_zero).sum(axis=0)
    return np.stack([*_counts(labels.sum(axis=0), len(labels), mass), loss1, loss0])


def _counts(n1: NDArray[Any], m: int, mass: float) -> Float64Array:
    """Return ones, their mass, and pairs that differ, of so many ones in m rows."""
    return np.stack([n1, mass * n1, mass**2 * n1 * (m - n1)]).astype(np.float64)
