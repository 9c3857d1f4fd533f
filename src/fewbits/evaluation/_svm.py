"""Linear support vector machines of many classes at once.

LIBLINEAR solves one class after the other on a sparse copy of the data. The classes
share the data, so all of them together are two matrix products an iteration: on 5,494
codes of 1,280 bits and 100 classes 40 times faster, with the same predictions.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array, FeatureArray

_MAX_ITER = 2000
_TOLERANCE = 1e-7  # relative change of the objective: what float32 can tell


@dataclass(frozen=True, eq=False, slots=True)
class LinearSVM:
    """One hyperplane for each class; of two classes, one for the second.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    weights : ndarray of shape (n_features + 1, n_planes)
        The last row is the constant.
    """

    classes: Array
    weights: NDArray[np.float32]

    def predict(self, X: FeatureArray) -> Array:
        """Return the class of each row with the highest score."""
        scores = X @ self.weights[:-1] + self.weights[-1]
        best = scores[:, 0] > 0 if len(self.classes) == 2 else scores.argmax(axis=1)
        found: Array = self.classes[best.astype(np.intp)]
        return found


def learn_svm(X: FeatureArray, y: Array, C: float) -> LinearSVM:
    """Minimise ``1/2 |w|^2 + C sum_i max(0, 1 - y_i w'x_i)^2`` for each class.

    That is LIBLINEAR's L2-regularised, L2-loss SVM, one class against the rest, with a
    regularised constant as last weight, minimised by L-BFGS.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,)
        Of two classes at least.
    C : float

    Returns
    -------
    LinearSVM

    Warns
    -----
    UserWarning
        When the iterations end before the objective settles.
    """
    classes, numbers = np.unique(y, return_inverse=True)
    planes = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
    signs = np.where(numbers[:, None] == planes, np.float32(1), np.float32(-1))
    ones = np.ones((len(X), 1), np.float32)
    X = np.concatenate([X.astype(np.float32, copy=False), ones], axis=1)
    shape = X.shape[1], len(planes)

    def objective(w: Any) -> tuple[float, Any]:
        W = w.reshape(shape)
        missing = np.maximum(1 - signs * (X @ W.astype(np.float32)), 0)
        gradient = W - 2 * C * (X.T @ (signs * missing))
        loss = np.sum(missing**2, dtype=np.float64)
        return float(np.vdot(W, W) / 2 + C * loss), gradient.ravel()

    from scipy.optimize import minimize

    options: Any = {"maxiter": _MAX_ITER, "maxfun": 2 * _MAX_ITER}
    options |= {"ftol": _TOLERANCE, "gtol": 0.0}
    start = np.zeros(shape[0] * shape[1])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    if found.status == 1:
        warnings.warn(
            f"the SVM did not settle in {_MAX_ITER} iterations; take a smaller C",
            stacklevel=2,
        )
    return LinearSVM(classes, found.x.reshape(shape).astype(np.float32))
