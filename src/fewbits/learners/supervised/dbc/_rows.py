"""Rows sorted by class, in an order that only their content decides."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.learners._core._rows import as_single


def sort_by_class(
    X: Array, labels: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the rows sorted by class, and the sizes of the classes.

    Sums of floats depend on the order of their terms, and coordinate descent on that of
    the classes. Neither the order of X nor the names of the classes has a say here:
    rows are sorted by their bytes, and classes by their means, which keeps their order
    whatever the units of X, and then by their rows.
    """
    rows = as_single(X) + np.float32(0)  # no negative zeros
    key = rows.view(f"V{rows.shape[1] * rows.itemsize}")[:, 0]
    order = np.argsort(key, kind="stable")
    rows, labels = rows[order], labels[order]
    classes = [rows[labels == label] for label in np.unique(labels)]
    classes.sort(key=_by_mean)
    sizes = np.array([len(members) for members in classes], dtype=np.int64)
    return np.concatenate(classes), sizes


def _by_mean(members: NDArray[np.float32]) -> tuple[list[float], bytes]:
    return members.mean(axis=0, dtype=np.float64).tolist(), members.tobytes()
