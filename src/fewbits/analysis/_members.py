"""Membership of items in classes, with one label an item or several."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewbits._labels import as_classes, as_label_rows
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError


class Members(NamedTuple):
    """Pairs of an item and a class it belongs to, ordered by class, then by item.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Those with items; the numbers of the columns when labels are a matrix.
    numbers : ndarray of shape (n_members,), dtype int64
        Places in `classes`, rising.
    rows : ndarray of shape (n_members,), dtype int64
        Items.
    """

    classes: Array
    numbers: IdArray
    rows: IdArray


def read_members(labels: ArrayLike, n: int) -> Members:
    """Return the members of every class that has some.

    Parameters
    ----------
    labels : array-like of shape (n,) or (n, n_labels)
        A class for each item, or 0 and 1 for each item and label.
    n : int
        Number of items.
    """
    array = as_label_rows(labels, n=n)
    if array.ndim != 2:
        classes, numbers = as_classes(array, n)
        rows = np.argsort(numbers, kind="stable")
        return Members(classes, numbers[rows], rows)
    columns, rows = np.nonzero(array.T)
    classes, numbers = np.unique(columns, return_inverse=True)
    if not len(classes):
        raise ArgumentError("no item has a label")
    return Members(classes, numbers.astype(np.int64), rows)
