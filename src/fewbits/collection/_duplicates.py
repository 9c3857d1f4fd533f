"""Near duplicates: items of one collection whose codes differ in few bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.codes import pair_distances
from fewbits.collection._rows import Mask, Rows
from fewbits.errors import ArgumentError
from fewbits.index import Index

_NUMBERS = 1 << 22  # of vectors at a time
_ITEMS = 10_000  # whose columns are looked up at once


@dataclass(frozen=True, eq=False, repr=False)
class DuplicatePairs:
    """Some pairs of near duplicates, in the order in which the items were added.

    Attributes
    ----------
    ids : ndarray of shape (n_pairs, 2)
        The item that was added first comes first.
    distances : ndarray of shape (n_pairs,), dtype int32
        Bits that differ.
    vector_distances : ndarray of shape (n_pairs,), dtype float64, or None
        Euclidean distances of the kept vectors, where these confirm pairs.
    """

    ids: NDArray[Any]
    distances: NDArray[np.int32]
    vector_distances: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.distances)

    def __getitem__(self, span: slice) -> Self:
        confirmed = self.vector_distances
        return type(self)(
            self.ids[span],
            self.distances[span],
            None if confirmed is None else confirmed[span],
        )

    def __repr__(self) -> str:
        return short_repr(self)

    def to_list(self) -> list[dict[str, Any]]:
        """Return ``ids``, ``distance`` and, if known, ``vector_distance`` of each."""
        columns = {"ids": self.ids.tolist(), "distance": self.distances.tolist()}
        if self.vector_distances is not None:
            columns["vector_distance"] = self.vector_distances.tolist()
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]


class DuplicateGroups:
    """Groups of items that pairs of near duplicates connect.

    Two items of a group need not be a pair: each may be one with a third. To remove
    duplicates, keep the first of each group.

    Attributes
    ----------
    offsets : ndarray of shape (n_groups + 1,), dtype int64
        Group `i` lies in ``ids[offsets[i]:offsets[i + 1]]``.
    ids : ndarray of shape (n_items,)
        Items of all groups in the order in which they were added, groups in that of
        their first items.
    n_pairs : int
        Pairs that connect them.
    """

    def __init__(
        self,
        ids: NDArray[Any],
        offsets: IdArray,
        n_pairs: int,
        rows: Rows | None = None,
        members: IdArray | None = None,
    ) -> None:
        self.ids, self.offsets, self.n_pairs = ids, offsets, n_pairs
        self._rows, self._members = rows, members

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, group: int) -> NDArray[Any]:
        number = range(len(self))[group]
        return self.ids[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"DuplicateGroups({len(self):,} groups of {len(self.ids):,} items)"

    @property
    def positions(self) -> IdArray:
        """Where the items are in `Collection.ids`."""
        rows, members = self._local()
        return rows.positions_of(members)

    def records(self) -> Iterator[list[dict[str, Any]]]:
        """Yield for each group its items, as hits of the first.

        Each has ``id``, ``distance``, the bits in which its code differs from that of
        the first, and ``columns``.
        """
        rows, members = self._local()
        sizes, start = np.diff(self.offsets), 0
        while start < len(sizes):  # some groups at a time
            many = np.cumsum(sizes[start:]) > _ITEMS
            stop = start + max(1, int(many.argmax()) if many.any() else len(many))
            first, last = self.offsets[start], self.offsets[stop]
            block = members[first:last]
            heads = np.repeat(members[self.offsets[start:stop]], sizes[start:stop])
            distances = pair_distances(rows.codes_at(block), rows.codes_at(heads))
            columns = rows.table_at(block, rows.columns).to_pylist()
            items = [
                {"id": id, "distance": distance, "columns": values}
                for id, distance, values in zip(
                    self.ids[first:last].tolist(),
                    distances.tolist(),
                    columns if rows.columns else [{}] * len(block),
                    strict=True,
                )
            ]
            for group in range(start, stop):
                a, b = self.offsets[group : group + 2] - first
                yield items[a:b]
            start = stop

    def _local(self) -> tuple[Rows, IdArray]:
        if self._rows is None or self._members is None:
            raise ArgumentError("groups from a server have their ids alone")
        return self._rows, self._members


class Duplicates:
    """Pairs of items whose codes differ in few bits, and the groups they make.

    Iterate for all pairs in blocks that fit in memory, each pair once, in the order of
    the items; `groups` keeps no pair, so that there may be any number.

    Examples
    --------
    >>> import numpy as np
    >>> import fewbits
    >>> col = fewbits.Collection.create(None, codes=np.zeros((9000, 1), np.uint8))
    >>> groups = col.duplicates(0).groups()
    >>> len(groups), len(groups[0]), groups.n_pairs
    (1, 9000, 40495500)
    """

    def __init__(
        self,
        rows: Rows,
        index: Index,
        radius: int,
        max_vector_distance: float | None,
        mask: Mask | None,
    ) -> None:
        self._rows, self._index, self._mask = rows, index, mask
        self._radius = check_count(radius, "radius", 0)
        self._farthest: float | None = None
        if (farthest := max_vector_distance) is not None:
            is_number = isinstance(farthest, Real) and not isinstance(farthest, bool)
            if not (is_number and 0 <= farthest < np.inf):
                raise ArgumentError(
                    f"max_vector_distance must be a number from 0 on, got {farthest!r}"
                )
            if rows.vector_dtype is None:
                raise ArgumentError(
                    "this collection keeps no vectors to confirm duplicates by: build "
                    "it with keep_vectors, or leave out max_vector_distance"
                )
            self._farthest = float(farthest)

    def __repr__(self) -> str:
        return f"Duplicates(radius={self._radius}: iterate, to_list(), groups())"

    def __iter__(self) -> Iterator[DuplicatePairs]:
        pairs = self._index.pairs_within(self._radius, allowed=self._mask, ordered=True)
        for distances, rows in pairs:
            between = None
            if self._farthest is not None:
                between = self._vector_distances(rows)
                near = between <= self._farthest
                rows, distances, between = rows[near], distances[near], between[near]
            if len(rows):
                yield DuplicatePairs(self._rows.ids_at(rows), distances, between)

    def to_list(self) -> list[dict[str, Any]]:
        """Return all pairs as a list of dicts, see `DuplicatePairs.to_list`."""
        return list(chain.from_iterable(pairs.to_list() for pairs in self))

    def to_arrow(self) -> Any:
        """Return all pairs as an Arrow table: ``first``, ``second`` and ``distance``.

        And ``vector_distance``, where vectors confirm pairs.
        """
        return self.table_of(list(self))

    def table_of(self, blocks: Sequence[DuplicatePairs]) -> Any:
        """Return some blocks of pairs as one Arrow table, see `to_arrow`."""
        import pyarrow as pa

        kind = self._rows.schema.field("_id").type
        fields = [("first", kind), ("second", kind), ("distance", pa.int32())]
        if self._farthest is not None:
            fields.append(("vector_distance", pa.float64()))
        schema = pa.schema(fields)
        tables = []
        for pairs in blocks:
            values = [
                pa.array(pairs.ids[:, 0], kind),
                pa.array(pairs.ids[:, 1], kind),
                pairs.distances,
            ]
            if pairs.vector_distances is not None:
                values.append(pairs.vector_distances)
            tables.append(pa.table(values, schema=schema))
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def groups(self, *, max_pairs: int | None = None) -> DuplicateGroups:
        """Return the groups of items that pairs connect.

        Parameters
        ----------
        max_pairs : int, default=None
            More pairs of different codes are an error, which bounds the time; where
            vectors confirm pairs, those of equal codes count, too. None takes any.

        Returns
        -------
        DuplicateGroups
        """
        confirm = None
        if (farthest := self._farthest) is not None:
            confirm = lambda rows: self._vector_distances(rows) <= farthest  # noqa: E731
        groups = self._index.groups_within(
            self._radius, allowed=self._mask, confirm=confirm, max_pairs=max_pairs
        )
        ids = self._rows.ids_at(groups.members)
        return DuplicateGroups(
            ids, groups.offsets, groups.n_pairs, self._rows, groups.members
        )

    def _vector_distances(self, rows: IdArray) -> NDArray[np.float64]:
        distances = np.empty(len(rows))
        for span in spans(len(rows), _NUMBERS // max(1, self._rows.n_features)):
            first, second = (self._rows.vectors_at(side) for side in rows[span].T)
            difference = first.astype(np.float64) - second
            squares = np.einsum("ij,ij->i", difference, difference)
            distances[span] = np.sqrt(squares)
        return distances
