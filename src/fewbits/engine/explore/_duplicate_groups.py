"""Groups of duplicates: how many there are, and the first of them."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import MAX_PAIRS, Bundle, hits_of
from fewbits.codes import hamming_distances


@dataclass(frozen=True, eq=False)
class DuplicateGroupsRequest:
    """Ask for groups of near duplicates.

    Parameters
    ----------
    radius : int
        Codes of duplicates differ in at most this many bits.
    filter : str or pyarrow.compute.Expression, default=None
        Look at these items only.
    max_groups : int, default=50
        Groups that are shown, the largest first; 0 only counts them.
    max_pairs : int, default=10_000_000
        More pairs are an error.
    """

    radius: int
    filter: Any = None
    max_groups: int = 50
    max_pairs: int = MAX_PAIRS


@dataclass(frozen=True)
class DuplicateGroupsResponse:
    """Counts over all groups, and some of them.

    Attributes
    ----------
    n_groups, n_items, n_pairs : int
        All groups, the items in them, and pairs of items within the radius. All but one
        item of each group could go: ``n_items - n_groups``.
    groups : list of list of dict
        The items of a group in the order of the collection: ``id``, ``distance``, the
        bits in which its code differs from that of the first, and ``columns``.
    """

    n_groups: int
    n_items: int
    n_pairs: int
    groups: list[list[dict[str, Any]]]

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "n_groups": self.n_groups,
            "n_items": self.n_items,
            "n_pairs": self.n_pairs,
            "groups": self.groups,
        }


def duplicate_groups(
    bundle: Bundle, request: DuplicateGroupsRequest
) -> DuplicateGroupsResponse:
    """Count groups of near duplicates, and show the largest.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : DuplicateGroupsRequest

    Returns
    -------
    DuplicateGroupsResponse

    Raises
    ------
    ArgumentError
        As `fewbits.bundle.Bundle.duplicates`.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.bundle import Bundle
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    >>> bundle = bundle.with_items([[1, 1], [1, -1], [2, 2]])
    >>> duplicate_groups(bundle, DuplicateGroupsRequest(0)).n_items
    2
    """
    found = bundle.duplicates(
        request.radius, filter=request.filter, max_pairs=request.max_pairs
    )
    groups = found.groups()
    shown = sorted(groups, key=len, reverse=True)[: request.max_groups]
    return DuplicateGroupsResponse(
        len(groups), sum(map(len, groups)), len(found.distances), _items(bundle, shown)
    )


def _items(bundle: Bundle, groups: list[IdArray]) -> list[list[dict[str, Any]]]:
    if not groups:
        return []
    codes, rows = bundle.collection.codes, np.concatenate(groups)
    apart = [hamming_distances(codes[each[:1]], codes[each])[0] for each in groups]
    (hits,) = hits_of(
        bundle.collection, rows[None], distance=np.concatenate(apart)[None]
    )
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    return [hits[start:end] for start, end in pairwise(ends)]
