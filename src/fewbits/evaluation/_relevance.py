"""Ground truth: the database items that are relevant to each query."""

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._labels import as_label_rows, check_same_kind
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import check_not_empty

Mask = NDArray[np.bool_]


class Relevance(ABC):
    """A truth matrix (n_queries, n_database) that is made a few rows at a time.

    Attributes
    ----------
    n_queries, n_database : int
    labelled : ndarray of shape (n_queries,), dtype bool
        False for queries that nothing is known about; every measure skips those.
    description : str
    """

    n_queries: int
    n_database: int
    labelled: Mask
    description: str

    @abstractmethod
    def block(self, span: slice) -> Mask:
        """Return the rows `span` of the matrix."""


@final
class _SharedLabel(Relevance):
    def __init__(self, query_labels: Array, database_labels: Array) -> None:
        n_queries = len(query_labels)
        names, numbers = np.unique(
            np.concatenate([query_labels, database_labels]), return_inverse=True
        )
        # The narrowest type keeps the comparison of all with all in the cache.
        numbers = numbers.astype(np.min_scalar_type(len(names)))
        self._queries: Array = numbers[:n_queries, None]
        self._database: Array = numbers[n_queries:]
        self.n_queries, self.n_database = n_queries, len(database_labels)
        self.labelled = np.ones(n_queries, np.bool_)
        self.description = "relevant: same label"

    def block(self, span: slice) -> Mask:
        mask: Mask = np.equal(self._queries[span], self._database)
        return mask


@final
class _SharedLabels(Relevance):
    def __init__(self, query_labels: Mask, database_labels: Mask) -> None:
        # float32 products are counts, exact up to 2**24 labels, and use BLAS.
        self._queries = query_labels.astype(np.float32)
        self._database = database_labels.astype(np.float32).T
        self.n_queries, self.n_database = len(query_labels), len(database_labels)
        self.labelled = np.asarray(query_labels.any(axis=1), np.bool_)
        self.description = "relevant: share a label"

    def block(self, span: slice) -> Mask:
        mask: Mask = np.greater(self._queries[span] @ self._database, 0)
        return mask


@final
class Listed(Relevance):
    """The relevant rows of query ``q`` are ``ids[offsets[q]:offsets[q + 1]]``."""

    def __init__(
        self, offsets: IdArray, ids: IdArray, n_database: int, description: str
    ) -> None:
        self._offsets, self._ids = offsets, ids
        self.n_queries, self.n_database = len(offsets) - 1, n_database
        self.labelled = np.ones(self.n_queries, np.bool_)
        self.description = description

    def block(self, span: slice) -> Mask:
        start, stop, _ = span.indices(self.n_queries)
        counts = np.diff(self._offsets[start : stop + 1])
        mask = np.zeros((stop - start, self.n_database), np.bool_)
        rows = np.repeat(np.arange(stop - start), counts)
        mask[rows, self._ids[self._offsets[start] : self._offsets[stop]]] = True
        return mask


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
        return _SharedLabels(queries.astype(np.bool_), database.astype(np.bool_))
    check_same_kind(queries, database, ("query labels", "database labels"))
    return _SharedLabel(queries, database)


def ground_truth(neighbours: ArrayLike, n_database: int) -> Relevance:
    """Call an item relevant when its row number is listed for the query.

    Parameters
    ----------
    neighbours : array-like of shape (n_queries, k), dtype integer
        Row numbers in the database, such as the ids of `exact_neighbours`. -1 pads.
    n_database : int

    Examples
    --------
    >>> ground_truth([[2, 0], [1, -1]], n_database=3).block(slice(0, 2))
    array([[ True, False,  True],
           [False,  True, False]])
    """
    ids = as_ids(neighbours, "neighbours")
    n_database = check_count(n_database, "n_database")
    if ids.size and not (ids.min() >= -1 and ids.max() < n_database):
        raise ArgumentError(
            f"neighbours must lie between 0 and {n_database - 1} (or be -1), "
            f"got {ids.min()} to {ids.max()}"
        )
    offsets = np.zeros(len(ids) + 1, np.int64)
    np.cumsum((ids >= 0).sum(axis=1), out=offsets[1:])
    text = f"relevant: the {ids.shape[1]} listed neighbours"
    return Listed(offsets, ids[ids >= 0], n_database, text)


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
