"""What studies share of codes for classes: codebooks, and what they stand beside."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.evaluation._svm import LinearSVM, learn_svm
from fewbits.learners.deep import LLC
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import Loss, LossContext
from fewbits.learners.deep.losses._greedy import class_loss, linear_classifier

#: Codebooks of LLC's table 1, and ways to get one for less.
CODEBOOKS: dict[str, dict[str, Any]] = {
    "LLC": {"codebook": "learnt"},
    "random": {"codebook": "random"},
    "SVD": {"codebook": "svd"},
    "CCA": {"codebook": "cca"},
    "LLC from SVD": {"codebook": "learnt", "init": "svd", "codebook_epochs": 15},
    "LLC from CCA": {"codebook": "learnt", "init": "cca", "codebook_epochs": 15},
    "LLC, published rate": {"codebook": "learnt", "codebook_rate": 1e-3},
    "predictable": {"codebook": "predictable"},
    "LLC with a bias": {"codebook": "learnt", "bias": True},
}
#: Epochs for items and for the codebook.
N_ITER, CODEBOOK_EPOCHS = 100, 50
REAL = "real-valued, learnt"


def llc(n_bits: int | None = None, **options: Any) -> LLC:
    """Return an untrained LLC; as in the paper, its projection has no bias."""
    usual = {"n_iter": N_ITER, "codebook_epochs": CODEBOOK_EPOCHS, "bias": False}
    return LLC(n_bits, **{**usual, **options})


def possible(method: str, bits: int, n_classes: int) -> bool:
    """Return whether there are as many directions between classes as bits."""
    directions = {"SVD", "CCA"} & set(method.replace(",", "").split())
    return bits < n_classes or not directions


class RealValued(Loss):
    """Classify by the scores themselves: what GreedyHash is without the sign."""

    def start(self, context: LossContext) -> None:
        self.layer = linear_classifier(context)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(self.layer(scores), batch)

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights


class PredictedClass:
    """One bit for each class; the one that a linear SVM on the features predicts is 1.

    It has what studies use of a learner and of its encoder. Of items with several
    labels, one column for each, all that their SVMs say yes to are 1.

    Parameters
    ----------
    numbered : bool, default=False
        The bits of the number of the predicted class, as few as do, in place of one
        for each.
    """

    cost = 3.0  # of errors, for rows scaled to a mean square of 1

    def __init__(self, numbered: bool = False) -> None:
        self.numbered = numbered

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
