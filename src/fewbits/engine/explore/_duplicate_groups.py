"""Groups of duplicates: how many there are, and the first of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits.bundle import Bundle
from fewbits.engine._duplicates import group_records
from fewbits.index import Groups


@dataclass(frozen=True, eq=False)
class DuplicateGroupsRequest:
    """Ask for groups of near duplicates.

    Parameters
    ----------
    radius : int
        Codes of duplicates differ in at most this many bits.
    filter, allowed : default=None
        Look at these items only, see `fewbits.engine.SearchRequest`.
    max_vector_distance : float, default=None
        Confirm pairs by the kept vectors: their Euclidean distance is at most this.
    max_groups : int, default=50
        Groups that are shown, the largest first; 0 only counts them.
    max_items : int, default=None
        Items of a group that are shown, the first; None shows all.
    max_pairs : int, default=None
        More pairs are an error, see `fewbits.bundle.Bundle.duplicate_groups`.
    """

    radius: int
    filter: Any = None
    allowed: Any = None
    max_vector_distance: float | None = None
    max_groups: int = 50
    max_items: int | None = None
    max_pairs: int | None = None

    def groups(self, bundle: Bundle) -> Groups:
        """Return all groups that are asked for, as rows of the collection."""
        return bundle.duplicate_groups(
            self.radius,
            max_vector_distance=self.max_vector_distance,
            filter=self.filter,
            allowed=self.allowed,
            max_pairs=self.max_pairs,
        )


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
    sizes : list of int
        Items in each of these groups, shown or not.
    """

    n_groups: int
    n_items: int
    n_pairs: int
    groups: list[list[dict[str, Any]]]
    sizes: list[int]

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "n_groups": self.n_groups,
            "n_items": self.n_items,
            "n_pairs": self.n_pairs,
            "groups": self.groups,
            "sizes": self.sizes,
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
        As `fewbits.bundle.Bundle.duplicate_groups`.

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
    groups = request.groups(bundle)
    shown = [groups[number] for number in largest_first(groups)[: request.max_groups]]
    records = group_records(bundle, (rows[: request.max_items] for rows in shown))
    return DuplicateGroupsResponse(
        n_groups=len(groups),
        n_items=len(groups.members),
        n_pairs=groups.n_pairs,
        groups=list(records),
        sizes=[len(rows) for rows in shown],
    )


def largest_first(groups: Groups) -> list[int]:
    """Return the numbers of groups in the order in which they are shown."""
    order: list[int] = np.argsort(-np.diff(groups.offsets), kind="stable").tolist()
    return order
