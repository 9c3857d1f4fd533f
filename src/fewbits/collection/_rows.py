"""The rows of one version of a collection.

Three numbers name a row. Its *id* is the user's. Its *row* is the permanent number that
the store gave: it breaks ties, and is the id that the index knows; no user sees it. A
*position* is where it stands in the arrays at hand: those of a segment, where deleted
rows are, or those of the collection, which are without them, in the order in which rows
were added. Kernels count positions.
"""

import re
import threading
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from itertools import accumulate, pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._allowed import as_allowed
from fewbits._arrow import is_text, no_column, plain_column, python_values, split_names
from fewbits._frozen import frozen_array, read_only
from fewbits._ids import absolute_paths, check_known, id_column
from fewbits._typing import CodeArray, IdArray
from fewbits.collection._table import filtered, ids_of
from fewbits.errors import ArgumentError
from fewbits.index import (
    FlatIndex,
    Index,
    Int8Vectors,
    MultiIndexHashing,
    VectorPart,
    VectorParts,
)
from fewbits.index.table_files import FEWEST, LazyTables, bytes_to_keep, kept_tables
from fewbits.store import (
    BLOCKS,
    CODE,
    CORRECTION,
    ID,
    RESERVED,
    VECTOR,
    Segment,
    Snapshot,
    Store,
)

Mask = NDArray[np.bool_]
#: How codes are searched. "auto" scans or looks up in tables, whichever is faster.
INDEXES = ("auto", "flat", "multi-index")
_ROWS = 1 << 16  # whose ids are looked up at once
_MASKS = 4  # masks of filters that are kept


