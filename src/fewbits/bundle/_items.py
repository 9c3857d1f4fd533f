"""The items of a collection: an Arrow table with one row per item."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_label_rows
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import as_codes, prefix
from fewbits.errors import ArgumentError, ArtefactError

RESERVED = ("id", "code", "vector")
#: Where ``fewbits build`` keeps labels.
LABEL_COLUMN = "label"


class Items:
    """Ids, codes, user columns and, if kept, vectors, all aligned.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``id`` (int64), ``code`` (fixed-size binary) and whatever else the user
        keeps; ``vector`` is a fixed-size list of floats.
    """

    def __init__(self, table: Any) -> None:
        self.table = table.combine_chunks()

    @classmethod
    def make(
        cls,
        codes: CodeArray,
        *,
        ids: ArrayLike | None = None,
        columns: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None,
        vectors: NDArray[np.floating] | None = None,
    ) -> Self:
        """Put columns side by side.

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
            raise ArgumentError(f"a column cannot be called {sorted(taken)[0]!r}")
        parts = {"id": pa.array(_checked_ids(ids, len(codes)))}
        parts["code"] = _fixed_binary(codes)
        parts |= {name: _user_column(name, column) for name, column in given.items()}
        if vectors is not None:
            flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
            parts["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        for name, column in parts.items():
            if len(column) != len(codes):
                raise ArgumentError(
                    f"{len(codes)} codes, but {len(column)} entries in {name!r}"
                )
        return cls(pa.table(parts))

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
        if table.column_names[:2] != ["id", "code"]:
            raise ArtefactError(f"{path} holds no items: no columns id and code")
        return cls(table)

    def write(self, file: IO[bytes]) -> None:
        """Write an Arrow IPC file."""
        import pyarrow as pa

        with pa.ipc.new_file(file, self.table.schema) as writer:
            writer.write_table(self.table)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def ids(self) -> IdArray:
        """Ids of the items, int64."""
        ids: IdArray = _only_chunk(self.table["id"]).to_numpy()
        return ids

    @cached_property
    def codes(self) -> CodeArray:
        """Codes of the items, a view of the table."""
        column = _only_chunk(self.table["code"])
        width = column.type.byte_width
        data = np.frombuffer(column.buffers()[1], np.uint8)
        start = column.offset * width
        return data[start : start + len(self) * width].reshape(len(self), width)

    @cached_property
    def vectors(self) -> NDArray[np.floating] | None:
        """Vectors of the items, a view of the table, or None when none were kept."""
        if "vector" not in self.table.column_names:
            return None
        column = _only_chunk(self.table["vector"])
        flat = column.flatten().to_numpy()
        result: NDArray[np.floating] = flat.reshape(len(self), column.type.list_size)
        return result

    @property
    def columns(self) -> list[str]:
        """Names of the user's columns."""
        return [name for name in self.table.column_names if name not in RESERVED]

    def prefix(self, n_bits: int) -> Self:
        """Return the items with the first `n_bits` bits of their codes."""
        place = self.table.column_names.index("code")
        cut = _fixed_binary(prefix(self.codes, n_bits))
        return type(self)(self.table.set_column(place, "code", cut))

    def without_vectors(self) -> Self:
        """Return the items without the vectors that were kept."""
        kept = [name for name in self.table.column_names if name != "vector"]
        return type(self)(self.table.select(kept))

    def row(self, item: int) -> dict[str, Any]:
        """Return the user's columns of the item with id `item`."""
        row = int(self.rows([item])[0])
        return {name: self.table[name][row].as_py() for name in self.columns}

    def rows(self, ids: ArrayLike) -> IdArray:
        """Return the places of the items with these ids.

        Raises
        ------
        ArgumentError
            When there is no such item.
        """
        wanted = _whole_numbers(ids)
        ranks = np.searchsorted(self.ids, wanted, sorter=self._order)
        found = ranks < len(self)
        found[found] = self.ids[self._order[ranks[found]]] == wanted[found]
        if not found.all():
            raise ArgumentError(f"there is no item with id {wanted[~found][0]}")
        return self._order[ranks]

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.ids, kind="stable")

    def column(self, name: str, rows: IdArray | None = None) -> NDArray[Any]:
        """Return a user column, or some of its rows, as an array of objects."""
        if name not in self.columns:
            raise ArgumentError(
                f"the items have no column {name!r}; they have "
                f"{', '.join(self.columns) or 'none'}"
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
                f"the items have no column {name!r}: fewbits build keeps labels as "
                f"{LABEL_COLUMN!r}; they have {', '.join(self.columns)}"
            )
        return as_label_rows(self.column(name).tolist(), f"column {name!r}")


def _checked_ids(ids: ArrayLike | None, n: int) -> IdArray:
    if ids is None:
        return np.arange(n, dtype=np.int64)
    array = _whole_numbers(ids)
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) != len(array):
        raise ArgumentError(f"id {unique[counts > 1][0]} is given more than once")
    return array


def _whole_numbers(ids: ArrayLike) -> IdArray:
    array = np.asarray(ids)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentError(
            f"ids must be a list of whole numbers, got dtype {array.dtype}"
        )
    if array.size and (array.min() < 0 or array.max() > np.iinfo(np.int64).max):
        wrong = array.min() if array.min() < 0 else array.max()
        raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {wrong}")
    return array.astype(np.int64)


def _user_column(name: str, column: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(list(column))
    except (pa.ArrowException, TypeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise ArgumentError(
            f"column {name!r} must be a list of values of one type: {reason}"
        ) from None


def _fixed_binary(codes: CodeArray) -> Any:
    import pyarrow as pa

    kind = pa.binary(codes.shape[1])
    buffer = pa.py_buffer(np.ascontiguousarray(codes))
    return pa.Array.from_buffers(kind, len(codes), [None, buffer])


def _only_chunk(column: Any) -> Any:
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks()
