"""Near duplicates: items of one collection whose codes differ in few bits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle._collection import CollectionMixin
from fewbits.bundle._items import Items
from fewbits.bundle._selection import selected
from fewbits.errors import ArgumentError
from fewbits.index import Groups, Index, Pairs

#: Pairs that are found at most.
MAX_PAIRS = 10_000_000
_NUMBERS = 1 << 22  # of vectors at a time


@dataclass(frozen=True, eq=False, repr=False)
class Duplicates:
    """Pairs of items whose codes differ in few bits, in the order of their rows.

    Attributes
    ----------
    distances : ndarray of shape (n_pairs,), dtype int32
        Bits that differ.
    rows : ndarray of shape (n_pairs, 2), dtype int64
        Rows of the collection, the smaller first.
    ids : ndarray of shape (n_pairs, 2)
        Their ids.
    vector_distances : ndarray of shape (n_pairs,), dtype float64, or None
        Euclidean distances of the kept vectors, where these confirm pairs.
    """

    distances: NDArray[np.int32]
    rows: IdArray
    ids: NDArray[Any]
    vector_distances: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.distances)

    def __repr__(self) -> str:
        return one_line(self)

    def groups(self) -> list[IdArray]:
        """Return the rows of items that are connected by pairs.

        Two items of a group need not be a pair: each may be one with a third.

        Returns
        -------
        list of ndarray of shape (n_items,), dtype int64
            Rows in rising order; groups in the order of their first rows. To remove
            duplicates, keep the first of each.
        """
        return list(Groups.of_pairs(self.rows))

    def records(self, chosen: slice = slice(None)) -> list[dict[str, Any]]:
        """Return ``ids``, ``distance`` and, if known, ``vector_distance`` of pairs."""
        columns = {"ids": self.ids[chosen], "distance": self.distances[chosen]}
        if self.vector_distances is not None:
            columns["vector_distance"] = self.vector_distances[chosen]
        values = zip(*(each.tolist() for each in columns.values()), strict=True)
        return [dict(zip(columns, each, strict=True)) for each in values]


class DuplicatesMixin(CollectionMixin):
    """Finds near duplicates within a collection."""

    def duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
        max_pairs: int = MAX_PAIRS,
    ) -> Duplicates:
        """Return all pairs of items whose codes differ in at most `radius` bits.

        `stream_duplicates` and `duplicate_groups` take any number of them.

        Parameters
        ----------
        radius : int
            Hamming distance in bits; 0 finds items of the same code.
        max_vector_distance : float, default=None
            Confirm each pair by the kept vectors: their Euclidean distance is at most
            this. None does not.
        filter, allowed : default=None
            Look at these items only, see `search`.
        max_pairs : int, default=10_000_000
            More pairs within `radius` are an error, since they need not fit in memory.

        Returns
        -------
        Duplicates
            All pairs, each once; ``groups()`` joins them.

        Raises
        ------
        ArgumentError
            When the radius is negative, there are more than `max_pairs` pairs, no
            vectors were kept to confirm by, or as in `search`.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> X = np.array([[1, 1, 1], [-1, -1, -1], [1, 1, -1], [-1, -1, -1]])
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(X)
        >>> found = bundle.duplicates(radius=1)
        >>> found.ids.tolist(), found.distances.tolist()
        ([[0, 2], [1, 3]], [1, 0])
        """
        max_pairs = check_count(max_pairs, "max_pairs")
        find = _finder(self, radius, max_vector_distance, filter, allowed)
        numbers, distances = _pairs(find.index, find.mask, find.radius, max_pairs)
        return find.confirmed(distances, self.collection.rows_of(numbers))

    def stream_duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
    ) -> Iterator[Duplicates]:
        """Return an iterator over the pairs of `duplicates`, as many as there are.

        Parameters
        ----------
        radius, max_vector_distance, filter, allowed
            As of `duplicates`.

        Yields
        ------
        Duplicates
            Some hundred thousand pairs; in all together each pair once, in the order of
            their rows. The time grows with the number of pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import PackedEncoder
        >>> codes = np.zeros((3, 1), np.uint8)
        >>> bundle = Bundle(PackedEncoder(8)).with_codes(codes)
        >>> [found.ids.tolist() for found in bundle.stream_duplicates(0)]
        [[[0, 1], [0, 2], [1, 2]]]
        """
        find = _finder(self, radius, max_vector_distance, filter, allowed)
        return find.stream()

    def duplicate_groups(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
        max_pairs: int | None = None,
    ) -> Groups:
        """Return the groups of items that pairs of `duplicates` connect.

        No pair is kept, so that any number of them will do, and equal codes cost
        nothing but sorting. To remove duplicates, keep the first of each group.

        Parameters
        ----------
        radius, max_vector_distance, filter, allowed
            As of `duplicates`.
        max_pairs : int, default=None
            More pairs of different codes are an error; with `max_vector_distance`,
            those of equal codes count, too. None takes any number.

        Returns
        -------
        fewbits.index.Groups
            Its members are rows of the collection.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import PackedEncoder
        >>> bundle = Bundle(PackedEncoder(8)).with_codes(np.zeros((9000, 1), np.uint8))
        >>> found = bundle.duplicate_groups(0)
        >>> len(found), len(found.members), found.n_pairs
        (1, 9000, 40495500)
        """
        find = _finder(self, radius, max_vector_distance, filter, allowed)
        found = find.index.groups_within(
            find.radius,
            allowed=find.mask,
            confirm=None if find.farthest is None else find.confirms,
            max_pairs=max_pairs,
        )
        return replace(found, members=self.collection.rows_of(found.members))


@dataclass(frozen=True)
class _Finder:
    """Finds pairs within a radius, and confirms them by vectors."""

    items: Items
    index: Index
    mask: NDArray[np.bool_] | None
    radius: int
    farthest: float | None

    def stream(self) -> Iterator[Duplicates]:
        """Yield pairs in order, and nothing in one block where there are none."""
        pairs = self.index.pairs_within(self.radius, allowed=self.mask, ordered=True)
        none = Pairs(np.empty(0, np.int32), np.empty((0, 2), np.int64))
        for distances, ids in chain([next(pairs, none)], pairs):
            yield self.confirmed(distances, self.items.rows_of(ids))

    def confirms(self, ids: IdArray) -> NDArray[np.bool_]:
        """Return which pairs of ids of the index the vectors confirm."""
        apart = _vector_distances(self.items, self.items.rows_of(ids))
        assert self.farthest is not None
        return np.asarray(apart <= self.farthest)

    def confirmed(self, distances: NDArray[np.int32], rows: IdArray) -> Duplicates:
        between = None
        if self.farthest is not None:
            between = _vector_distances(self.items, rows)
            near = between <= self.farthest
            rows, distances, between = rows[near], distances[near], between[near]
        return Duplicates(distances, rows, self.items.ids_at(rows), between)


def _finder(
    bundle: Any, radius: int, max_vector_distance: Any, filter: Any, allowed: Any
) -> _Finder:
    radius = check_count(radius, "radius", 0)
    items = bundle.collection
    farthest = _farthest(items, max_vector_distance)
    mask = selected(bundle, filter, allowed)
    return _Finder(items, bundle.index, mask, radius, farthest)


def _pairs(
    index: Index, mask: NDArray[np.bool_] | None, radius: int, max_pairs: int
) -> tuple[IdArray, NDArray[np.int32]]:
    """Return pairs of ids of the index, the smaller first, and their distances."""
    found = [Pairs(np.empty(0, np.int32), np.empty((0, 2), np.int64))]
    count = 0
    for pairs in index.pairs_within(radius, allowed=mask):
        count += len(pairs.distances)
        if count > max_pairs:
            raise ArgumentError(
                f"more than {max_pairs:,} pairs of items differ in at most {radius} "
                "bits: duplicate_groups joins and stream_duplicates yields any number; "
                "or give a smaller radius, or a filter"
            )
        found.append(pairs)
    distances = np.concatenate([each.distances for each in found])
    rows = np.concatenate([each.ids for each in found])
    order = np.lexsort(rows.T[::-1])
    return rows[order], distances[order]


def _farthest(items: Items, distance: Any) -> float | None:
    """Return the largest distance of vectors, None where these do not matter."""
    if distance is None:
        return None
    kinds = int | float | np.integer | np.floating
    right = isinstance(distance, kinds) and not isinstance(distance, bool)
    if not (right and 0 <= distance < np.inf):
        raise ArgumentError(
            f"max_vector_distance must be a number from 0 on, got {distance!r}"
        )
    if items.vectors is None:
        raise ArgumentError(
            "this collection keeps no vectors to confirm duplicates by: build it with "
            "keep_vectors, or leave out max_vector_distance"
        )
    return float(distance)


def _vector_distances(items: Items, rows: IdArray) -> NDArray[np.float64]:
    distances = np.empty(len(rows))
    sample = items.some_vectors(np.zeros(0, np.int64))
    assert sample is not None
    step = max(1, _NUMBERS // sample.shape[1])
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        first, second = (items.some_vectors(each) for each in rows[block].T)
        assert first is not None
        assert second is not None
        apart = first.astype(np.float64) - second
        distances[block] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return distances
