"""The k independent support vector machines of discriminative binary codes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._hyperplanes import hyperplanes
from fewbits.learners.supervised.dbc._objective import Float64Array, Labels, Objective

#: The labels of a bit change the objective far more than this share.
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Hyperplanes:
    """One hyperplane for each bit.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_bits)
    bias : ndarray of shape (n_bits,)
    """

    W: Float64Array
    bias: Float64Array

    @property
    def norms(self) -> Float64Array:
        """Squared norms; the bias counts, as LIBLINEAR regularises it too."""
        norms: Float64Array = (self.W**2).sum(axis=0) + self.bias**2
        return norms

    def scores(self, Z: Float64Array) -> Float64Array:
        scores: Float64Array = Z @ self.W + self.bias
        return scores

    def take(self, bits: NDArray[np.bool_]) -> "Hyperplanes":
        return Hyperplanes(self.W[:, bits], self.bias[bits])

    def put(self, other: "Hyperplanes", bits: NDArray[np.bool_]) -> "Hyperplanes":
        """Return these hyperplanes with those of `other` in the places of `bits`."""
        W, bias = self.W.copy(), self.bias.copy()
        W[:, bits], bias[bits] = other.W, other.bias
        return Hyperplanes(W, bias)


def train(
    Z: Float64Array,
    labels: Labels,
    objective: Objective,
    start: Hyperplanes | None = None,
) -> Hyperplanes:
    """Minimise ``gamma |w|^2 + lambda1 slack`` for each column of `labels`.

    An SVM halves the norm, so its C is ``lambda1 / (2 gamma)`` times the weight of a
    row.

    Parameters
    ----------
    Z : ndarray of shape (n, n_features), dtype float64
    labels : ndarray of shape (n, n_bits), dtype bool
        Both values in every column.
    objective : Objective
    start : Hyperplanes, default=None
        Where to start, such as what was found for similar labels.
    """
    N1 = labels.sum(axis=0)
    weights = objective.row_weight(np.array([len(labels) - N1, N1]))
    costs = weights * (objective.lambda1 / (2 * objective.gamma))
    before = None if start is None else np.vstack([start.W, start.bias])
    found = hyperplanes(Z, labels, costs, start=before, tol=_TOLERANCE)
    return Hyperplanes(found[:-1], found[-1])
