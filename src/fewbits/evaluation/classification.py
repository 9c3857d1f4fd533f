"""Accuracy of classes, by neighbours and linear models on codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._hyperplanes import hyperplanes
from fewbits._labels import as_labels, check_same_kind
from fewbits._repr import short_repr
from fewbits._typing import Array, CodeArray
from fewbits.classify import nearest_vote
from fewbits.codes import as_codes, unpack
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import as_features, check_not_empty

__all__ = [
    "Accuracy",
    "knn_accuracy",
    "novel_class_score",
    "svm_accuracy",
]


#: Weight of errors, for codes of so many bits at most; rows of longer ones are longer.
_COST, _COST_UP_TO = 0.01, 256


@dataclass(frozen=True, eq=False, slots=True)
class Accuracy:
    """Share of test items that were given the right class.

    Attributes
    ----------
    value : float
        Share of the test items that are right.
    per_class_mean : float
        Mean over the classes of the test labels, each counting the same, of the share
        that is right; one that was not trained on never is.
    predictions : ndarray of shape (n_test,)
    definition : str
        In words.
    """

    value: float
    per_class_mean: float
    predictions: Array
    definition: str

    __repr__ = short_repr


def knn_accuracy(
    train_codes: CodeArray,
    train_labels: ArrayLike,
    test_codes: CodeArray,
    test_labels: ArrayLike,
    *,
    k: int = 1,
) -> Accuracy:
    """k-NN accuracy: the vote of the `k` nearest codes.

    Parameters
    ----------
    train_codes, test_codes : ndarray of shape (n, n_bytes), dtype uint8
    train_labels, test_labels : array-like of shape (n,)
        Integers or strings. Codes to learn from whose label is missing have no vote.
    k : int, default=1
        Neighbours that vote; more than there are means all.

    Returns
    -------
    Accuracy
        Of several classes with the most votes, the prediction is the one whose voters
        are nearest (the smallest sum of distances), then the one that sorts first.
        Codes as far away as the k-th neighbour share the votes that nearer ones leave,
        so the order of the rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [255]], np.uint8)
    >>> accuracy = knn_accuracy(codes, ["a", "a", "b"], codes, ["a", "b", "b"])
    >>> round(accuracy.value, 3), accuracy.per_class_mean
    (0.667, 0.75)
    """
    train_codes, test_codes = as_codes(train_codes), as_codes(test_codes)
    truth = as_labels(test_labels, "test labels", n=len(test_codes))
    check_not_empty(truth, "test labels")
    predictions = nearest_vote(test_codes, train_codes, train_labels, k).labels
    check_same_kind(predictions, truth, ("train labels", "test labels"))
    return _accuracy(truth, predictions, f"vote of the {k} nearest codes")


def svm_accuracy(
    train: ArrayLike,
    train_labels: ArrayLike,
    test: ArrayLike,
    test_labels: ArrayLike,
    *,
    n_bits: int | None = None,
    C: float = 1.0,
) -> Accuracy:
    """Accuracy of a linear one-versus-rest SVM on the bits of codes, as -1 and +1.

    The problem is LIBLINEAR's (squared hinge loss, a regularised constant); all
    classes are solved together.

    Parameters
    ----------
    train, test : array-like
        Packed codes (n, n_bytes) with `n_bits`, or features (n, n_features), used as
        they are, for comparison.
    train_labels, test_labels : array-like of shape (n,)
        Integers or strings.
    n_bits : int or None, default=None
        Length of the codes; None means that `train` and `test` are features.
    C : float, default=1.0
        Weight of the errors.

    Returns
    -------
    Accuracy

    Raises
    ------
    ArgumentError
        When there are fewer than two classes to train on.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [254], [255]], np.uint8)
    >>> y = ["low", "low", "high", "high"]
    >>> svm_accuracy(codes, y, codes, y, n_bits=8).value
    1.0
    """
    X, X_test = _matrix(train, n_bits), _matrix(test, n_bits)
    y = as_labels(train_labels, "train labels", n=len(X))
    truth = as_labels(test_labels, "test labels", n=len(X_test))
    check_not_empty(truth, "test labels")
    check_same_kind(y, truth, ("train labels", "test labels"))
    if X.shape[1] != X_test.shape[1]:
        raise ArgumentError(
            f"train has {X.shape[1]} features, test has {X_test.shape[1]}"
        )
    if len(np.unique(y)) < 2:
        raise ArgumentError("an SVM needs at least 2 classes to train on, got 1")
    if not 0 < C < np.inf:
        raise ArgumentError(f"C must be above 0 and finite, got {C}")
    # LIBLINEAR's one-versus-rest SVM; of two classes one plane tells.
    classes, numbers = np.unique(y, return_inverse=True)
    planes = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
    weights = hyperplanes(X, numbers[:, None] == planes, C).astype(np.float32)
    scores = X_test @ weights[:-1] + weights[-1]
    best = scores[:, 0] > 0 if len(classes) == 2 else scores.argmax(axis=1)
    what = "features" if n_bits is None else f"{n_bits} bits"
    predictions = classes[best.astype(np.intp)]
    return _accuracy(truth, predictions, f"linear SVM on {what}, C={C:g}")


def _matrix(X: ArrayLike, n_bits: int | None) -> Array:
    if n_bits is not None:
        bits = unpack(np.asarray(X), check_count(n_bits, "n_bits")).astype(np.float32)
        return 2 * bits - 1
    if np.asarray(X).dtype == np.uint8:
        raise ArgumentError(
            "uint8 input may be packed codes: give n_bits, or convert features to float"
        )
    return as_features(X, "features")


def _accuracy(truth: Array, predictions: Array, definition: str) -> Accuracy:
    numbers = np.unique(truth, return_inverse=True)[1]
    right = truth == predictions
    per_class = np.bincount(numbers, weights=right) / np.bincount(numbers)
    return Accuracy(
        float(right.mean()), float(per_class.mean()), predictions, definition
    )


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
    rng = generator(random_state)
    queries = np.zeros(len(X), np.bool_)
    for name in enough:
        members = np.flatnonzero(labels == name)
        queries[rng.choice(members, n_test, replace=False)] = True
    others = np.isin(labels, enough) & ~queries
    n_bits = learner.encoder_.n_bits
    return svm_accuracy(
        learner.encode(X[others]),
        labels[others],
        learner.encode(X[queries]),
        labels[queries],
        n_bits=n_bits,
        C=_COST * min(1.0, _COST_UP_TO / n_bits) if C is None else C,
    ).per_class_mean
