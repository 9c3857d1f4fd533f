"""The code that a predicted class makes: what learnt codes have to be better than."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.evaluation._svm import LinearSVM, learn_svm


class PredictedClass:
    """One bit for each class; the one that a linear SVM on the features predicts is 1.

    It has what the experiments use of a learner and of its encoder. Of items with
    several labels, one column for each, all that their SVMs say yes to are 1.

    Parameters
    ----------
    numbered : bool, default=False
        The bits of the number of the predicted class, as few as do, in place of one
        for each.
    cost : float, default=3.0
        Weight of the errors, for rows scaled to a mean square of 1.
    """

    def __init__(self, numbered: bool = False, cost: float = 3.0) -> None:
        self.numbered, self.cost = numbered, cost

    def fit(self, X: NDArray[np.float32], y: NDArray[Any]) -> Self:
        """Train the SVM."""
        C = self.cost / float(np.mean(np.sum(X**2, axis=1)))
        if y.ndim == 2:
            planes = hyperplanes(X, y > 0, C).astype(np.float32)
            self.svm_ = LinearSVM(np.arange(y.shape[1]), planes)
        else:
            self.svm_ = learn_svm(X, y, C)
        self._several = y.ndim == 2
        n_classes = len(self.svm_.classes)
        self.n_bits = (n_classes - 1).bit_length() if self.numbered else n_classes
        return self

    @property
    def encoder_(self) -> Self:
        """Itself."""
        return self

    def encode(self, X: NDArray[np.float32]) -> CodeArray:
        """Return the codes of the predicted classes."""
        if self._several:
            return pack(self.svm_.scores(X) > 0)
        found = self.svm_.predict(X)
        if not self.numbered:
            return pack(found[:, None] == self.svm_.classes)
        number = np.searchsorted(self.svm_.classes, found)[:, None]
        return pack(number >> np.arange(self.n_bits) & 1)
