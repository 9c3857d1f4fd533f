"""Learners of codes from known classes, by the names of their cells."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.evaluation.classification._svm import LinearSVM, learn_svm
from fewbits.learners import (
    BRE,
    CCAITQ,
    DBC,
    ECOC,
    ITQ,
    LSH,
    Classemes,
    Learner,
    PiCoDes,
    SpectralHashing,
)

#: Chosen like the costs of PiCoDes: larger ones say no to nearly every new class.
CLASSEME_COST = 0.001


def learners_of(n_bits: int, seed: int) -> dict[str, Learner]:
    """Return an untrained learner of a length for each name."""
    both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
    return {
        "LSH": LSH(**both),
        "SH": SpectralHashing(n_bits),
        "BRE": BRE(**both),
        "ITQ": ITQ(**both),
        "CCA-ITQ": CCAITQ(**both),
        "PiCoDes": PiCoDes(**both),
        "DBC": DBC(**both),
        "DBC, by category": DBC(**both, codes="category"),
        "ECOC": ECOC(**both),
    }


def classemes(n_bits: int | None, seed: int) -> Classemes:
    """Return classemes; None leaves a bit for each known class."""
    return Classemes(n_bits, C=CLASSEME_COST, random_state=seed)


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
