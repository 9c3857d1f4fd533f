"""Choosing parameters on classes that were held out."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count
from fewbits._labels import as_labels
from fewbits._typing import Array
from fewbits.errors import ArgumentError
from fewbits.evaluation.classification._accuracy import svm_accuracy
from fewbits.evaluation.splits._splits import per_class_split

#: Weight of errors of codes of so many bits at most; rows of longer ones are longer.
_COST, _COST_UP_TO = 0.01, 256


def novel_class_score(
    learner: Any,
    X: Array,
    y: ArrayLike,
    *,
    n_test: int = 10,
    C: float | None = None,
    random_state: int = 0,
) -> float:
    """Score a fitted learner by classification of classes that it never saw.

    A scorer for scikit-learn: with folds that keep classes whole it chooses what a
    paper calls "cross-validated on held-out classes". With ``error_score="raise"`` the
    search does not go on without a score where a fold has too few items.

    Parameters
    ----------
    learner : Learner
        Fitted to other classes.
    X : ndarray of shape (n, n_features)
    y : array-like of shape (n,)
        At least two classes with more than `n_test` items; others are left out.
    n_test : int, default=10
        Items of each class to test on; the classifier learns from the others.
    C : float, default=None
        Weight of the errors of the linear SVM, see `svm_accuracy`. None takes .01, and
        of codes longer than 256 bits as much less as they are longer, so that scores of
        different lengths can be compared.
    random_state : int, default=0
        Draws the items.

    Returns
    -------
    float
        Mean accuracy over classes.

    Raises
    ------
    ArgumentError
        When fewer than two classes have enough items.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from fewbits.learners import PiCoDes
    >>> X, y = load_digits(return_X_y=True)
    >>> search = GridSearchCV(
    ...     PiCoDes(n_bits=8, n_iter=1, random_state=0),
    ...     {"lam": [10.0, 100.0]},
    ...     cv=GroupKFold(2),
    ...     scoring=novel_class_score,
    ...     error_score="raise",
    ... )
    >>> search.fit(X[:300], y[:300], groups=y[:300]).best_params_["lam"] in (10, 100)
    True
    """
    labels = as_labels(y, "y", n=len(X))
    check_count(n_test, "n_test")
    classes, counts = np.unique(labels, return_counts=True)
    enough = classes[counts > n_test]
    if len(enough) < 2:
        raise ArgumentError(
            f"scoring on novel classes needs two with more than n_test={n_test} items, "
            f"got {len(enough)} of {len(classes)}"
        )
    rows = np.isin(labels, enough)
    X, labels = X[rows], labels[rows]
    split = per_class_split(labels, query=n_test, train=None, random_state=random_state)
    codes, n_bits = learner.encode(X), learner.encoder_.n_bits
    return svm_accuracy(
        codes[split.train],
        labels[split.train],
        codes[split.query],
        labels[split.query],
        n_bits=n_bits,
        C=_COST * min(1.0, _COST_UP_TO / n_bits) if C is None else C,
    ).per_class_mean
