"""Near duplicates within a collection."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import MAX_PAIRS, Bundle, Duplicates, hits_of
from fewbits.codes import hamming_distances


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
    return DuplicatesResponse(_groups(bundle, found.groups()), _pairs(found))


def _groups(bundle: Bundle, groups: list[IdArray]) -> list[list[dict[str, Any]]]:
    """Return the columns of the items of all groups, looked up at once."""
    if not groups:
        return []
    items, ends = bundle.collection, np.cumsum([len(rows) for rows in groups])
    apart = np.concatenate([_from_first(items.codes[rows]) for rows in groups])
    rows = np.concatenate(groups)
    (hits,) = hits_of(items, rows[None], distance=apart[None])
    return [
        hits[end - len(group) : end]
        for group, end in zip(groups, ends.tolist(), strict=True)
    ]


def _from_first(codes: NDArray[np.uint8]) -> NDArray[np.int32]:
    apart: NDArray[np.int32] = hamming_distances(codes[:1], codes)[0]
    return apart


def _pairs(found: Duplicates) -> list[dict[str, Any]]:
    pairs = [
        {"ids": ids, "distance": distance}
        for ids, distance in zip(
            found.ids.tolist(), found.distances.tolist(), strict=True
        )
    ]
    if found.vector_distances is None:
        return pairs
    return [
        {**pair, "vector_distance": apart}
        for pair, apart in zip(pairs, found.vector_distances.tolist(), strict=True)
    ]