class Rows:
    """Ids, codes, columns and perhaps vectors in the segments of a version of a store.

    Methods named ``..._at`` take rows, masks count positions, and `find`, `rows_of` and
    `positions_of` lead from ids to rows and from rows to positions. Its snapshot, the
    newest for None, is held as long as this object, so that no writer takes its files
    away. Tables of search are those of `before`, another version, for segments that
    stay.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot | None = None,
        before: "Rows | None" = None,
    ) -> None:
        self.store, self.snapshot = store, snapshot or store.snapshot()
        self.segments, self.schema = self.snapshot.segments, self.snapshot.schema
        names = self.schema.names
        self.columns = [name for name in names if name not in RESERVED]
        self.has_text_ids = is_text(self.schema.field(ID).type)
        self.code_bytes = int(self.schema.field(CODE).type.byte_width)
        self.n_features, self.vector_dtype = 0, None
        if VECTOR in names:
            kind = self.schema.field(VECTOR).type
            self.n_features = int(kind.list_size)
            self.vector_dtype = str(np.dtype(kind.value_type.to_pandas_dtype()))
        self._live_starts = tuple(
            accumulate((s.n_live for s in self.segments), initial=0)
        )
        self._lock = threading.Lock()
        self._indexes: dict[str, Index] = {}
        self._value_numbers: dict[str, NDArray[np.int32]] = {}
        self._tables: dict[str, LazyTables] = {}  # by the tokens of segments
        if before is not None:
            tables = dict(before._tables)  # to which other threads may add
            tokens = [segment.entry.token for segment in self.segments]
            self._tables = {t: tables[t] for t in tokens if t in tables}
        self._masks: dict[Any, Mask] = {}  # the last ones of filters

    def __len__(self) -> int:
        return self._live_starts[-1]

    # What is there, in the order in which it was added.

    @cached_property
    def codes(self) -> CodeArray:
        """Codes (n, n_bytes), read-only; no copy of a segment without deleted rows."""
        codes = [segment.codes for segment in self.segments]
        return frozen_array(self._live_of(codes, self.code_bytes))

    @cached_property
    def corrections(self) -> CodeArray | None:
        """Two bytes a row beside the codes, None where none are kept."""
        if CORRECTION not in self.schema.names:
            return None
        return self._live_of([segment.corrections for segment in self.segments], 2)

    @cached_property
    def row_numbers(self) -> IdArray:
        """The row at each position; they rise."""
        return read_only(
            self._live_of([segment.row_numbers for segment in self.segments])
        )

    def _live_of(self, arrays: list[Any], width: int | None = None) -> NDArray[Any]:
        """Return the live rows of an array of each segment, of bytes or of numbers."""
        pairs = zip(self.segments, arrays, strict=True)
        pieces: list[NDArray[Any]] = [
            array if segment.live is None else array[segment.live]
            for segment, array in pairs
        ]
        if len(pieces) == 1:
            return pieces[0]
        none = np.empty(0, np.int64) if width is None else np.empty((0, width), "u1")
        return np.concatenate([none, *pieces])

    @property
    def id_column(self) -> Any:
        """Ids as an Arrow column of int64 or large_string."""
        import pyarrow as pa

        columns = [filtered(segment.ids, segment.live) for segment in self.segments]
        return pa.chunked_array(columns, self.schema.field(ID).type)

    @property
    def ids(self) -> NDArray[Any]:
        """Ids as a read-only array: int64, or objects that are texts."""
        return ids_of(self.id_column)

    def batches(
        self, columns: Sequence[str], id_name: str | None, mask: Mask | None = None
    ) -> Iterator[Any]:
        """Yield an Arrow table of ids and columns for each segment, by a mask."""
        import pyarrow as pa

        ends = zip(self.segments, pairwise(self._live_starts), strict=True)
        for segment, (start, stop) in ends:
            table = segment.table(list(columns))
            if id_name is not None:
                named = dict(zip(table.column_names, table.columns, strict=True))
                table = pa.table({id_name: segment.ids, **named})
            table = filtered(table, segment.live)
            yield table if mask is None else filtered(table, mask[start:stop])

    def whole(self) -> Iterator[Any]:
        """Yield an Arrow table of each segment, with fewbits' own columns."""
        for segment in self.segments:
            yield filtered(segment.whole().select(self.schema.names), segment.live)
        if not self.segments:
            yield self.schema.empty_table()

    def column(self, name: str, rows: IdArray | None = None) -> NDArray[Any]:
        """Return a column, or that of some rows, as an array of Python objects."""
        self.check_column(name)
        if rows is not None:
            values = python_values(self.table_at(rows, [name])[name])
        else:
            tables = self.batches([name], None)
            values = [value for t in tables for value in python_values(t[name])]
        return np.fromiter(values, dtype=object, count=len(values))

    def labelled(self, name: str) -> Mask | None:
        """Return which positions have a label, not null, NaN or blank; None for all."""
        import pyarrow.compute as pc

        pieces = []
        for table in self.batches([name], None):
            column = plain_column(table[name])
            has = pc.invert(column.is_null(nan_is_null=True))
            if is_text(column.type):
                blank = pc.match_substring_regex(column, r"^\s*$")
                has = pc.and_(has, pc.invert(blank.fill_null(True)))
            pieces.append(has.to_numpy())
        mask: Mask = np.concatenate([np.empty(0, np.bool_), *pieces])
        return None if mask.all() else mask

    def value_numbers(
        self, name: str, rows: IdArray | None = None
    ) -> NDArray[np.int32]:
        """Return the number of the value of a column at each position, or of rows."""
        self.check_column(name)
        if rows is None and name in self._value_numbers:
            return self._value_numbers[name]
        import pyarrow as pa

        if rows is None:
            chunks = [c for t in self.batches([name], None) for c in t[name].chunks]
            column = pa.chunked_array(chunks, self.schema.field(name).type)
        else:
            column = self.table_at(rows, [name])[name]
        try:
            numbers = read_only(_numbers_of(column))
        except (NotImplementedError, ValueError) as error:
            raise ArgumentError(
                f"items cannot be grouped by {name!r}, which is {column.type}"
            ) from error
        if rows is None:
            self._value_numbers[name] = numbers
        return numbers

    # Some rows.

    def _split(self, rows: IdArray) -> Iterator[tuple[Segment, IdArray, IdArray]]:
        """Yield segments, where their rows are in `rows`, and positions in them."""
        for segment in self.segments:
            entry = segment.entry
            mask = rows >= entry.first
            if len(self.segments) > 1:
                mask &= rows <= entry.last
            inside = mask.nonzero()[0]
            if not len(inside):
                continue
            yield segment, inside, segment.positions_of(rows[inside])

    def ids_at(self, rows: IdArray) -> NDArray[Any]:
        """Return the ids of rows, of any shape; where these are -1, -1 or None."""
        flat = rows.ravel()
        if self.has_text_ids:
            ids: NDArray[Any] = np.full(len(flat), None, object)
        else:
            ids = np.full(len(flat), -1, np.int64)
        for start in range(0, len(flat), _ROWS):
            block = ids[start : start + _ROWS]
            for segment, inside, positions in self._split(flat[start : start + _ROWS]):
                block[inside] = segment.ids_at(positions)
        return ids.reshape(rows.shape)

    def codes_at(self, rows: IdArray) -> CodeArray:
        codes = np.empty((len(rows), self.code_bytes), np.uint8)
        for segment, inside, positions in self._split(rows):
            codes[inside] = segment.codes[positions]
        return codes

    def table_at(self, rows: IdArray, columns: Sequence[str]) -> Any:
        """Return some columns of rows, which may repeat, as an Arrow table."""
        import pyarrow as pa

        pieces, order = [], []
        for segment, inside, positions in self._split(rows):
            pieces.append(segment.take(columns, positions))
            order.append(inside)
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return pa.schema(
                [self.schema.field(name) for name in columns]
            ).empty_table()
        return pa.concat_tables(pieces).take(np.argsort(np.concatenate(order)))

    def vectors_at(self, rows: IdArray) -> NDArray[Any]:
        """Return kept vectors of rows as floats."""
        vectors: NDArray[Any] | None = None
        for segment, inside, positions in self._split(rows):
            segment.check_vectors(positions)
            stored: Any = segment.vectors
            floats = (
                Int8Vectors(*stored).to_float(positions)
                if isinstance(stored, tuple)
                else stored[positions]
            )
            if vectors is None:
                vectors = np.empty((len(rows), floats.shape[1]), floats.dtype)
            vectors[inside] = floats
        return (
            np.empty((0, self.n_features), np.float32) if vectors is None else vectors
        )

    def positions_of(self, rows: IdArray) -> IdArray:
        return np.searchsorted(self.row_numbers, rows)

    # Rows by their ids, or by a condition.

    def find(self, column: Any) -> IdArray:
        """Return the row of each id of an Arrow column, -1 where there is none."""
        rows = np.full(len(column), -1, np.int64)
        for segment in self.segments:
            positions = segment.find(column)
            is_here = positions >= 0
            if is_here.any():
                rows[is_here] = segment.rows_at(positions[is_here])
        return rows

    def holds(self, column: Any) -> Mask:
        """Return which ids of an Arrow column are there."""
        there: Mask = self.find(column) >= 0
        return there

    def rows_of(self, ids: Any) -> IdArray:
        """Return the rows of ids, all of which must be there; see `absolute_paths`."""
        column = id_column(ids, self.has_text_ids)
        rows = self.find(column)
        if (rows < 0).any():
            rows = self.find(absolute_paths(column, rows >= 0))
        check_known(column, rows >= 0)
        return rows

    def mask(
        self, filter: Any, allowed: Any, id_name: str | None, n_bits: int
    ) -> Mask | None:
        """Return which positions meet a filter and are allowed; None for all."""
        mask = None
        if filter is not None:
            mask = self._filtered(filter, id_name, n_bits)
        if allowed is not None:
            others = self._allowed(allowed)
            mask = others if mask is None else mask & others
        return mask

    def _filtered(self, filter: Any, id_name: str | None, n_bits: int) -> Mask:
        from fewbits.collection.filters import matching_rows  # and a parser

        key = (filter, id_name, n_bits) if isinstance(filter, str) else None
        if (kept := self._masks.get(key)) is not None:
            return kept
        masks = [
            self._matching(segment, filter, id_name, n_bits)
            for segment in self.segments
        ]
        if not masks:  # the condition is checked all the same
            none = self.schema.empty_table()
            table = _with_ids(none.select(self.columns), none[ID], id_name)
            masks = [matching_rows(filter, table, self.codes, n_bits)]
        mask = read_only(np.concatenate(masks))
        if key is not None:
            for old in list(self._masks)[: 1 - _MASKS]:
                self._masks.pop(old, None)
            self._masks[key] = mask
        return mask

    def _matching(
        self, segment: Segment, filter: Any, id_name: str | None, n_bits: int
    ) -> Mask:
        from fewbits.collection.filters import matching_rows

        def matching(names: list[str]) -> Mask:
            table = _with_ids(segment.table(names), segment.ids, id_name)
            if segment.live is None:
                return matching_rows(filter, table, segment.codes, n_bits)
            try:
                return matching_rows(filter, table, segment.codes, n_bits)[segment.live]
            except ArgumentError:  # perhaps about a value of a deleted row
                table, codes = filtered(table, segment.live), segment.codes
                return matching_rows(filter, table, codes[segment.live], n_bits)

        # Only columns whose names are in the condition are read.
        names = self.columns
        if isinstance(filter, str):
            text = filter.lower()
            words = [rf"(?<!\w){re.escape(name.lower())}(?!\w)" for name in names]
            pairs = zip(names, words, strict=True)
            names = [name for name, word in pairs if re.search(word, text)]
        try:
            return matching(names)
        except ArgumentError:
            if names == self.columns:
                raise
            return matching(self.columns)  # whose message names all columns

    def _allowed(self, allowed: Any) -> Mask:
        """Return a mask over the positions from a mask, or from ids."""
        if isinstance(allowed, str):
            raise ArgumentError(
                f"allowed must be a list of ids, got the text {allowed!r}"
            )
        if isinstance(allowed, Set | Iterator):
            allowed = list(allowed)
        is_mask = getattr(allowed, "dtype", None) == np.bool_
        if hasattr(allowed, "__len__") and not (len(allowed) or is_mask):
            return np.zeros(len(self), np.bool_)
        first = next(iter(allowed), None) if hasattr(allowed, "__iter__") else None
        ids = allowed
        if not (
            self.has_text_ids and (isinstance(first, str) or hasattr(first, "as_py"))
        ):
            ids = as_allowed(allowed, len(self), "ids")
            if ids.dtype == np.bool_:
                return np.asarray(ids)
        mask = np.zeros(len(self), np.bool_)
        mask[self.positions_of(self.rows_of(ids))] = True
        return mask

    def check_column(self, name: str) -> None:
        if name not in self.columns:
            raise ArgumentError(no_column("the collection", name, self.columns))

    def column_names(self, columns: Sequence[str] | None) -> list[str]:
        """Return the columns that are asked for: all for None."""
        if columns is None:
            return self.columns
        if isinstance(columns, str):
            raise ArgumentError(f"columns must be a list of names: give [{columns!r}]")
        names = split_names(columns, self.columns)
        for name in names:
            self.check_column(name)
        return list(dict.fromkeys(names))

    # Search.

    def index(self, kind: str) -> Index:
        """Return an index over the codes: its ids are rows, kernels count positions."""
        if kind in self._indexes:
            return self._indexes[kind]
        with self._lock:  # of this object, not of all: others need not wait
            if kind in self._indexes:
                return self._indexes[kind]
            chunks: list[tuple[Any, ...]] = []
            fewest = {"auto": FEWEST, "multi-index": 1}.get(kind, inf)
            for segment in self.segments:
                token, codes, tables = segment.entry.token, segment.codes, None
                if len(codes) >= fewest:
                    tables = self._tables.get(token)
                    if tables is None and segment.has_derived:
                        tables = kept_tables(codes, segment.derived)
                    self._tables[token] = tables = tables or LazyTables(codes)
                chunks.append((codes, segment.rows, segment.live, tables))
            if not chunks:
                none = np.empty((0, self.code_bytes), np.uint8)
                chunks.append((none, range(0), None))
            index: Index
            if any(tables for *_, tables in chunks):
                scans = kind == "auto"
                index = MultiIndexHashing.from_chunks(chunks, use_scan=scans)
            else:
                index = FlatIndex.from_chunks(chunks)
            self._indexes[kind] = index
            return index

    @cached_property
    def vectors(self) -> VectorParts | NDArray[np.float32] | None:
        """Kept vectors by their position, None where none are kept."""
        if self.vector_dtype is None:
            return None
        if not self.segments:
            return np.empty((0, self.n_features), np.float32)
        vectors_of = []
        for segment in self.segments:
            stored: Any = segment.vectors
            vectors = Int8Vectors(*stored) if isinstance(stored, tuple) else stored
            check = segment.check_vectors
            vectors_of.append(VectorPart(vectors, segment.live, check))
        return VectorParts(vectors_of)

    def bytes_of(self, name: str) -> int:
        """Return the bytes of an entry of a column of fewbits' own, 0 without it."""
        if name not in self.schema.names:
            return 0
        kind = self.schema.field(name).type
        if name in (CODE, CORRECTION):
            return int(kind.byte_width)
        return int(kind.list_size * kind.value_type.bit_width) // 8

    @property
    def bytes_per_item(self) -> int:
        """Bytes of the code, the correction and the vector of an item."""
        return sum(map(self.bytes_of, (CODE, CORRECTION, VECTOR, BLOCKS)))

    def usage(self, folder: Path | None) -> dict[str, Any]:
        """Return what `Collection.usage` does; `folder` is that of the collection."""
        n_items, n_rows = len(self), sum(segment.n_rows for segment in self.segments)
        sizes = {"codes": self.code_bytes, "corrections": self.bytes_of(CORRECTION)}
        facts = {"n_dead_rows": n_rows - n_items, "n_segments": 0, "n_files": 0}
        if folder is None:
            sizes["vectors"] = self.bytes_per_item - sum(sizes.values())
            return {**facts, "bytes": {k: v * n_items for k, v in sizes.items()}}
        facts |= {"n_segments": len(self.segments), "n_files": self.store.n_files()}
        used = self.store.bytes_by_kind()
        rest_of_rows = used["rows"]
        for name, size in sizes.items():
            sizes[name] = min(size * n_rows, rest_of_rows)
            rest_of_rows -= sizes[name]
        files = [path for path in folder.iterdir() if path.is_file()]
        sizes |= {
            "vectors": used["vectors"],
            "ids and columns": rest_of_rows,
            "checksums": used["checksums"],
            "derived": used["derived"] + used["tables"],
            "manifests": used["manifests"] + used["deleted"],
            "encoder and classes": sum(path.stat().st_size for path in files),
        }
        return {**facts, "bytes": sizes}


