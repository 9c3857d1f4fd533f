"""Labels as an indicator matrix."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from fewbits._typing import Array
from fewbits.errors import ArgumentError

_COLLECTIONS = (list, tuple, set, frozenset, dict)
_SEVERAL = (
    "some rows have several labels: pass a matrix (n, n_labels) of 0 and 1, as "
    "scikit-learn's MultiLabelBinarizer makes"
)


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
        When y is missing, or is so for some rows, is not as long as X, holds no labels
        or only one class, or is a matrix of anything but 0 and 1.
    """
    if y is None:
        raise ArgumentError(
            f"{name} requires y to be passed, but the target y is None: pass one label "
            "per row"
        )
    labels = _asarray(y)
    try:
        check_consistent_length(X, labels)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    if labels.ndim > 2:
        raise ArgumentError(
            f"labels must have shape (n,) or (n, n_classes), got {labels.shape}"
        )
    if labels.ndim == 2 and labels.shape[1] > 1:
        return np.arange(labels.shape[1]), _multilabel(labels, name)
    return _single_label(np.ravel(labels), name)


def one_class_each(y: Any, X: Array, name: str) -> tuple[Array, NDArray[np.int64]]:
    """Return the classes that have rows, and the number of the class of each row.

    Parameters
    ----------
    y : array-like of shape (n,), or one-hot matrix of shape (n, n_classes)
    X : ndarray of shape (n, n_features)
    name : str
        Of the learner, for messages.

    Raises
    ------
    ArgumentError
        As `indicator` does, and when a row has no class, or several.
    """
    classes, Y = indicator(y, X, name)
    counts = np.asarray(Y.sum(axis=1)).ravel()
    if (counts != 1).any():
        row = int(np.argmax(counts != 1))
        raise ArgumentError(
            f"{name} needs one class for each row, got {int(counts[row])} in row {row}"
        )
    Y.eliminate_zeros()
    present, numbers = np.unique(Y.indices, return_inverse=True)
    return classes[present], numbers.astype(np.int64)


def _asarray(y: Any) -> Any:
    # NumPy reads what lies in its gaps.
    if isinstance(y, np.ma.MaskedArray) and y.mask.any():
        raise ArgumentError("y is a masked array; leave out the rows of its gaps")
    if sp.issparse(y):
        return _from_sparse(y)
    try:
        labels = np.asarray(y)
    except ValueError:  # lists of different lengths
        raise ArgumentError(_SEVERAL) from None
    if labels.dtype.kind == "O" and any(
        isinstance(each, _COLLECTIONS) for each in labels.flat
    ):
        raise ArgumentError(_SEVERAL)
    return labels


def _from_sparse(y: Any) -> Any:
    several = y.ndim == 2 and y.shape[1] > 1
    return sp.csr_array(y) if several else y.toarray()


def _multilabel(labels: Any, name: str) -> sp.csr_array:
    needed = "a matrix of labels must hold 0 and 1 only"
    if labels.dtype.kind not in "biuf":
        raise ArgumentError(f"{needed}, got dtype {labels.dtype}")
    values = labels.data if isinstance(labels, sp.csr_array) else labels
    other = values[~np.isin(values, (0, 1))]
    if other.size:
        raise ArgumentError(f"{needed}, got {other[0].item()!r}")
    # Checked before, because SciPy refuses some types of number, such as float16.
    Y = sp.csr_array(labels, dtype=np.float64, copy=True)
    Y.eliminate_zeros()
    counts = Y.sum(axis=0)
    if not ((counts > 0) & (counts < Y.shape[0])).any():
        raise ArgumentError(f"{name} needs a label that some rows have and others lack")
    return Y


def _single_label(labels: Array, name: str) -> tuple[Array, sp.csr_array]:
    _check_present(labels)
    if labels.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: labels must be classes")
    whole = labels.dtype.kind != "f" or np.isfinite(labels) & (
        labels == np.rint(labels)
    )
    if not np.all(whole):
        raise ArgumentError("labels must be classes, got numbers that are not whole")
    try:
        classes, columns = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ArgumentError(f"labels must be of one type: {error}") from error
    if len(classes) < 2:
        raise ArgumentError(
            f"{name} needs at least 2 classes, but y holds {len(classes)} class"
        )
    n = len(labels)
    ones = np.ones(n)
    return classes, sp.csr_array(
        (ones, columns, np.arange(n + 1)), shape=(n, len(classes))
    )


def _check_present(labels: Array) -> None:
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels], dtype=bool)
    elif labels.dtype.kind in "fM":
        missing = labels != labels
    else:
        return
    if missing.any():
        row = missing.argmax()
        raise ArgumentError(
            f"labels must be classes, but are missing in {missing.sum()} of "
            f"{len(labels)} rows: got {labels[row]} in row {row}"
        )


def _is_missing(label: Any) -> bool:
    """Tell None and what differs from itself, as NaN does, or refuses to be compared.

    The latter is what pandas does for its own marker.
    """
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
