"""Changes of a collection: made in memory, or committed to a store."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from fewbits.bundle._ids import shown_id
from fewbits.bundle._items import Items
from fewbits.bundle._stores import check_named, told_by_folder
from fewbits.bundle._table_part import ID, TablePart
from fewbits.errors import ArgumentError

_LARGEST_ID = (1 << 63) - 1


class ItemsWriter(Protocol):
    """Collects changes of a collection until `commit`."""

    @property
    def items(self) -> Items:
        """The newest items, before the changes."""
        ...

    def append(self, table: Any) -> None:
        """Add rows; without a column of ids, they are numbered on."""
        ...

    def upsert(self, table: Any) -> None:
        """Add rows, and delete those with the same ids."""
        ...

    def delete(self, ids: Any) -> int:
        """Delete the rows with these ids, an Arrow column; return how many."""
        ...

    def commit(self) -> Items:
        """Make all changes at once, and return the items as they are then."""
        ...


@contextmanager
def writer_of(items: Items, timeout: float | None) -> Iterator[ItemsWriter]:
    """Open a collection for changes; a store waits for its lock."""
    if items.snapshot is None:
        yield _MemoryWriter(items)
        return
    with locked_store(items, timeout) as writer:
        yield _StoreWriter(items, writer)


@contextmanager
def locked_store(items: Items, timeout: float | None) -> Iterator[Any]:
    """Open the store of a bundle's items for changes; it is the bundle's then."""
    _check_seconds(timeout)
    folder = items.store.folder.parent
    with told_by_folder(folder), items.store.writer(timeout=timeout) as writer:
        check_named(items.store)
        yield writer


def _check_seconds(timeout: Any) -> None:
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout >= 0):
        raise ArgumentError(
            f"timeout must be a number of seconds from 0 on, got {timeout!r}"
        )


class _MemoryWriter:
    def __init__(self, items: Items) -> None:
        self.items = items
        self._table = items.table

    def append(self, table: Any) -> None:
        import pyarrow as pa

        if ID not in table.column_names:
            # Ids that were deleted may be reused, as they are not recorded.
            largest = int(self._table[ID].to_numpy().max(initial=-1))
            if largest + len(table) > _LARGEST_ID:
                raise ArgumentError(
                    f"row ids are exhausted: {largest} is in use; pass ids explicitly"
                )
            numbers = pa.array(largest + 1 + np.arange(len(table), dtype=np.int64))
            table = table.add_column(0, ID, numbers)
        places = TablePart(self._table).find(table[ID].combine_chunks())
        if (places >= 0).any():
            known = table[ID][int(np.argmax(places >= 0))].as_py()
            told = f"there is an item with id {shown_id(known)} already"
            raise ArgumentError(f"{told}: upsert replaces it")
        ordered = table.select(self._table.column_names)
        self._table = pa.concat_tables([self._table, ordered])

    def upsert(self, table: Any) -> None:
        places = TablePart(self._table).find(table[ID].combine_chunks())
        self._drop(places[places >= 0])
        self.append(table)

    def delete(self, ids: Any) -> int:
        return self._drop(TablePart(self._table).find(ids))

    def commit(self) -> Items:
        return Items([TablePart(self._table)], origin=self.items.origin)

    def _drop(self, places: Any) -> int:
        import pyarrow as pa

        kept = np.ones(len(self._table), np.bool_)
        kept[places] = False
        self._table = self._table.filter(pa.array(kept))
        return int(np.count_nonzero(~kept))


class _StoreWriter:
    def __init__(self, before: Items, writer: Any) -> None:
        self._before, self._writer = before, writer
        self.append, self.upsert = writer.append, writer.upsert
        self.delete = writer.delete

    @property
    def items(self) -> Items:
        return Items.of_store(self._before.store, before=self._before)

    def commit(self) -> Items:
        self._writer.commit()
        return self.items
