"""Linear support vector machines for classes, one against the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import Array, FeatureArray


@dataclass(frozen=True, eq=False, slots=True)
class LinearSVM:
    """One hyperplane for each class; of two classes, one for the second.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    weights : ndarray of shape (n_features + 1, n_planes), dtype float32
        The last row is the constant.
    """

    classes: Array
    weights: NDArray[np.float32]

    def scores(self, X: FeatureArray) -> FeatureArray:
        """Return the score of each row by each hyperplane."""
        found: FeatureArray = X @ self.weights[:-1] + self.weights[-1]
        return found

    def predict(self, X: FeatureArray) -> Array:
        """Return the class of each row with the highest score."""
        scores = self.scores(X)
        best = scores[:, 0] > 0 if len(self.classes) == 2 else scores.argmax(axis=1)
        found: Array = self.classes[best.astype(np.intp)]
        return found


def learn_svm(X: FeatureArray, y: Array, C: float) -> LinearSVM:
    """Return LIBLINEAR's one-versus-rest SVM of labels `y` (n,), two classes at least.

    It minimises ``1/2 |w|^2 + C sum_i max(0, 1 - y_i w'x_i)^2`` for each class.
    """
    classes, numbers = np.unique(y, return_inverse=True)
    planes = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
    found = hyperplanes(X, numbers[:, None] == planes, C)
    return LinearSVM(classes, found.astype(np.float32))