def _with_ids(table: Any, ids: Any, id_name: str | None) -> Any:
    """Return columns and the ids: by the name of their column, and as ``id``."""
    if id_name is not None and id_name not in table.column_names:
        table = table.append_column(id_name, ids)
    if "id" not in map(str.lower, table.column_names):
        table = table.append_column("id", ids)
    return table


def keep_tables(writer: Any, kind: str) -> None:
    """Write tables of search beside the segments of a store that should have them."""
    for segment in writer.segments:
        if kind == "flat":
            writer.keep_derived(segment, None)
        elif segment.derived() is None:
            pieces = bytes_to_keep(
                segment.codes, segment.live, always=kind == "multi-index"
            )
            if pieces is not None or segment.has_derived:
                writer.keep_derived(segment, pieces)


def _numbers_of(column: Any) -> NDArray[np.int32]:
    """Return a number for each value, from 0 on by first appearance.

    Null is a value, and so is NaN; 0.0 and -0.0 are equal.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # those of segments differ, and may repeat
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        if column.type == pa.float16():
            column = column.cast(pa.float32())
        nan = pa.scalar(np.nan, column.type)
        plain = pc.add(column, pa.scalar(0, column.type))
        column = pc.if_else(pc.is_nan(column), nan, plain)
    encoded = column.dictionary_encode(null_encoding="encode")
    numbers = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    return np.concatenate(numbers) if numbers else np.empty(0, np.int32)
