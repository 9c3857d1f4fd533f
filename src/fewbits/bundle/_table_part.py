"""Items in memory: an Arrow table with one row per item."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import own_memory, typed_column
from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._ids import Lookup, checked_ids, ids_of
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError
from fewbits.index import Int8Vectors

#: Columns that are not the user's.
ID, CODE, VECTOR = "_id", "_code", "_vector"
#: Two bytes for each row, see `fewbits.index.Corrections`.
CORRECTION = "_correction"
#: Of int8 vectors the scale and the offset of each block, one after another.
BLOCKS = "_blocks"
RESERVED = (ID, CODE, CORRECTION, VECTOR, BLOCKS)

Vectors = NDArray[Any] | Int8Vectors


class TablePart(Immutable):
    """Ids, codes, user columns and, if kept, vectors, all aligned.

    Has what a segment of a store has, see `fewbits.store.Part`.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``_id`` (int64 or large_string), ``_code`` (fixed-size binary) and
        whatever else the user keeps; ``_vector`` is a fixed-size list of numbers.
    """

    live = None

    def __init__(self, table: Any) -> None:
        self._table = table.combine_chunks()

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
        """Put columns side by side; what may change later is copied."""
        import pyarrow as pa

        codes = as_codes(codes)
        given = columns or {}
        parts = {ID: checked_ids(ids, len(codes)), CODE: fixed_binary(codes)}
        if corrections is not None:
            parts[CORRECTION] = fixed_binary(corrections)
        parts |= {name: user_column(name, column) for name, column in given.items()}
        parts |= {} if vectors is None else _vector_columns(vectors)
        for name, column in parts.items():
            if len(column) != len(codes):
                shown = "ids" if name == ID else f"entries in {name!r}"
                raise ArgumentError(f"{len(codes)} codes, but {len(column)} {shown}")
        table = pa.table(parts).combine_chunks()
        return cls(pa.table({name: own_column(table[name]) for name in parts}))

    def whole(self) -> Any:
        """Return the table with all its columns; Arrow's tables do not change."""
        return self._table

    def take(self, names: Sequence[str], rows: IdArray) -> Any:
        """Return some rows of some columns, which may repeat."""
        # The length of a table without columns is lost.
        chosen = self._table.select(list(dict.fromkeys([ID, *names])))
        return chosen.take(rows).select(list(names))

    def ids_at(self, rows: IdArray) -> NDArray[Any]:
        """Return the ids of some rows: int64, or objects that are texts."""
        if self._id_numbers is not None:
            return self._id_numbers[rows]
        return ids_of(self._table[ID].take(rows))

    @cached_property
    def _id_numbers(self) -> IdArray | None:
        column = self._table[ID]
        return column.to_numpy() if column.type == "int64" else None

    @property
    def n_rows(self) -> int:
        return int(self._table.num_rows)

    @property
    def n_live(self) -> int:
        return self.n_rows

    @cached_property
    def sequence(self) -> IdArray:
        """Number of each row, from 0 on."""
        return frozen_array(np.arange(self.n_rows, dtype=np.int64))

    @property
    def ids(self) -> Any:
        """Ids as an Arrow column."""
        return self._table[ID]

    @cached_property
    def codes(self) -> CodeArray:
        """Codes of the items, a read-only view of the table."""
        return self._bytes_of(CODE)

    @cached_property
    def corrections(self) -> CodeArray | None:
        """Corrections of the items, a view of the table, or None without any."""
        there = CORRECTION in self._table.column_names
        return self._bytes_of(CORRECTION) if there else None

    def _bytes_of(self, name: str) -> CodeArray:
        column = _only_chunk(self._table[name])
        width = column.type.byte_width
        data = np.frombuffer(column.buffers()[1], np.uint8)
        start = column.offset * width
        return data[start : start + self.n_rows * width].reshape(self.n_rows, width)

    @cached_property
    def vectors(self) -> Vectors | None:
        """Vectors of the items, a view of the table, or None when none were kept."""
        if VECTOR not in self._table.column_names:
            return None
        matrix = self._matrix(VECTOR)
        if BLOCKS not in self._table.column_names:
            return matrix
        blocks = self._matrix(BLOCKS)
        n_blocks = blocks.shape[1] // 2
        return Int8Vectors(matrix, blocks.reshape(self.n_rows, n_blocks, 2))

    def table(self, names: list[str] | None = None) -> Any:
        """Return the user's columns, or some of them."""
        known = [name for name in self._table.column_names if name not in RESERVED]
        return self._table.select(known if names is None else names)

    def find(self, ids: Any) -> IdArray:
        """Return the row of each id of an Arrow column, -1 where it is missing."""
        return self._lookup.rows(ids)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self._table[ID])

    def _matrix(self, name: str) -> NDArray[Any]:
        column = _only_chunk(self._table[name])
        flat = column.flatten().to_numpy()
        matrix: NDArray[Any] = flat.reshape(self.n_rows, column.type.list_size)
        return matrix


def fixed_binary(codes: CodeArray) -> Any:
    """Return codes as an Arrow column."""
    import pyarrow as pa

    kind = pa.binary(codes.shape[1])
    buffer = pa.py_buffer(frozen_array(np.ascontiguousarray(codes)))
    return pa.Array.from_buffers(kind, len(codes), [None, buffer])


def user_column(name: str, column: Any) -> Any:
    """Return a column of the user's, of its own type."""
    if name in RESERVED:
        raise ArgumentError(
            f"a column cannot be called {name!r}, which is where the collection keeps "
            "its own; rename it"
        )
    try:
        if isinstance(column, np.ndarray):
            typed = _is_typed(column)
            column = frozen_array(column) if typed else column.tolist()
        return _roomy(typed_column(column))
    except ArgumentError as error:
        raise ArgumentError(f"column {name!r} {error}") from None


def _is_typed(array: NDArray[Any]) -> bool:
    """Return whether the type of an array is one that Arrow has, too."""
    return array.ndim == 1 and array.dtype.kind in "biufmM" and array.dtype.isnative


def _roomy(column: Any) -> Any:
    """Return a column that takes any number of other categories later."""
    import pyarrow as pa

    kind = column.type
    if not pa.types.is_dictionary(kind) or kind.index_type == pa.int32():
        return column
    return column.cast(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))


def own_column(column: Any) -> Any:
    """Copy an Arrow column whose memory may be an array that can still change."""
    buffers = [each for chunk in column.chunks for each in chunk.buffers()]
    changes = any(each is not None and each.is_mutable for each in buffers)
    return own_memory(column) if changes else column


def _vector_columns(vectors: Vectors) -> dict[str, Any]:
    if not isinstance(vectors, Int8Vectors):
        return {VECTOR: _fixed_lists(vectors)}
    blocks = vectors.blocks.reshape(len(vectors), -1)
    return {VECTOR: _fixed_lists(vectors.values), BLOCKS: _fixed_lists(blocks)}


def _fixed_lists(matrix: NDArray[Any]) -> Any:
    import pyarrow as pa

    flat = pa.array(frozen_array(matrix).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])


def _only_chunk(column: Any) -> Any:
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks()
