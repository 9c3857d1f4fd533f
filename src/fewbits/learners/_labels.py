"""Labels as an indicator matrix."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from fewbits._typing import Array
from fewbits.errors import ArgumentError


def indicator(y: Any, X: Array, name: str) -> tuple[Array, sp.csr_array]:
    """Return the classes and one 0/1 column for each.

    Parameters
    ----------
    y : array-like of shape (n,), or indicator matrix of shape (n, n_classes)
        Labels of any type that sorts; or 0 and 1, dense or sparse.
    X : ndarray of shape (n, n_features)
    name : str
        Of the learner, for messages.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels, sorted, or the numbers of the columns.
    Y : sparse array of shape (n, n_classes), dtype float64

    Raises
    ------
    ArgumentError
        When y is missing, is not as long as X, holds no labels or only one class.
    """
    if y is None:
        raise ArgumentError(
            f"{name} requires y to be passed, but the target y is None: pass one label "
            "per row"
        )
    labels: Any = y if sp.issparse(y) else _asarray(y)
    try:
        check_consistent_length(X, labels)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    if labels.ndim == 2 and labels.shape[1] > 1:
        return np.arange(labels.shape[1]), _multilabel(labels, name)
    return _single_label(np.ravel(labels), name)


def _asarray(y: Any) -> Array:
    try:
        return np.asarray(y)
    except ValueError as error:
        raise ArgumentError(f"labels are no array: {error}") from error


def _multilabel(labels: Any, name: str) -> sp.csr_array:
    Y = sp.csr_array(labels)
    if not np.isin(Y.data, (0, 1)).all():
        raise ArgumentError(
            f"a matrix of labels must hold 0 and 1 only, got {_other(Y.data)!r}"
        )
    Y = Y.astype(np.float64)
    counts = Y.sum(axis=0)
    if not ((counts > 0) & (counts < Y.shape[0])).any():
        raise ArgumentError(f"{name} needs a label that some rows have and others lack")
    return Y


def _other(data: NDArray[Any]) -> Any:
    return data[~np.isin(data, (0, 1))][0].item()


def _single_label(labels: Array, name: str) -> tuple[Array, sp.csr_array]:
    if labels.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: labels must be classes")
    if labels.dtype.kind == "f" and not (labels == np.round(labels)).all():
        raise ArgumentError("labels must be classes, got numbers that are not whole")
    try:
        classes, columns = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ArgumentError(f"labels must be of one type: {error}") from error
    if len(classes) < 2:
        raise ArgumentError(f"{name} needs at least 2 classes, but y holds 1 class")
    n = len(labels)
    ones = np.ones(n)
    return classes, sp.csr_array(
        (ones, columns, np.arange(n + 1)), shape=(n, len(classes))
    )
