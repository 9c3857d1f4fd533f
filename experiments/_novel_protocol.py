"""How codes are scored on classes that nobody trained on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Novel classes, and items of each to train a linear SVM on, and to test it.
N_NOVEL, N_TRAIN, N_TEST = 25, 10, 25
#: Known classes to learn from, where there are more: what PiCoDes can afford.
MOST_KNOWN = 100
_SVM_COSTS = (0.001, 0.01, 0.1, 1.0)
#: The longest code for which these are tried; rows of longer ones are longer, too.
_COSTS_UP_TO = 256


def tuned_on(name: str, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes on which parameters were chosen: some of Caltech-101's."""
    if not name.startswith("caltech101-"):
        return classes[:0]
    return np.random.default_rng(5).permutation(classes)[50:75]


def drawn(classes: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """Return at most so many of the classes; fewer of them are among more of them."""
    # Of a generator of its own, so that everything else is drawn as without a limit.
    return np.random.default_rng([seed, 1]).permutation(classes)[:most]


def svm_costs(n_bits: int) -> list[float]:
    """Return the weights of errors that are tried on codes of a length."""
    return [cost * min(1.0, _COSTS_UP_TO / n_bits) for cost in _SVM_COSTS]


def float_costs(X: NDArray[np.float32]) -> list[float]:
    """Return powers of ten, in the same range whatever the units of the features.

    From about 0.1 to 100 for rows of a mean squared length of 1.
    """
    decade = round(float(np.log10(np.mean(np.sum(X**2, axis=1)))))
    return [10.0 ** (power - decade) for power in range(-1, 3)]
