"""The code that a predicted class makes: what learnt codes have to be better than."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.evaluation._svm import learn_svm


class PredictedClass:
    """One bit for each class; the one that a linear SVM on the features predicts is 1.

    It has what the experiments use of a learner and of its encoder.

    Parameters
    ----------
    cost : float, default=3.0
        Weight of the errors, for rows scaled to a mean square of 1.
    """

    def __init__(self, cost: float = 3.0) -> None:
        self.cost = cost

    def fit(self, X: NDArray[np.float32], y: NDArray[Any]) -> Self:
        """Train the SVM."""
        scale = float(np.mean(np.sum(X**2, axis=1)))
        self.svm_ = learn_svm(X, y, self.cost / scale)
        self.n_bits = len(self.svm_.classes)
        return self

    @property
    def encoder_(self) -> Self:
        """Itself."""
        return self

    def encode(self, X: NDArray[np.float32]) -> CodeArray:
        """Return one-hot codes of the predicted classes."""
        return pack(self.svm_.predict(X)[:, None] == self.svm_.classes)
