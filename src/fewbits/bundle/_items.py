"""The items of a collection, in memory or in segments of a store."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import is_text
from fewbits._frozen import frozen_array
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._conditions import Conditions
from fewbits.bundle._ids import check_found, id_column, ids_of
from fewbits.bundle._indexes import AUTO, Caches, index_of
from fewbits.bundle._runs import Run
from fewbits.bundle._table_part import (
    BLOCKS,
    CODE,
    CORRECTION,
    ID,
    VECTOR,
    TablePart,
    Vectors,
    fixed_binary,
    own_column,
    user_column,
)
from fewbits.bundle._user_columns import UserColumns
from fewbits.codes import prefix
from fewbits.errors import ArgumentError
from fewbits.index import Index, Int8Vectors, VectorParts


class Items(UserColumns):
    """Ids, codes, user columns and, if kept, vectors, all aligned.

    A *row* counts the items that are there, in the order in which they were added.

    Parameters
    ----------
    parts : sequence of TablePart or fewbits.store.Part
        Runs of items, deleted ones included.
    store, snapshot : fewbits.store.Store and Snapshot, default=None
        Where the parts are read from. The snapshot is held as long as the items are.
    origin : (Path, int), default=None
        Folder of the store and number of the commit that items in memory are made of.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        store: Any = None,
        snapshot: Any = None,
        origin: tuple[Path, int] | None = None,
    ) -> None:
        self._parts = tuple(parts)
        starts = accumulate((part.n_live for part in parts), initial=0)
        self._runs = tuple(map(Run, self._parts, starts))
        self._store, self._snapshot = store, snapshot
        self._origin = origin
        self._caches: Caches = {}
        self.conditions = Conditions(self._runs)

    @classmethod
    def make(
        cls,
        codes: CodeArray,
        *,
        ids: Any = None,
        columns: Mapping[str, Any] | None = None,
        vectors: Vectors | None = None,
        corrections: CodeArray | None = None,
    ) -> Self:
        """Put columns side by side; what may change later is copied.

        Raises
        ------
        ArgumentError
            When lengths differ, ids repeat, a column takes a reserved name, or its
            values are of several types.
        """
        return cls(
            [
                TablePart.make(
                    codes,
                    ids=ids,
                    columns=columns,
                    vectors=vectors,
                    corrections=corrections,
                )
            ]
        )

    @classmethod
    def of_store(
        cls, store: Any, number: int | None = None, before: Self | None = None
    ) -> Self:
        """Return the items of a snapshot of a store; nothing is read yet.

        Parameters
        ----------
        store : fewbits.store.Store
        number : int, default=None
            Of the commit; None for the newest.
        before : Items, default=None
            Those of another snapshot: tables of segments that stay are not made again.
        """
        snapshot = store.snapshot(number)
        # An empty table makes Arrow import pandas.
        parts = snapshot.parts or [TablePart(snapshot.schema.empty_table())]
        items = cls(parts, store, snapshot)
        if before is not None:
            tokens = [part.entry.token for part in snapshot.parts]
            known = before._caches
            items._caches.update({t: known[t] for t in tokens if t in known})
        return items

    def __reduce__(self) -> tuple[Any, ...]:
        if self._snapshot is None:
            return type(self), (self._parts, None, None, self._origin)
        return _reopened, (self._store.folder, self._snapshot.number)

    def __len__(self) -> int:
        return self._runs[-1].stop

    def __repr__(self) -> str:
        return f"Items({len(self):,} items)"

    @property
    def origin(self) -> tuple[Path, int] | None:
        """Folder of a store and number of the commit that the items are from."""
        if self._snapshot is None:
            return self._origin
        return self._store.folder, self._snapshot.number

    @property
    def store(self) -> Any:
        """The store that the items are read from; None in memory."""
        return self._store

    @property
    def snapshot(self) -> Any:
        """The snapshot of the store that the items are read from; None in memory."""
        return self._snapshot

    @cached_property
    def ids(self) -> NDArray[Any]:
        """Ids of the items: int64, or objects that are texts; read-only."""
        return ids_of(self.id_column)

    @cached_property
    def id_column(self) -> Any:
        """Ids of the items, int64 or large_string, as an Arrow column."""
        import pyarrow as pa

        columns = [_chunked(run.only(run.part.ids)) for run in self._runs]
        chunks = [chunk for each in columns for chunk in each.chunks]
        return pa.chunked_array(chunks, self.id_type)

    @property
    def id_type(self) -> Any:
        """Arrow's type of the ids."""
        return self.schema.field(ID).type

    @property
    def runs(self) -> tuple[Run, ...]:
        """The parts, and the rows at which they begin."""
        return self._runs

    @cached_property
    def has_text_ids(self) -> bool:
        """True if ids are texts, False if they are whole numbers."""
        return bool(is_text(self.id_type))

    @property
    def schema(self) -> Any:
        """Arrow's schema of `table`."""
        held = self._snapshot
        return self._parts[0].whole().schema if held is None else held.schema

    @cached_property
    def codes(self) -> CodeArray:
        """Codes of the items, read-only; a copy where they lie in several segments."""
        codes = [run.codes for run in self._runs]
        return codes[0] if len(codes) == 1 else frozen_array(np.concatenate(codes))

    @cached_property
    def corrections(self) -> CodeArray | None:
        """Corrections of the items, (n, 2), as `codes`; None without any."""
        if self._parts[0].corrections is None:
            return None
        found = [run.only_rows(run.part.corrections) for run in self._runs]
        return found[0] if len(found) == 1 else frozen_array(np.concatenate(found))

    def codes_at(self, rows: IdArray) -> CodeArray:
        """Return the codes of some rows, (n, n_bytes)."""
        codes = np.empty((len(rows), self.code_bytes), np.uint8)
        for run in self._runs:
            here = run.holds(rows)
            if here.any():
                codes[here] = run.part.codes[run.places(rows[here])]
        return codes

    @property
    def code_bytes(self) -> int:
        """Bytes of a code."""
        return int(self.schema.field(CODE).type.byte_width)

    @property
    def correction_bytes(self) -> int:
        """Bytes of the correction of an item, 0 without any."""
        return self._bytes_of(CORRECTION)

    @cached_property
    def vectors(self) -> Vectors | VectorParts | None:
        """Vectors of the items, or None when none were kept."""
        if VECTOR not in self.schema.names:
            return None
        if self._snapshot is None:
            kept: Vectors = self._parts[0].vectors
            return kept
        return VectorParts([run.vectors for run in self._runs])

    @property
    def vector_form(self) -> str | None:
        """Form of the vectors: "float16", "float32", "int8", or None without any."""
        if VECTOR not in self.schema.names:
            return None
        dtype = self.schema.field(VECTOR).type.value_type.to_pandas_dtype()
        return str(np.dtype(dtype))

    @property
    def bytes_per_item(self) -> int:
        """Bytes of the code, the correction and the vector of an item."""
        own = (CODE, CORRECTION, VECTOR, BLOCKS)
        return sum(self._bytes_of(name) for name in own)

    def _bytes_of(self, name: str) -> int:
        """Return the bytes of an entry of a column of ours, by its type alone."""
        if name not in self.schema.names:
            return 0
        kind = self.schema.field(name).type
        if name in (CODE, CORRECTION):
            return int(kind.byte_width)
        return int(kind.list_size * kind.value_type.bit_width) // 8

    def some_vectors(self, rows: Any = None) -> NDArray[Any] | None:
        """Return the vectors of some rows, or of all, as floats."""
        if self.vectors is None:
            return None
        if isinstance(self.vectors, VectorParts):
            return self.vectors.take(np.arange(len(self)) if rows is None else rows)
        if isinstance(self.vectors, Int8Vectors):
            return self.vectors.to_float(rows)
        return self.vectors if rows is None else self.vectors[rows]

    def index(self, kind: str = AUTO) -> Index:
        """Return an index over the codes, whose ids are the sequence numbers.

        Parameters
        ----------
        kind : {"auto", "flat", "multi-index"}, default="auto"
            See `Bundle.with_index`.
        """
        return index_of(self._parts, kind, self._caches)

    def rows_of(self, sequence: IdArray) -> IdArray:
        """Return the rows of sequence numbers that the index found; -1 stays."""
        if self._snapshot is None or all(run.is_numbered for run in self._runs):
            return sequence
        rows = np.full(sequence.shape, -1, np.int64)
        for run in self._runs:
            rows = np.maximum(rows, run.numbered(sequence))
        return rows

    def ids_at(self, rows: IdArray) -> NDArray[Any]:
        """Return the ids of rows; where these are -1, -1 or, among texts, None."""
        ids: NDArray[Any] = np.full(rows.shape, -1, np.int64)
        if self.has_text_ids:
            ids = np.full(rows.shape, None, object)
        for run in self._runs:
            here = run.holds(rows)
            if here.any():
                ids[here] = run.part.ids_at(run.places(rows[here]))
        return ids

    def prefix(self, n_bits: int) -> Self:
        """Return the items with the first `n_bits` bits of their codes, in memory."""
        return self.with_codes(prefix(self.codes, n_bits))

    def with_codes(
        self, codes: CodeArray, corrections: CodeArray | None = None
    ) -> Self:
        """Return the items with other codes and corrections, in memory."""
        table = self.table
        if CORRECTION in table.column_names:
            table = table.drop_columns(CORRECTION)
        place = table.column_names.index(CODE)
        table = table.set_column(place, CODE, fixed_binary(codes))
        if corrections is not None:
            table = table.add_column(place + 1, CORRECTION, fixed_binary(corrections))
        return self._with(table)

    def with_column(self, name: str, values: Any) -> Self:
        """Return the items with another column of the user's, in memory."""
        column = own_column(user_column(name, values))
        if len(column) != len(self):
            raise ArgumentError(
                f"{len(self)} items, but {len(column)} entries in {name!r}"
            )
        table = self.table
        if name in table.column_names:
            place = table.column_names.index(name)
            return self._with(table.set_column(place, name, column))
        return self._with(table.append_column(name, column))

    def without_vectors(self) -> Self:
        """Return the items without the vectors that were kept, in memory."""
        if self.vectors is None:
            return self
        table = self.user_table().add_column(0, CODE, fixed_binary(self.codes))
        return self._with(table.add_column(0, ID, self.id_column))

    def _with(self, table: Any) -> Self:
        return type(self)([TablePart(table)], origin=self.origin)

    @property
    def table(self) -> Any:
        """All of it as an Arrow table: ids, codes, the user's columns, vectors."""
        import pyarrow as pa

        return pa.concat_tables(self.tables())

    def tables(self) -> Iterator[Any]:
        """Yield runs of `table`, one after another."""
        for run in self._runs:
            yield run.only(run.part.whole().select(self.schema.names))

    def row(self, item: Any) -> dict[str, Any]:
        """Return the user's columns of the item with id `item`."""
        return self.records(self.rows([item]))[0]

    def rows(self, ids: Any) -> IdArray:
        """Return the places of the items with these ids.

        Raises
        ------
        ArgumentError
            When there is no such item.
        """
        column = id_column(ids, self.has_text_ids)
        rows = self.find(column)
        check_found(column, rows)
        return rows

    def known_rows(self, ids: Any) -> IdArray:
        """Return the places of those of some ids that items have."""
        rows = self.find(id_column(ids, self.has_text_ids))
        return rows[rows >= 0]

    def find(self, column: Any) -> IdArray:
        """Return the row of each id of an Arrow column, -1 where it is missing."""
        rows = np.full(len(column), -1, np.int64)
        for run in self._runs:
            rows = np.maximum(rows, run.rows(run.part.find(column)))
        return rows


def _reopened(folder: Any, number: int) -> Items:
    """Return the items of a snapshot in another process."""
    from fewbits.store import Store

    return Items.of_store(Store.open(folder), number)


def _chunked(column: Any) -> Any:
    import pyarrow as pa

    whole = isinstance(column, pa.ChunkedArray)
    return column if whole else pa.chunked_array([column])
