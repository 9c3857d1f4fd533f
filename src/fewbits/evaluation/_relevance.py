"""Ground truth: the database items that are relevant to each query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_label_rows, check_same_kind
from fewbits._repr import short_repr
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import check_not_empty

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Relevance:
    """A truth matrix (n_queries, n_database) that is made a few rows at a time.

    Attributes
    ----------
    n_queries, n_database : int
    labelled : ndarray of shape (n_queries,), dtype bool
        False for queries that nothing is known about; every measure skips those.
    description : str
    block : callable
        Returns the rows of a slice of the matrix.
    """

    n_queries: int
    n_database: int
    labelled: Mask
    description: str
    block: Callable[[slice], Mask]

    __repr__ = short_repr


def same_label(query_labels: ArrayLike, database_labels: ArrayLike) -> Relevance:
    """Call an item relevant when it shares a label with the query.

    Parameters
    ----------
    query_labels : array-like of shape (n_queries,) or (n_queries, n_labels)
        One label per query, of any type that sorts, or a 0/1 indicator matrix for
        several labels per query.
    database_labels : array-like of shape (n_database,) or (n_database, n_labels)
        In the same form.

    Returns
    -------
    Relevance
        Queries without any label (rows of zeros) are marked, and every measure skips
        and counts them.

    Raises
    ------
    ArgumentError
        When the two differ in form, or are empty.

    Examples
    --------
    >>> same_label(["cat", "dog"], ["dog", "owl"]).block(slice(0, 2))
    array([[False, False],
           [ True, False]])
    >>> same_label([[1, 0], [0, 0]], [[1, 1], [0, 1]]).labelled
    array([ True, False])
    """
    queries = as_label_rows(query_labels, "query labels")
    database = as_label_rows(database_labels, "database labels")
    if queries.ndim != database.ndim:
        raise ArgumentError(
            "labels of both sides must have the same number of dimensions, got "
            f"{queries.shape} and {database.shape}"
        )
    check_not_empty(queries, "query labels")
    check_not_empty(database, "database labels")
    if queries.ndim == 2:
        if queries.shape[1] != database.shape[1]:
            raise ArgumentError(
                f"queries have {queries.shape[1]} label columns, "
                f"the database has {database.shape[1]}"
            )
        labelled = np.asarray((queries > 0).any(axis=1), np.bool_)
        # float32 products are counts, exact up to 2**24 labels, and use BLAS.
        left, right = queries.astype(np.float32), database.astype(np.float32).T
        return Relevance(
            len(queries),
            len(database),
            labelled,
            "relevant: share a label",
            lambda span: np.greater(left[span] @ right, 0),
        )
    check_same_kind(queries, database, ("query labels", "database labels"))
    both = np.concatenate([queries, database])
    names, numbers = np.unique(both, return_inverse=True)
    # The narrowest type keeps the comparison of all with all in the cache.
    numbers = numbers.astype(np.min_scalar_type(len(names)))
    asking, items = numbers[: len(queries), None], numbers[len(queries) :]
    return Relevance(
        len(queries),
        len(database),
        np.ones(len(queries), np.bool_),
        "relevant: same label",
        lambda span: np.equal(asking[span], items),
    )


def listed(
    offsets: IdArray, ids: IdArray, n_database: int, description: str
) -> Relevance:
    """Call the rows ``ids[offsets[q]:offsets[q + 1]]`` relevant to query ``q``."""
    n_queries = len(offsets) - 1

    def block(span: slice) -> Mask:
        start, stop, _ = span.indices(n_queries)
        counts = np.diff(offsets[start : stop + 1])
        mask = np.zeros((stop - start, n_database), np.bool_)
        rows = np.repeat(np.arange(stop - start), counts)
        mask[rows, ids[offsets[start] : offsets[stop]]] = True
        return mask

    labelled = np.ones(n_queries, np.bool_)
    return Relevance(n_queries, n_database, labelled, description, block)


def as_ids(neighbours: ArrayLike, name: str) -> IdArray:
    """Return a matrix of row numbers, no number twice in a row (but -1)."""
    ids = np.asarray(neighbours)
    if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.size == 0:
        raise ArgumentError(
            f"{name} must be a matrix of row numbers (n_queries, k), "
            f"got dtype {ids.dtype} and shape {ids.shape}"
        )
    ids = ids.astype(np.int64, copy=False)
    ordered = np.sort(ids, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
        raise ArgumentError(f"{name} hold the same row number twice for one query")
    return ids
