"""Labels as an indicator matrix."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from fewbits._labels import as_classes, as_label_rows, check_binary
from fewbits._typing import Array
from fewbits.errors import ArgumentError


def indicator(y: Any, X: Array, name: str) -> tuple[Array, sp.csr_array]:
    """Return the classes, and one 0/1 column for each; errors are of `name`."""
    # Labels are strings, whole numbers or booleans; or a matrix of 0 and 1, dense or
    # sparse, whose classes are the numbers of its columns.
    if y is None:
        raise ArgumentError(
            f"{name} requires y to be passed, but the target y is None: pass one label "
            "per row"
        )
    labels: Any
    if hasattr(y, "tocsr") and y.ndim == 2 and y.shape[1] > 1:
        labels = sp.csr_array(check_binary(y))
    else:
        labels = as_label_rows(y, "y" if np.ma.isMaskedArray(y) else "labels")
    try:
        check_consistent_length(X, labels)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    if labels.ndim == 2:
        # Checked before, because SciPy refuses some types of number, such as float16.
        Y = sp.csr_array(labels, dtype=np.float64, copy=True)
        Y.eliminate_zeros()
        counts = Y.sum(axis=0)
        if not ((counts > 0) & (counts < Y.shape[0])).any():
            raise ArgumentError(
                f"{name} needs a label that some rows have and others lack"
            )
        return np.arange(labels.shape[1]), Y
    n = len(labels)
    classes, columns = as_classes(labels, n)
    if len(classes) < 2:
        raise ArgumentError(
            f"{name} needs at least 2 classes, but y holds {len(classes)} class"
        )
    return classes, sp.csr_array(
        (np.ones(n), columns, np.arange(n + 1)), shape=(n, len(classes))
    )


def class_numbers(y: Any, X: Array, name: str) -> tuple[Array, NDArray[np.int64]]:
    """Return the classes that have rows, and the number of the class of each row."""
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
