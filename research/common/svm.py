"""Linear classification on codes, over all classes and within clusters of them."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from fewbits.codes import unpack
from fewbits.encoders import Encoder
from fewbits.evaluation.classification import Accuracy, svm_accuracy
from research.common.features import FeatureSet, first_of_each
from research.core.record import Metrics

#: Weights of the errors, for rows scaled to a mean square of 1.
COSTS = (0.3, 1.0, 3.0, 10.0, 30.0)
#: Of two classes at least.
N_CLUSTERS = 10


def svm_metrics(
    features: FeatureSet,
    encoder: Encoder | None,
    seed: int,
    n_each: int | None = None,
) -> Metrics:
    """Return accuracies over all classes, and averaged over ten clusters of them.

    The clusters are drawn by `seed`, and so are the items of a class to train on, where
    `n_each` says how many at most. The weight of the errors is chosen on a
    third of the training part that is held out, over all classes.
    """
    y, database, truth = (
        features.database_labels,
        features.database,
        features.query_labels,
    )
    if n_each is not None:
        order = np.random.default_rng(seed).permutation(len(y))
        rows = first_of_each(order, y, n_each)
        y, database = y[rows], database[rows]
    train, test = (as_rows(X, encoder) for X in (database, features.queries))
    scale = float(np.mean(np.sum(train**2, axis=1)))
    cost = chosen_cost(train, y, scale)
    clusters = [
        svm_accuracy(train[a], y[a], test[b], truth[b], C=cost / scale).value
        for a, b in cluster_rows(y, truth, seed)
    ]
    return {
        "accuracy": svm_accuracy(train, y, test, truth, C=cost / scale).value,
        "clusters": float(np.mean(clusters)),
        "cost": cost,
    }


def as_rows(X: NDArray[np.float32], encoder: Encoder | None) -> NDArray[np.float32]:
    """Return features as they are, or the bits of their codes as -1 and 1."""
    if encoder is None:
        return X
    signs: NDArray[np.float32] = (
        2 * unpack(encoder.encode(X), encoder.n_bits).astype(np.float32) - 1
    )
    return signs


def chosen_cost(X: NDArray[np.float32], y: NDArray[Any], scale: float) -> float:
    """Return the cost that is best where a third of the training part is held out."""
    learn, check = next(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    found = [
        svm_accuracy(X[learn], y[learn], X[check], y[check], C=cost / scale).value
        for cost in COSTS
    ]
    return COSTS[int(np.argmax(found))]


def svm_of_best_cost(
    train: NDArray[Any],
    y: NDArray[Any],
    test: NDArray[Any],
    truth: NDArray[Any],
    costs: Iterable[float],
    n_bits: int | None = None,
) -> Accuracy:
    """Return `svm_accuracy` with the cost of the best per-class mean accuracy.

    In three-fold cross-validation on the training part; the smallest if tied.
    """
    n_folds = min(3, int(np.unique(y, return_counts=True)[1].min()))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    parts = list(folds.split(train, y))

    def quality(cost: float) -> float:
        found = [
            svm_accuracy(train[a], y[a], train[b], y[b], n_bits=n_bits, C=cost)
            for a, b in parts
        ]
        return float(np.mean([each.per_class_mean for each in found]))

    best = max(sorted(costs), key=quality)
    return svm_accuracy(train, y, test, truth, n_bits=n_bits, C=best)


def cluster_rows(
    y: NDArray[Any], truth: NDArray[Any], seed: int
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield the rows of both sides for each cluster of classes."""
    classes = np.random.default_rng(seed).permutation(np.unique(y))
    for members in np.array_split(classes, min(N_CLUSTERS, len(classes) // 2)):
        yield np.isin(y, members), np.isin(truth, members)


def linear_svm(
    X: NDArray[np.float64],
    y: NDArray[Any],
    C: float,
    random_state: int,
    *,
    penalty: str = "l2",
    dual: bool | None = None,
    balance: float = 1.0,
) -> tuple[NDArray[np.float64], float]:
    """Solve LIBLINEAR's problem with squared hinge loss, the sides balanced.

    With the penalty "l1" many weights are 0. `dual` says which of the two problems,
    with the same answer, is solved; None takes the faster one where C is small.
    """
    sparse = penalty == "l1"
    if dual is None:  # it crawls where bits are few; of a sparse problem there is none
        dual = not sparse and len(X) <= X.shape[1]
    weights: Any = "balanced"
    if balance < 1:  # a side's examples weigh 1 where both have as many
        halves = {side: len(y) / (2 * max(1, (y == side).sum())) for side in (-1, 1)}
        weights = {side: float(half**balance) for side, half in halves.items()}
    svm = LinearSVC(
        C=C,
        penalty=penalty,
        class_weight=weights,
        dual=dual,
        intercept_scaling=10.0,  # so that the constant is hardly held back
        max_iter=1_000 if sparse else 10_000,
        random_state=random_state,
    )
    with warnings.catch_warnings():
        if sparse:  # which weights are 0 is settled long before their values are
            warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(X, y)
    return svm.coef_[0], float(svm.intercept_[0])
