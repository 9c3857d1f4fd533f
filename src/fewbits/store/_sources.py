"""Rows that a writer sees: those of stored segments, and those given since."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import own_memory
from fewbits._typing import IdArray
from fewbits.store._compact import Size
from fewbits.store._ids import IdIndex, keys_of
from fewbits.store._schema import ID
from fewbits.store._snapshot import Part

#: Tables with fewer rows are put together as they are given.
_FEW = 1 << 16


class Source(ABC):
    """Rows with ids, of which some are deleted."""

    n_rows: int
    n_bytes: int

    def __init__(self, n_live: int) -> None:
        self.n_live = n_live
        self.changed = False

    @property
    @abstractmethod
    def live(self) -> NDArray[np.bool_] | None:
        """Mask of the rows that are not deleted, None for all."""

    @live.setter
    @abstractmethod
    def live(self, mask: NDArray[np.bool_]) -> None: ...

    @abstractmethod
    def rows(self) -> Any:
        """Return all rows as a table, deleted ones included."""

    @abstractmethod
    def _find(self, ids: Any) -> IdArray: ...

    @property
    def size(self) -> Size:
        return Size(self.n_rows, self.n_live, self.n_bytes)

    def find(self, ids: Any) -> IdArray:
        """Return the places of ids, -1 where they are not or are deleted."""
        if not self.n_live:
            return np.full(len(ids), -1, np.int64)
        places = self._find(ids)
        if (live := self.live) is not None:
            places[(places >= 0) & ~live[places]] = -1
        return places

    def delete(self, ids: Any) -> int:
        """Delete rows by their ids and return how many there were."""
        places = np.unique(self.find(ids))
        places = places[places >= 0]
        if not len(places):
            return 0
        before = self.live
        mask = np.ones(self.n_rows, np.bool_) if before is None else before.copy()
        mask[places] = False
        self.live, self.changed = mask, True
        self.n_live -= len(places)
        return len(places)

    def living(self) -> Any:
        """Return the rows that are not deleted."""
        import pyarrow as pa

        live = self.live
        return self.rows() if live is None else self.rows().filter(pa.array(live))


class Stored(Source):
    """Rows of a segment on the disk, and what was deleted from it since."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.n_live)
        self.part = part
        self.n_rows, self.n_bytes = part.n_rows, part.entry.n_bytes
        self._live: NDArray[np.bool_] | None = None

    @property
    def live(self) -> NDArray[np.bool_] | None:
        return self.part.live if self._live is None else self._live

    @live.setter
    def live(self, mask: NDArray[np.bool_]) -> None:
        self._live = mask

    def rows(self) -> Any:
        return self.part.whole()

    def _find(self, ids: Any) -> IdArray:
        return self.part.find(ids)


class Given(Source):
    """Rows that were given and are in no file yet.

    Parameters
    ----------
    table : pyarrow.Table
        With sequence numbers and ids, each id once.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(table.num_rows)
        self._table = table
        self.n_rows, self.n_bytes = table.num_rows, table.nbytes
        self._live: NDArray[np.bool_] | None = None

    @property
    def live(self) -> NDArray[np.bool_] | None:
        return self._live

    @live.setter
    def live(self, mask: NDArray[np.bool_]) -> None:
        self._live = mask

    def rows(self) -> Any:
        return self._table

    @cached_property
    def _ids(self) -> Any:
        column = self._table[ID]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    @cached_property
    def _index(self) -> IdIndex:
        return IdIndex.of(keys_of(self._ids))

    def _find(self, ids: Any) -> IdArray:
        same = None if ids.type == "int64" else lambda *at: self._same(ids, *at)
        return self._index.find(keys_of(ids), same)

    def _same(self, ids: Any, rows: IdArray, wanted: IdArray) -> NDArray[np.bool_]:
        import pyarrow.compute as pc

        equal = pc.equal(self._ids.take(rows), ids.take(wanted))
        mask: NDArray[np.bool_] = equal.to_numpy(zero_copy_only=False)
        return mask


def owned(table: Any) -> Any:
    """Return a table whose memory cannot change before it is written."""
    import pyarrow as pa

    def own(column: Any) -> Any:
        buffers = [each for chunk in column.chunks for each in chunk.buffers()]
        changes = any(each is not None and each.is_mutable for each in buffers)
        return own_memory(column) if changes else column

    return pa.table({name: own(table[name]) for name in table.column_names})


def are_joined(before: Source, last: Source) -> bool:
    """Return whether two tables that wait become one: both have few rows."""
    both = isinstance(before, Given) and isinstance(last, Given)
    return both and before.n_rows < _FEW and before.n_rows < 2 * last.n_rows


def joined(sources: list[Source]) -> Given:
    """Return the rows of tables that wait as one table."""
    return Given(living(sources).combine_chunks())


def living(sources: Iterable[Source]) -> Any:
    """Return the rows that are not deleted as one table."""
    import pyarrow as pa

    # Categories of one column may differ between segments.
    tables = [source.living() for source in sources]
    return pa.concat_tables(tables).unify_dictionaries()
