"""Learners of codes from known classes, by the names of their cells."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.evaluation._svm import learn_svm
from fewbits.learners import (
    BRE,
    CCAITQ,
    DBC,
    ITQ,
    LSH,
    Classemes,
    Learner,
    PiCoDes,
    SpectralHashing,
)

#: Chosen like the costs of PiCoDes: larger ones say no to nearly every new class.
CLASSEME_COST = 0.001
#: Weights of the slack so large that labels of a class differ, by name.
FREE = {f"DBC, lambda1 = {weight:g}": weight for weight in (2.0, 10.0)}


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
        **{name: DBC(**both, lambda1=weight) for name, weight in FREE.items()},
    }


def classemes(n_bits: int | None, seed: int) -> Classemes:
    """Return classemes; None leaves a bit for each known class."""
    return Classemes(n_bits, C=CLASSEME_COST, random_state=seed)


class PredictedClass:
    """One bit for each class; the one that a linear SVM on the features predicts is 1.

    What learnt codes have to be better than. It has what studies use of a learner and
    of its encoder.
    """

    cost = 3.0  # of errors, for rows scaled to a mean square of 1

    def fit(self, X: NDArray[np.float32], y: NDArray[Any]) -> Self:
        """Train the SVM."""
        self._svm = learn_svm(X, y, self.cost / float(np.mean(np.sum(X**2, axis=1))))
        self.n_bits = len(self._svm.classes)
        return self

    @property
    def encoder_(self) -> Self:
        """Itself."""
        return self

    def encode(self, X: NDArray[np.float32]) -> CodeArray:
        """Return the codes of the predicted classes."""
        return pack(self._svm.predict(X)[:, None] == self._svm.classes)
