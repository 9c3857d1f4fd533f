"""Near duplicates within a collection."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import MAX_PAIRS, Bundle, hits_of
from fewbits.codes import pair_distances

_ITEMS = 10_000  # whose columns are looked up at once


@dataclass(frozen=True, eq=False)
class DuplicatesRequest:
    """Ask which items are in the collection twice, or nearly so.

    Parameters
    ----------
    radius : int
        Codes of duplicates differ in at most this many bits; 0 finds equal codes.
    max_vector_distance : float, default=None
        Confirm pairs by the kept vectors: their Euclidean distance is at most this.
    filter, allowed : default=None
        Look at these items only, see `SearchRequest`.
    max_pairs : int, default=10_000_000
        More pairs are an error.
    """

    radius: int
    max_vector_distance: float | None = None
    filter: Any = None
    allowed: Any = None
    max_pairs: int = MAX_PAIRS


@dataclass(frozen=True)
class DuplicatesResponse:
    """Groups of duplicates, and the pairs that they are made of.

    Attributes
    ----------
    groups : list of list of dict
        Items that are connected by pairs, in the order of the collection: ``id``,
        ``distance``, the bits in which its code differs from that of the first, and
        ``columns``. Keep the first of each group to remove duplicates.
    pairs : list of dict
        ``ids``, a list of two, their ``distance`` in bits and, where vectors confirm
        pairs, ``vector_distance``.
    """

    groups: list[list[dict[str, Any]]]
    pairs: list[dict[str, Any]]

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"groups": self.groups, "pairs": self.pairs}


def duplicates(bundle: Bundle, request: DuplicatesRequest) -> DuplicatesResponse:
    """Find items of a collection whose codes differ in few bits.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : DuplicatesRequest

    Returns
    -------
    DuplicatesResponse

    Raises
    ------
    ArgumentError
        As `fewbits.bundle.Bundle.duplicates`.
    """
    found = bundle.duplicates(
        request.radius,
        max_vector_distance=request.max_vector_distance,
        filter=request.filter,
        allowed=request.allowed,
        max_pairs=request.max_pairs,
    )
    groups = list(group_records(bundle, found.groups()))
    return DuplicatesResponse(groups, found.records())


def group_records(
    bundle: Bundle, groups: Iterable[IdArray]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of each group of rows, as `DuplicatesResponse` has them.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    groups : iterable of ndarray of shape (n_items,)
        Such as `fewbits.bundle.Bundle.duplicate_groups`.

    Yields
    ------
    list of dict
        ``id``, ``distance`` and ``columns`` of an item.
    """
    some: list[IdArray] = []
    n_items = 0
    for rows in groups:
        some.append(rows)
        n_items += len(rows)
        if n_items >= _ITEMS:
            yield from _looked_up(bundle, some)
            some, n_items = [], 0
    if some:
        yield from _looked_up(bundle, some)


def _looked_up(bundle: Bundle, groups: list[IdArray]) -> Iterator[list[dict[str, Any]]]:
    items, rows = bundle.collection, np.concatenate(groups)
    first = np.repeat([each[0] for each in groups], [len(each) for each in groups])
    apart = pair_distances(items.codes_at(rows), items.codes_at(first))
    (hits,) = hits_of(items, rows[None], distance=apart[None])
    remaining = iter(hits)
    for group in groups:
        yield list(islice(remaining, len(group)))
