"""How well LP-beta tells classes apart by the kinds of classic descriptors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._cells import Cell
from experiments._classic_features import parts_of
from experiments._lp_beta import LPBeta
from experiments._summary import by_method, figure, shown

KERNELS = ("rbf-chi2", "intersection")


def lp_beta_figures(
    X: NDArray[np.float32], y: NDArray[Any], tests: NDArray[np.float32], truth: Any
) -> Cell:
    """Learn from classic descriptors; score LP-beta, and equal weights beside it.

    Each with the kernel that is right most often in cross-validation.

    Parameters
    ----------
    X, tests : ndarray of shape (n, 22860)
    y, truth : ndarray of shape (n,)

    Returns
    -------
    dict
        ``accuracy`` and ``equal``, the means over classes of the share that is right.
    """
    learnt = [LPBeta(kernel=kernel).fit(parts_of(X), y) for kernel in KERNELS]
    ways = {
        "accuracy": learnt,
        "equal": [learner.with_equal_weights() for learner in learnt],
    }
    figures: Cell = {}
    for name, learners in ways.items():
        best = max(learners, key=lambda learner: learner.held_out_accuracy_)
        found = best.predict(parts_of(tests))
        figures[name] = mean_over_classes(truth, found)
        figures[f"{name}_by"] = [best.kernel, best.C_, best.nu_]
    return figures


def lp_beta_sentence(cells: list[Cell]) -> str:
    """Return what was reached, for a page; nothing where it was not measured."""
    lp, equal = (by_method(cells, figure(key), "bits") for key in ("accuracy", "equal"))
    if "LP-beta" not in lp:
        return ""
    more = f"; equal weights: {shown(*equal['LP-beta'][0][:2])}" if equal else ""
    return f"LP-beta: {shown(*lp['LP-beta'][0][:2])}{more}."


def mean_over_classes(truth: NDArray[Any], predictions: NDArray[Any]) -> float:
    """Return the accuracy, each class counting the same."""
    right = predictions == truth
    return float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))
