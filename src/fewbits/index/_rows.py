"""Codes and their ids, in the order given and in the order of the ids."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import frozen_array, read_only
from fewbits._typing import CodeArray, IdArray
from fewbits.index._ids import rising


@dataclass(frozen=True, eq=False)
class Rows:
    """Codes with ids. A value: additions and removals make another.

    Parameters
    ----------
    code_room, id_room : ndarray
        The codes (n, n_bytes) and ids (n,), and perhaps room for more. It belongs to
        the last that `added` made; what lies below `size` is never written again.
    size : int
        How many there are.
    order : ndarray or None
        The rows in the order of the ids; None where ids rise with the rows.
    """

    code_room: CodeArray
    id_room: IdArray
    size: int
    order: IdArray | None

    @classmethod
    def of(cls, codes: CodeArray, ids: IdArray) -> Self:
        return cls(codes, ids, len(ids), None if rising(ids) else np.argsort(ids))

    @property
    def codes(self) -> CodeArray:
        return read_only(self.code_room[: self.size])

    @property
    def ids(self) -> IdArray:
        return read_only(self.id_room[: self.size])

    @cached_property
    def by_id(self) -> tuple[CodeArray, IdArray]:
        """Codes and ids in the order of the ids, in which ties are answered."""
        if self.order is None:
            return self.codes, self.ids
        return self.codes[self.order], self.ids[self.order]

    def at(self, places: IdArray) -> IdArray:
        """Turn places in the order of the ids into rows as given; -1 stays."""
        return places if self.order is None else take(self.order, places)

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
        return type(self)(code_room, id_room, size, order)

    def without(self, rows: IdArray) -> Self:
        keep = np.ones(self.size, np.bool_)
        keep[rows] = False
        return self.of(self.codes[keep], self.ids[keep])

    def shared(self) -> Self:
        """Return the same without the room for more: two may not write there."""
        return type(self)(self.codes, self.ids, self.size, self.order)

    def copied(self) -> Self:
        codes, ids = np.array(self.codes), np.array(self.ids)
        return type(self)(codes, ids, self.size, self.order)

    def frozen(self) -> Self:
        """Return the same in arrays that cannot change, with nothing left to do."""
        codes = frozen_array(self.code_room[: self.size])
        ids = frozen_array(self.id_room[: self.size])
        order = None if self.order is None else frozen_array(self.order)
        rows = type(self)(codes, ids, self.size, order)
        sorted_codes, sorted_ids = rows.by_id
        rows.__dict__["by_id"] = frozen_array(sorted_codes), frozen_array(sorted_ids)
        return rows

    def _roomier(self, capacity: int) -> tuple[CodeArray, IdArray]:
        codes = np.empty((capacity, self.code_room.shape[1]), np.uint8)
        ids = np.empty(capacity, np.int64)
        codes[: self.size], ids[: self.size] = self.codes, self.ids
        return codes, ids


def take(values: IdArray, places: IdArray) -> NDArray[Any]:
    """Return the values at places; -1 stays."""
    if not len(values):
        return places
    return np.where(places < 0, -1, values[places])
