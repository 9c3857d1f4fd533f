"""The items of a collection: an Arrow table with one row per item."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import known_names, own_memory, typed_column
from fewbits._frozen import Immutable, frozen_array
from fewbits._labels import as_label_rows
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._ids import Lookup, checked_ids, ids_of
from fewbits.codes import as_codes, prefix
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.index import Int8Vectors

#: Columns of the file that are not the user's.
ID, CODE, VECTOR = "_id", "_code", "_vector"
#: Of int8 vectors the scale and the offset of each block, one after another.
BLOCKS = "_blocks"
RESERVED = (ID, CODE, VECTOR, BLOCKS)
#: Where ``fewbits build`` keeps labels that are not a column of a table.
LABEL_COLUMN = "label"

Vectors = NDArray[Any] | Int8Vectors


class Items(Immutable):
    """Ids, codes, user columns and, if kept, vectors, all aligned.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``_id`` (int64 or large_string), ``_code`` (fixed-size binary) and
        whatever else the user keeps; ``_vector`` is a fixed-size list of numbers.
    """

    def __init__(self, table: Any) -> None:
        self._table = table.combine_chunks()

    @property
    def table(self) -> Any:
        """The table; Arrow's tables do not change."""
        return self._table

    @classmethod
    def make(
        cls,
        codes: CodeArray,
        *,
        ids: Any = None,
        columns: Mapping[str, Any] | None = None,
        vectors: Vectors | None = None,
    ) -> Self:
        """Put columns side by side; what may change later is copied.

        Raises
        ------
        ArgumentError
            When lengths differ, ids repeat, a column takes a reserved name, or its
            values are of several types.
        """
        import pyarrow as pa

        codes = as_codes(codes)
        given = columns or {}
        if taken := set(given) & set(RESERVED):
            raise ArgumentError(
                f"a column cannot be called {sorted(taken)[0]!r}, which is where the "
                "collection keeps its own; rename it"
            )
        parts = {ID: checked_ids(ids, len(codes)), CODE: _fixed_binary(codes)}
        parts |= {name: _user_column(name, column) for name, column in given.items()}
        parts |= {} if vectors is None else _vector_columns(vectors)
        for name, column in parts.items():
            if len(column) != len(codes):
                shown = "ids" if name == ID else f"entries in {name!r}"
                raise ArgumentError(f"{len(codes)} codes, but {len(column)} {shown}")
        table = pa.table(parts).combine_chunks()
        return cls(pa.table({name: _own_memory(table[name]) for name in parts}))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Memory-map a file written by `write`.

        Raises
        ------
        ArtefactError
            When the file holds no items.
        """
        import pyarrow as pa

        try:
            with pa.memory_map(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
        except (pa.ArrowException, OSError) as error:
            raise ArtefactError(f"{path} holds no items: {error}") from error
        if table.column_names[:2] != [ID, CODE]:
            raise ArtefactError(f"{path} holds no items: no columns {ID} and {CODE}")
        return cls(table)

    def write(self, file: IO[bytes]) -> None:
        """Write an Arrow IPC file."""
        import pyarrow as pa

        with pa.ipc.new_file(file, self.table.schema) as writer:
            writer.write_table(self.table)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Items({len(self):,} items)"

    @cached_property
    def ids(self) -> NDArray[Any]:
        """Ids of the items: int64, or objects that are texts; read-only."""
        return ids_of(self.table[ID])

    @cached_property
    def codes(self) -> CodeArray:
        """Codes of the items, a read-only view of the table."""
        column = _only_chunk(self.table[CODE])
        width = column.type.byte_width
        data = np.frombuffer(column.buffers()[1], np.uint8)
        start = column.offset * width
        return data[start : start + len(self) * width].reshape(len(self), width)

    @cached_property
    def vectors(self) -> Vectors | None:
        """Vectors of the items, a view of the table, or None when none were kept."""
        if VECTOR not in self.table.column_names:
            return None
        matrix = self._matrix(VECTOR)
        if BLOCKS not in self.table.column_names:
            return matrix
        blocks = self._matrix(BLOCKS)
        return Int8Vectors(matrix, blocks.reshape(len(self), -1, 2))

    @property
    def vector_form(self) -> str | None:
        """Form of the vectors: "float16", "float32", "int8", or None without any."""
        if isinstance(self.vectors, Int8Vectors):
            return "int8"
        return None if self.vectors is None else self.vectors.dtype.name

    @property
    def bytes_per_item(self) -> int:
        """Bytes of the code and of the vector of an item."""
        vectors, size = self.vectors, self.codes[:1].nbytes
        if isinstance(vectors, Int8Vectors):
            return size + int(vectors.values[:1].nbytes + vectors.blocks[:1].nbytes)
        return size if vectors is None else size + int(vectors[:1].nbytes)

    def _matrix(self, name: str) -> NDArray[Any]:
        column = _only_chunk(self.table[name])
        flat = column.flatten().to_numpy()
        matrix: NDArray[Any] = flat.reshape(len(self), column.type.list_size)
        return matrix

    def some_vectors(self, rows: Any = None) -> NDArray[Any] | None:
        """Return the vectors of some rows, or of all, as floats."""
        if self.vectors is None:
            return None
        if isinstance(self.vectors, Int8Vectors):
            return self.vectors.to_float(rows)
        return self.vectors if rows is None else self.vectors[rows]

    @property
    def columns(self) -> list[str]:
        """Names of the user's columns."""
        return [name for name in self.table.column_names if name not in RESERVED]

    def prefix(self, n_bits: int) -> Self:
        """Return the items with the first `n_bits` bits of their codes."""
        place = self.table.column_names.index(CODE)
        cut = _fixed_binary(prefix(self.codes, n_bits))
        return type(self)(self.table.set_column(place, CODE, cut))

    def without_vectors(self) -> Self:
        """Return the items without the vectors that were kept."""
        left_out = {VECTOR, BLOCKS}
        kept = [name for name in self.table.column_names if name not in left_out]
        return type(self)(self.table.select(kept))

    def row(self, item: Any) -> dict[str, Any]:
        """Return the user's columns of the item with id `item`."""
        return self.records(self.rows([item]))[0]

    def records(self, rows: IdArray) -> list[dict[str, Any]]:
        """Return the user's columns at some places, a dict for each.

        Parameters
        ----------
        rows : ndarray of int
            Places of items, in any order; may repeat.
        """
        if not self.columns:
            return [{} for _ in range(len(rows))]
        found: list[dict[str, Any]] = self.user_table().take(rows).to_pylist()
        return found

    def user_table(self) -> Any:
        """Return the table of the user's columns alone."""
        return self.table.select(self.columns)

    def rows(self, ids: Any) -> IdArray:
        """Return the places of the items with these ids.

        Raises
        ------
        ArgumentError
            When there is no such item.
        """
        return self._lookup.rows(ids)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.table[ID])

    def column(self, name: str, rows: IdArray | None = None) -> NDArray[Any]:
        """Return a user column, or some of its rows, as an array of objects."""
        if name not in self.columns:
            raise ArgumentError(
                f"the items have no column {name!r}; they have "
                f"{known_names(self.columns) or 'none'}"
            )
        column = self.table[name] if rows is None else self.table[name].take(rows)
        values = column.to_pylist()  # may be lists: an array of these has one axis
        return np.fromiter(values, dtype=object, count=len(values))

    def classes(self, name: str) -> NDArray[Any]:
        """Return a column of classes, or a row for each item that has several labels.

        Raises
        ------
        ArgumentError
            When there is no such column, or it holds no labels.
        """
        if name not in self.columns and LABEL_COLUMN in self.columns:
            raise ArgumentError(
                f"the items have no column {name!r}: labels that were not a column are "
                f"kept as {LABEL_COLUMN!r}; they have {', '.join(self.columns)}"
            )
        return as_label_rows(self.column(name).tolist(), f"column {name!r}")


def _user_column(name: str, column: Any) -> Any:
    """Return a column of the user's, of its own type."""
    try:
        if isinstance(column, np.ndarray):
            typed = _is_typed(column)
            column = frozen_array(column) if typed else column.tolist()
        return typed_column(column)
    except ArgumentError as error:
        raise ArgumentError(f"column {name!r} {error}") from None


def _is_typed(array: NDArray[Any]) -> bool:
    """Return whether the type of an array is one that Arrow has, too."""
    return array.ndim == 1 and array.dtype.kind in "biufmM" and array.dtype.isnative


def _own_memory(column: Any) -> Any:
    """Copy a column of Arrow's that may lie over an array which somebody changes."""
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


def _fixed_binary(codes: CodeArray) -> Any:
    import pyarrow as pa

    kind = pa.binary(codes.shape[1])
    buffer = pa.py_buffer(frozen_array(np.ascontiguousarray(codes)))
    return pa.Array.from_buffers(kind, len(codes), [None, buffer])


def _only_chunk(column: Any) -> Any:
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks()
