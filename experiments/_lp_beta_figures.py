"""How well LP-beta tells classes apart by the kinds of classic descriptors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._classic_features import parts_of
from experiments._lp_beta import LPBeta


def lp_beta_accuracy(
    X: NDArray[np.float32], y: NDArray[Any], tests: NDArray[np.float32], truth: Any
) -> float:
    """Learn from classic descriptors; return the mean over classes of the share right.

    Parameters
    ----------
    X, tests : ndarray of shape (n, 22860)
    y, truth : ndarray of shape (n,)
    """
    found = LPBeta(kernel="rbf-chi2").fit(parts_of(X), y).predict(parts_of(tests))
    return mean_over_classes(truth, found)


def mean_over_classes(truth: NDArray[Any], predictions: NDArray[Any]) -> float:
    """Return the accuracy, each class counting the same."""
    right = predictions == truth
    return float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))
