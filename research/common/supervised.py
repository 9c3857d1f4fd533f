"""Learners of codes from known classes, by the names of their cells."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import CodeArray
from fewbits.codes import pack
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
        self._several = y.ndim == 2
        self._classes = np.arange(y.shape[1]) if self._several else np.unique(y)
        inside = y > 0 if self._several else y[:, None] == self._classes
        n_classes = len(self._classes)
        if n_classes == 2 and not self._several:
            inside = inside[:, 1:]  # one plane tells
        self._planes = hyperplanes(X, inside, C).astype(np.float32)
        self.n_bits = (n_classes - 1).bit_length() if self.numbered else n_classes
        return self

    @property
    def encoder_(self) -> Self:
        """Itself."""
        return self

    def encode(self, X: NDArray[np.float32]) -> CodeArray:
        """Return the codes of the predicted classes."""
        scores = X @ self._planes[:-1] + self._planes[-1]
        if self._several:
            return pack(scores > 0)
        one_plane = scores.shape[1] == 1
        number = scores[:, 0] > 0 if one_plane else scores.argmax(axis=1)
        number = number.astype(np.int64)[:, None]
        if not self.numbered:
            return pack(number == np.arange(len(self._classes)))
        return pack(number >> np.arange(self.n_bits) & 1)
