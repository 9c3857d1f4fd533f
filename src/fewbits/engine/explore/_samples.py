"""Samples of a collection, so that what a page asks for has bounded costs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewbits._typing import IdArray
from fewbits.bundle import Bundle


def sampled_rows(n: int, most: int) -> IdArray:
    """Return all rows, or `most` that are drawn with a fixed seed, in order.

    Examples
    --------
    >>> sampled_rows(3, 5)
    array([0, 1, 2])
    >>> len(sampled_rows(1000, 5))
    5
    """
    if n <= most:
        return np.arange(n)
    rows: IdArray = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return rows


def affordable(most: int, n_bits: int, usual: int, power: int) -> int:
    """Return how many items cost as much as `most` of codes of `usual` bits.

    Parameters
    ----------
    most : int
    n_bits : int
    usual : int
        Shorter codes take `most`, too.
    power : int
        By which power of the length costs grow.

    Examples
    --------
    >>> affordable(10_000, 64, 512, 2), affordable(10_000, 1024, 512, 2)
    (10000, 2500)
    """
    return max(1, int(most * min(1.0, usual / n_bits) ** power))


def words_of(bundle: Bundle, rows: IdArray) -> Sequence[str | list[str]] | None:
    """Return the texts of items, or their labels; None where there are neither.

    A label is one word, however many it is written with.
    """
    items, column = bundle.collection, bundle.label_column
    if bundle.item_kind == "texts" and bundle.raw_column in items.columns:
        texts = items.column(bundle.raw_column, rows)
        return ["" if each is None else str(each) for each in texts]
    if column is None:
        return None
    return [_labels(each) for each in items.column(column, rows)]


def _labels(given: Any) -> list[str]:
    if given is None:
        return []
    several = isinstance(given, list | tuple | np.ndarray)
    return [str(each) for each in given] if several else [str(given)]
