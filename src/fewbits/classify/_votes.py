"""The class of an item by the votes of its neighbours.

Codes are often equally far away, and a collection is often sorted by class: if the rows
that come first were to vote, their class would win. So those as far away as the k-th
neighbour share the votes that are left, and the order of the rows does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._labels import voting_classes
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import Neighbours, as_codes, hamming_distances, hamming_topk
from fewbits.errors import ArgumentError

_BLOCK = 1 << 22  # distances, or counts of votes, at once


class Votes(NamedTuple):
    """The winning class of every query, and the share of the votes it got.

    Two arrays of shape (n_queries,); shares lie between 0 and 1.
    """

    labels: NDArray[Any]
    shares: NDArray[np.float64]

    def __repr__(self) -> str:
        return short_repr(self)


class _Ballots(NamedTuple):
    """Who votes for which query of a block, how far away, with how many votes.

    Votes are whole numbers, so that equal counts are equal: where `t` rows share the
    `r` votes left, each has `r` of them, and a nearer one has `t`.
    """

    query: IdArray
    row: IdArray
    distance: NDArray[Any]
    votes: IdArray


def vote(neighbours: Neighbours, labels: ArrayLike, k: int | None = None) -> Votes:
    """Return the class that most neighbours have.

    Of classes with equally many votes the one whose voters are nearer in sum wins, and
    of those the one that comes first in sorted order.

    Parameters
    ----------
    neighbours : Neighbours
        Distances and rows of `labels`; entries of -1 do not vote.
    labels : array-like of shape (n,)
        The class of every item of the collection. Where it is missing (None, NaN, a
        blank), the item has no vote; a warning says how many have none.
    k : int or None, default=None
        How many votes there are. Neighbours as far away as the k-th share those that
        nearer ones leave, so give as many neighbours as may be equally near. None: each
        neighbour has one vote.

    Returns
    -------
    Votes

    Raises
    ------
    ArgumentError
        When a query has no neighbour with a label, or there are fewer labels than rows.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.codes import hamming_topk
    >>> codes = np.array([[0], [1], [255]], dtype=np.uint8)
    >>> vote(hamming_topk(codes[:1], codes, k=3), ["low", "low", "high"]).labels
    array(['low'], dtype='<U4')
    """
    classes, numbers = voting_classes(labels)
    n_items = int(neighbours.ids.max(initial=-1)) + 1
    if len(numbers) < n_items:
        raise ArgumentError(
            f"every item needs a label: got {len(numbers)} for at least {n_items} items"
        )
    if (numbers < 0).any():
        votes = (neighbours.ids >= 0) & (numbers[neighbours.ids] >= 0)
        ids = np.where(votes, neighbours.ids, -1)
        neighbours = Neighbours(neighbours.distances, ids)
    winners, shares = _winners(
        _ballots_of(neighbours, k), numbers, len(neighbours.ids), len(classes)
    )
    return Votes(classes[winners], shares)


def nearest_vote(
    queries: CodeArray,
    database: CodeArray,
    labels: ArrayLike,
    k: int = 1,
    *,
    query_rows: IdArray | None = None,
) -> Votes:
    """Return the class that most of the `k` nearest codes have.

    Codes as far away as the k-th share the votes that are left, so that the answer does
    not depend on the order of the rows. Ties between classes are decided as by `vote`.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width.
    labels : array-like of shape (n_database,)
        The class of every code, as in `vote`.
    k : int, default=1
        How many votes there are; more than there are codes means all.
    query_rows : ndarray of shape (n_queries,), dtype int64, default=None
        The row of each query that is a code of the database, where it has no vote; -1
        for others.

    Returns
    -------
    Votes

    Raises
    ------
    ArgumentError
        When there are no codes, or not one label for each of them.

    Examples
    --------
    Three codes are equally near, and two of them are of one class:

    >>> import numpy as np
    >>> codes = np.array([[1], [2], [4]], dtype=np.uint8)
    >>> nearest_vote(np.array([[0]], np.uint8), codes, ["ant", "bee", "bee"], k=1)
    Votes(labels=array(['bee'], dtype='<U3'), shares=array([0.66666667]))
    """
    queries, database = as_codes(queries), as_codes(database)
    classes, numbers = voting_classes(labels, len(database))
    if (numbers < 0).any():
        voters = np.flatnonzero(numbers >= 0)
        if query_rows is not None:  # a query without a label is not among the voters
            places = np.minimum(np.searchsorted(voters, query_rows), len(voters) - 1)
            query_rows = np.where(voters[places] == query_rows, places, -1)
        database, numbers = database[voters], numbers[voters]
    winners, shares = np.empty(len(queries), np.int64), np.empty(len(queries))
    n_classes = len(classes)
    for span, ballots in _nearest_ballots(queries, database, k, n_classes, query_rows):
        n = span.stop - span.start
        winners[span], shares[span] = _winners(ballots, numbers, n, n_classes)
    return Votes(classes[winners], shares)


def _nearest_ballots(
    queries: CodeArray,
    database: CodeArray,
    k: int,
    n_classes: int,
    query_rows: IdArray | None,
) -> Iterator[tuple[slice, _Ballots]]:
    """Yield, for blocks of queries, the votes of the `k` nearest codes."""
    query_rows = np.full(len(queries), -1) if query_rows is None else query_rows
    # A query that is in the database is as near to itself as can be.
    itself = (query_rows >= 0).astype(np.int64)
    if len(database) <= itself.max(initial=0):
        other = "other " if len(database) else ""
        raise ArgumentError(f"without {other}codes there are no votes to count")
    counts = np.minimum(check_count(k, "k"), len(database) - itself)
    for span in spans(len(queries), _BLOCK // max(len(database), n_classes)):
        block, places = queries[span], counts[span] + itself[span]
        nearest = hamming_topk(block, database, int(places.max())).distances
        last = np.take_along_axis(nearest, places[:, None] - 1, axis=1)
        distances = hamming_distances(block, database)
        inside = np.flatnonzero(itself[span])
        distances[inside, query_rows[span][inside]] = np.iinfo(distances.dtype).max
        query, row = np.nonzero(distances <= last)
        ballots = _shared(query, row, distances[query, row], last[:, 0], counts[span])
        yield span, ballots


def _ballots_of(neighbours: Neighbours, k: int | None) -> _Ballots:
    """Return the votes of neighbours that were found."""
    is_hit = neighbours.ids >= 0
    if not is_hit.any(axis=1).all():
        raise ArgumentError(
            "a query without neighbours, or none with a label, has no votes to count"
        )
    counts = is_hit.sum(axis=1)
    k_of = counts if k is None else np.minimum(counts, check_count(k, "k"))
    distances = np.where(is_hit, neighbours.distances, np.inf)
    last = np.take_along_axis(np.sort(distances), k_of[:, None] - 1, axis=1)
    query, place = np.nonzero(is_hit & (distances <= last))
    row, distance = neighbours.ids[query, place], distances[query, place]
    return _shared(query, row, distance, last[:, 0], k_of)


def _shared(
    query: IdArray, row: IdArray, distance: NDArray[Any], last: NDArray[Any], k: Any
) -> _Ballots:
    """Share `k` votes among those within the distance `last` of every query."""
    tied = distance == last[query]
    n_tied = np.bincount(query, tied, len(last)).astype(np.int64)
    left = k - np.bincount(query, ~tied, len(last)).astype(np.int64)
    return _Ballots(query, row, distance, np.where(tied, left[query], n_tied[query]))


def _winners(
    ballots: _Ballots, numbers: IdArray, n_queries: int, n_classes: int
) -> tuple[IdArray, NDArray[np.float64]]:
    """Return the number of the class that won every query, and its share."""
    box = ballots.query * n_classes + numbers[ballots.row]
    shape, size = (n_queries, n_classes), n_queries * n_classes
    counts = np.bincount(box, ballots.votes, size).reshape(shape)
    spread = np.bincount(box, ballots.votes * ballots.distance, size).reshape(shape)
    most = counts.max(axis=1, keepdims=True)
    winners = np.where(counts == most, spread, np.inf).argmin(axis=1)
    return winners, most[:, 0] / counts.sum(axis=1)


def label_votes(
    neighbours: Neighbours, labels: ArrayLike, k: int | None = None
) -> NDArray[np.float64]:
    """Return the share of the neighbours that have each of several labels.

    `labels` are 1 where an item of the collection has the label of a column, else 0.
    Votes are shared as by `vote`.
    """
    matrix = _label_matrix(labels, int(neighbours.ids.max(initial=-1)) + 1)
    return _shares(_ballots_of(neighbours, k), matrix, len(neighbours.ids))


def nearest_label_votes(
    queries: CodeArray,
    database: CodeArray,
    labels: ArrayLike,
    k: int = 1,
    *,
    query_rows: IdArray | None = None,
) -> NDArray[np.float64]:
    """Return the share of the `k` nearest codes that have each of several labels.

    `labels` are as in `label_votes`; the rest is as in `nearest_vote`.
    """
    queries, database = as_codes(queries), as_codes(database)
    matrix = _label_matrix(labels, len(database))
    shares = np.empty((len(queries), matrix.shape[1]))
    for span, ballots in _nearest_ballots(
        queries, database, k, matrix.shape[1], query_rows
    ):
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


def _shares(
    ballots: _Ballots, labels: NDArray[Any], n_queries: int
) -> NDArray[np.float64]:
    from scipy.sparse import csr_array

    rows, place = np.unique(ballots.row, return_inverse=True)
    cast = ballots.votes.astype(np.float64), (ballots.query, place)
    votes = csr_array(cast, shape=(n_queries, len(rows)))
    return np.asarray(votes @ (labels[rows] > 0)) / votes.sum(axis=1)[:, None]
