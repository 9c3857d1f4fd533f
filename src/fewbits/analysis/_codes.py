"""Codes and labels as the analyses take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import whole_number
from fewbits._labels import as_classes, as_label_rows
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.codes import as_codes, check_unused
from fewbits.errors import ArgumentError


def check_codes(codes: CodeArray, n_bits: int) -> CodeArray:
    """Return at least one code of exactly `n_bits` bits, the padding being zero."""
    codes = as_codes(codes, n_bits=whole_number(n_bits, "n_bits"))
    if not len(codes):
        raise ArgumentError("need at least one code, got none")
    check_unused(codes, n_bits, "codes")
    return codes


def sampled_rows(n: int, size: int, rng: np.random.Generator) -> IdArray | slice:
    """Return `size` of `n` rows in order, or all of them where there are no more."""
    if n <= size:
        return slice(None)
    rows: IdArray = np.sort(rng.choice(n, size, replace=False))
    return rows


def entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy in bits of coins that show heads with probability `shares`."""
    from scipy.special import entr

    result: NDArray[np.float64] = (entr(shares) + entr(1 - shares)) / np.log(2)
    return result


class Members(NamedTuple):
    """Pairs of an item and a class it belongs to, ordered by class, then by item.

    `classes` are those with items, or the numbers of the columns when labels are a
    matrix; `numbers` places in `classes`, rising, and `rows` the items.
    """

    classes: Array
    numbers: IdArray
    rows: IdArray


def read_members(labels: ArrayLike, n: int) -> Members:
    """Return the members of every class that has some."""
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
