"""Votes of neighbours that may have several labels each."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.classify._vote import Ballots, ballots_of, nearest_ballots
from fewbits.codes import Neighbours, as_codes
from fewbits.errors import ArgumentError

Shares = NDArray[np.float64]


def label_votes(
    neighbours: Neighbours, labels: ArrayLike, k: int | None = None
) -> Shares:
    """Return the share of the neighbours that have each of several labels.

    Parameters
    ----------
    neighbours : Neighbours
        Distances and rows of `labels`; entries of -1 do not vote.
    labels : array-like of shape (n, n_labels)
        1 where an item of the collection has the label of a column, else 0.
    k : int or None, default=None
        How many votes there are, shared among equally near neighbours as by `vote`.
        None: each neighbour has one vote.

    Returns
    -------
    ndarray of shape (n_queries, n_labels), dtype float64
        Between 0 and 1.

    Raises
    ------
    ArgumentError
        When a query has no neighbour at all, or a neighbour has no labels.

    Examples
    --------
    >>> found = Neighbours(np.array([[0, 1]]), np.array([[2, 0]]))
    >>> label_votes(found, [[1, 0], [0, 0], [1, 1]])
    array([[1. , 0.5]])
    """
    matrix = _label_matrix(labels, int(neighbours.ids.max(initial=-1)) + 1)
    return _shares(ballots_of(neighbours, k), matrix, len(neighbours.ids))


def nearest_label_votes(
    queries: CodeArray,
    database: CodeArray,
    labels: ArrayLike,
    k: int = 1,
    *,
    own: IdArray | None = None,
) -> Shares:
    """Return the share of the `k` nearest codes that have each of several labels.

    Codes as far away as the k-th share the votes that are left, as by `nearest_vote`.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width.
    labels : array-like of shape (n_database, n_labels)
        1 where an item has the label of a column, else 0.
    k : int, default=1
        How many votes there are; more than there are codes means all.
    own : ndarray of shape (n_queries,), dtype int64, default=None
        As of `nearest_vote`: the row of each query, which has no vote.

    Returns
    -------
    ndarray of shape (n_queries, n_labels), dtype float64
        Between 0 and 1.

    Raises
    ------
    ArgumentError
        When there are no codes, or no labels for one of them.

    Examples
    --------
    Two codes are equally near, and share the last vote:

    >>> codes = np.array([[0], [1], [2]], dtype=np.uint8)
    >>> nearest_label_votes(codes[:1], codes, [[1, 0], [1, 0], [1, 1]], k=2)
    array([[1.  , 0.25]])
    """
    queries, database = as_codes(queries), as_codes(database)
    matrix = _label_matrix(labels, len(database))
    shares = np.empty((len(queries), matrix.shape[1]))
    for span, ballots in nearest_ballots(queries, database, k, matrix.shape[1], own):
        shares[span] = _shares(ballots, matrix, span.stop - span.start)
    return shares


def _label_matrix(labels: ArrayLike, n_items: int) -> NDArray[Any]:
    matrix = np.asarray(labels)
    if matrix.ndim != 2 or len(matrix) < n_items:
        raise ArgumentError(
            f"labels must be a matrix with a row for each of {n_items} items, got "
            f"shape {matrix.shape}"
        )
    return matrix


def _shares(ballots: Ballots, labels: NDArray[Any], n_queries: int) -> Shares:
    from scipy.sparse import csr_array

    rows, place = np.unique(ballots.row, return_inverse=True)
    cast = ballots.votes.astype(np.float64), (ballots.query, place)
    votes = csr_array(cast, shape=(n_queries, len(rows)))
    return np.asarray(votes @ (labels[rows] > 0)) / votes.sum(axis=1)[:, None]
