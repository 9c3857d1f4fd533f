"""A run of codes and ids that does not change."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import frozen_array, read_only
from fewbits._live import LiveRows
from fewbits._typing import CodeArray, IdArray
from fewbits.index._ids import rising
from fewbits.index._lazy_tables import TableCache


@dataclass(frozen=True, eq=False)
class Segment:
    """Codes with ids. A value: additions and removals make another.

    A *row* counts in the order given, a *place* in the order of the ids, in which ties
    are answered. An index compares with `codes`, which lie in the order of places.

    Parameters
    ----------
    code_room, id_room : ndarray
        The codes (n, n_bytes) and ids (n,), and perhaps room for more. It belongs to
        the last that `added` made; what lies below `size` is never written again.
    size : int
        How many there are, removed ones included.
    order : ndarray or None
        The row of each place; None where ids rise with the rows.
    live : ndarray of bool or None
        The rows that are not removed; None where all are there.
    tables : TableCache
        Tables of `codes`.
    """

    code_room: CodeArray
    id_room: IdArray
    size: int
    order: IdArray | None
    live: NDArray[np.bool_] | None = None
    tables: TableCache = field(default_factory=TableCache, repr=False)

    @classmethod
    def of(cls, codes: CodeArray, ids: IdArray) -> Self:
        # The caller's arrays may change later; memory maps stay what they are.
        codes, ids = frozen_array(codes), frozen_array(ids)
        return cls(codes, ids, len(ids), None if rising(ids) else np.argsort(ids))

    def __len__(self) -> int:
        return self.size

    @cached_property
    def n_live(self) -> int:
        return self.size if self.live is None else int(np.count_nonzero(self.live))

    @property
    def codes(self) -> CodeArray:
        """All codes, by place."""
        return self._by_place[0]

    @property
    def ids(self) -> IdArray:
        """All ids, by place: they rise."""
        return self._by_place[1]

    @cached_property
    def live_places(self) -> NDArray[np.bool_] | None:
        """The places that are not removed, None for all."""
        if self.live is None or self.order is None:
            return self.live
        return read_only(self.live[self.order])

    @cached_property
    def _live_rows(self) -> LiveRows:
        return LiveRows(self.live)

    @cached_property
    def given(self) -> tuple[CodeArray, IdArray]:
        """Codes and ids that are not removed, in the order given, read-only."""
        codes, ids = self.code_room[: self.size], self.id_room[: self.size]
        if self.live is not None:
            codes, ids = codes[self.live], ids[self.live]
        return read_only(codes), read_only(ids)

    @cached_property
    def _by_place(self) -> tuple[CodeArray, IdArray]:
        codes, ids = self.code_room[: self.size], self.id_room[: self.size]
        if self.order is not None:
            codes, ids = codes[self.order], ids[self.order]
        return read_only(codes), read_only(ids)

    def rows(self, places: IdArray) -> IdArray:
        """Turn places into rows among those that are not removed; -1 stays."""
        rows = places if self.order is None else take(self.order, places)
        return self._live_rows.rows(rows)

    def places(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Turn a mask over the rows that are not removed into one over the places."""
        if self.live is not None:
            every = np.zeros(self.size, np.bool_)
            every[self.live] = mask
            mask = every
        return mask if self.order is None else mask[self.order]

    def added(self, codes: CodeArray, ids: IdArray) -> Self:
        """Append; while there is room, what is here is not copied."""
        start, size = self.size, self.size + len(ids)
        code_room, id_room = self.code_room, self.id_room
        if size > len(code_room) or not code_room.flags.writeable:
            code_room, id_room = self._roomier(max(size, 2 * start))
        code_room[start:size], id_room[start:size] = codes, ids
        # Where ids rise with the rows, looking at the new ones is enough.
        rises = self.order is None and rising(id_room[max(0, start - 1) : size])
        order = None if rises else np.argsort(id_room[:size])
        live = None if self.live is None else np.append(self.live, [True] * len(ids))
        return type(self)(code_room, id_room, size, order, live)

    def without(self, places: IdArray) -> Self:
        """Mark some places as removed; less than half a segment is made anew."""
        live = np.ones(self.size, np.bool_) if self.live is None else self.live.copy()
        live[places if self.order is None else self.order[places]] = False
        marked = replace(self, live=live)
        return marked if 2 * marked.n_live >= self.size else marked.compact()

    def compact(self) -> Self:
        """Return the same without the rows that are removed."""
        if self.live is None:
            return self
        return self.of(*self.given)

    def shared(self) -> Self:
        """Return the same without the room for more: two may not write there."""
        codes = read_only(self.code_room[: self.size])
        ids = read_only(self.id_room[: self.size])
        return replace(self, code_room=codes, id_room=ids)

    def frozen(self) -> Self:
        """Return the same in arrays that cannot change, with nothing left to do."""
        codes = frozen_array(self.code_room[: self.size])
        ids = frozen_array(self.id_room[: self.size])
        order = None if self.order is None else frozen_array(self.order)
        live = None if self.live is None else frozen_array(self.live)
        # Tables of codes that could still change are not those of the copy.
        stay = np.may_share_memory(codes, self.code_room)
        tables = self.tables if stay else TableCache()
        same = type(self)(codes, ids, self.size, order, live, tables)
        by_place = tuple(frozen_array(each) for each in same._by_place)
        same.__dict__["_by_place"] = by_place
        return same

    def _roomier(self, capacity: int) -> tuple[CodeArray, IdArray]:
        codes = np.empty((capacity, self.code_room.shape[1]), np.uint8)
        ids = np.empty(capacity, np.int64)
        codes[: self.size] = self.code_room[: self.size]
        ids[: self.size] = self.id_room[: self.size]
        return codes, ids


def take(values: IdArray, places: IdArray) -> IdArray:
    """Return the values at places; -1 stays."""
    if not len(values):
        return places
    return np.where(places < 0, -1, values[places])
