"""The class of an item by the votes of its neighbours."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import as_classes
from fewbits._typing import IdArray
from fewbits.codes import Neighbours
from fewbits.errors import ArgumentError


class Votes(NamedTuple):
    """The winning class of every query, and the share of the votes it got."""

    labels: NDArray[Any]
    shares: NDArray[np.float64]


def vote(neighbours: Neighbours, labels: ArrayLike) -> Votes:
    """Return the class that most neighbours have.

    Of classes with equally many votes the one whose voters are nearer in sum wins, and
    of those the one that comes first in sorted order.

    Parameters
    ----------
    neighbours : Neighbours
        Distances and rows of `labels`; entries of -1 do not vote.
    labels : array-like of shape (n,)
        The class of every item of the collection.

    Returns
    -------
    Votes
        ``labels`` of shape (n_queries,) and ``shares`` between 0 and 1.

    Raises
    ------
    ArgumentError
        When a query has no neighbour at all, or a neighbour has no label.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.codes import hamming_topk
    >>> codes = np.array([[0], [1], [255]], dtype=np.uint8)
    >>> vote(hamming_topk(codes[:1], codes, k=3), ["low", "low", "high"]).labels
    array(['low'], dtype='<U4')
    """
    named = np.asarray(labels)
    _check_labels(named, neighbours.ids)
    classes, numbers = as_classes(named, len(named))
    votes = neighbours.ids >= 0
    if not votes.any(axis=1).all():
        raise ArgumentError("a query without neighbours has no votes to count")
    shape = len(neighbours.ids), len(classes)
    query, place = np.nonzero(votes)
    ballots = query * len(classes) + numbers[neighbours.ids[query, place]]
    distances = neighbours.distances[query, place]
    counts = np.bincount(ballots, minlength=shape[0] * shape[1]).reshape(shape)
    spread = np.bincount(ballots, distances, shape[0] * shape[1]).reshape(shape)
    most = counts == counts.max(axis=1, keepdims=True)
    winner = np.where(most, spread, np.inf).argmin(axis=1)
    shares = counts.max(axis=1) / votes.sum(axis=1)
    return Votes(classes[winner], shares)


def _check_labels(labels: NDArray[Any], rows: IdArray) -> None:
    if labels.ndim != 1:
        raise ArgumentError(f"labels must be a list, got shape {labels.shape}")
    needed = int(rows.max(initial=-1)) + 1
    if len(labels) < needed:
        raise ArgumentError(
            f"every item needs a label: got {len(labels)} for at least {needed} items"
        )
