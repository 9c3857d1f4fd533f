"""The k independent support vector machines of discriminative binary codes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from fewbits._kernels import num_threads
from fewbits.learners._dbc_objective import Float64Array, Labels, Objective

#: LIBLINEAR's own for its primal solver. The labels of a bit change far more than this.
_TOLERANCE = 1e-2


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


def train(Z: Float64Array, labels: Labels, objective: Objective) -> Hyperplanes:
    """Minimise ``gamma |w|^2 + lambda1 slack`` for each column of `labels`.

    LIBLINEAR halves the norm, so its C is ``lambda1 / (2 gamma)`` times the weight of a
    row. It lets go of the GIL. Its dual solver draws from one random generator for all
    threads; the primal one draws nothing, so that threads change no result.

    Parameters
    ----------
    Z : ndarray of shape (n, n_features), dtype float64, C-ordered
    labels : ndarray of shape (n, n_bits), dtype bool
        Both values in every column.
    objective : Objective
    """

    def one(bit: int) -> Float64Array:
        return _train_one(Z, labels[:, bit], objective)

    with ThreadPoolExecutor(num_threads()) as pool:
        columns = np.column_stack(list(pool.map(one, range(labels.shape[1]))))
    return Hyperplanes(columns[:-1], columns[-1])


def _train_one(
    Z: Float64Array, labels: NDArray[np.bool_], objective: Objective
) -> Float64Array:
    N1 = labels.sum()
    weight = objective.row_weight(np.array([len(labels) - N1, N1]))
    weight *= objective.lambda1 / (2 * objective.gamma)
    svm = LinearSVC(dual=False, tol=_TOLERANCE)
    svm.fit(Z, labels, sample_weight=weight[labels.astype(np.intp)])
    column: Float64Array = np.append(svm.coef_[0], svm.intercept_)
    return column
