"""Linear support vector machines by LIBLINEAR, through scikit-learn."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from fewbits._kernels import num_threads

Float64Array = NDArray[np.float64]
Hyperplane = tuple[Float64Array, float]

_PARALLEL_WORK = 1 << 30  # multiply-adds from which starting processes pays
_BYTES_PER_ENTRY = 16  # of LIBLINEAR's own copy of the data
_MAX_BYTES = 8 << 30  # of all those copies at a time


def hinge_svm(
    X: Float64Array,
    positive: NDArray[np.bool_],
    C: float,
    *,
    weights: Float64Array | None = None,
    balanced: bool = False,
    constant: float = 1.0,
    tol: float = 1e-2,
    max_iter: int = 200,
    seed: int = 0,
) -> Hyperplane:
    """Minimise ``1/2 |w|^2 + C sum_i weights_i hinge(+-(w'x_i + b))``."""
    # LIBLINEAR also adds ``1/2 (b / constant)^2``. Few iterations do: the callers keep
    # what they have where the answer is no better. X is best centred: the dual solver
    # crawls along directions that all rows share.
    svm = LinearSVC(
        loss="hinge",
        C=C,
        class_weight="balanced" if balanced else None,
        dual=True,
        tol=tol,
        max_iter=max_iter,
        intercept_scaling=constant,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(X, positive, sample_weight=weights)
    return svm.coef_[0], float(svm.intercept_[0])


def hinge_svms(
    X: Float64Array, labels: Sequence[NDArray[np.bool_]], C: float, **options: Any
) -> tuple[Float64Array, Float64Array]:
    """Solve a problem for each of `labels`, on all cores where it pays and they fit."""
    # In processes, not threads: LIBLINEAR draws its random numbers from one generator
    # for the whole process, so threads would disturb each other's results.
    work = X.size * len(labels) * 10
    fit = max(1, _MAX_BYTES // max(1, X.size * _BYTES_PER_ENTRY))
    n_jobs = min(num_threads(), len(labels), fit) if work > _PARALLEL_WORK else 1
    solve = delayed(hinge_svm)
    planes = Parallel(n_jobs)(solve(X, positive, C, **options) for positive in labels)
    return np.array([w for w, _ in planes]), np.array([b for _, b in planes])
