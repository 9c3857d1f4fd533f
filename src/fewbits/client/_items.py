"""Items and rows as Arrow tables, which keep their types."""

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    as_array,
    as_column,
    as_frame,
    by_name,
    frame_names,
    is_column,
    is_frame,
    named_array,
    stored_column,
    typed_column,
    typed_table,
    with_index,
)
from fewbits._features import in_order, warn_of_others
from fewbits._images import open_rgb
from fewbits._typing import CodeArray
from fewbits.codes import as_codes
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs import (
    Input,
    are_bytes,
    are_texts,
    as_items,
    check_several,
    hex_codes,
    packed_codes,
    read,
    taking,
    warn_of_index,
)
from fewbits.store import CODE, ID, RESERVED, VECTOR


def item_column(items: Any, facts: dict[str, Any], kind: str | None) -> tuple[str, Any]:
    """Return the kind of items, and these as a column; they are checked as locally."""
    import pyarrow as pa

    takes = facts["kind"]
    if kind not in (None, takes, "vectors"):
        raise ArgumentError(f"this collection takes {takes}, got {kind}")
    kind, width = kind or takes, facts["encoder"]["n_features"]
    with taking(takes, width):
        if kind == "texts":
            return kind, pa.array(list(as_items(items, kind)), pa.large_string())
        if kind == "images":
            files = [_file(item) for item in as_items(items, kind)]
            return kind, pa.array(files, pa.large_binary())
        if takes == "codes":
            return "vectors", vector_column(_packed(items, width))
        check_several(items)
        if hasattr(items, "tocsr"):
            items = items.toarray()
        learnt, items = facts["feature_names"], as_frame(items)
        if learnt and is_frame(items) and {*learnt} < {*frame_names(items)}:
            columns = (column["name"] for column in facts["columns"])
            warn_of_others(items, (*learnt, *columns, facts["id_column"]))
            items = read(items, names=learnt, kind="vectors").values
        array, names = named_array(items)
        if learnt and names is not None:
            array = in_order(array, names, learnt, "the data frame")
        return kind, vector_column(as_features(array, width))


def _file(item: Any) -> bytes:
    """Return the bytes of an image's file; one that is no file, as PNG."""
    if isinstance(item, str | Path):
        try:
            return Path(item).read_bytes()
        except FileNotFoundError:
            raise FeatureError(f"there is no file {item}") from None
        except OSError as error:
            raise FeatureError(f"{item} cannot be read: {error.strerror}") from None
    sink = io.BytesIO()
    open_rgb(item).save(sink, "PNG")
    return sink.getvalue()


def vector_column(matrix: NDArray[Any]) -> Any:
    """Return the rows of a matrix as a column of lists."""
    import pyarrow as pa

    matrix = np.ascontiguousarray(matrix)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    if matrix.dtype.kind not in "iuf" or matrix.dtype.itemsize > 8:
        matrix = matrix.astype(np.float64)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])


def code_column(codes: Any, n_bits: int) -> Any:
    """Return packed codes, or such in hexadecimal, as a column of bytes."""
    import pyarrow as pa

    codes = np.ascontiguousarray(_packed(codes, n_bits))
    return pa.array([code.tobytes() for code in codes], pa.binary())


def _packed(codes: Any, n_bits: int) -> CodeArray:
    if are_texts(codes):
        return hex_codes(codes, n_bits)
    if are_bytes(codes):
        return packed_codes(as_column(codes), "the codes")[0]
    return as_codes(as_array(codes, "codes"))


def plain_ids(ids: Any) -> list[Any]:
    """Return ids as a list."""
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise ArgumentError(f"expected a list of ids, got {ids!r}")
    plain: list[Any] = _id_column(ids).to_pylist()
    return plain


def _id_column(ids: Any) -> Any:
    import pyarrow as pa

    if is_column(ids):
        return as_column(ids)
    return pa.array(ids if isinstance(ids, np.ndarray) else list(ids))


def parts(column: Any, most: int, max_bytes: int) -> Iterator[Any]:
    """Yield a column, or a table, in pieces that one request may have."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n, kind = len(column), getattr(column, "type", None)
    sizes: Any = np.full(n, column.nbytes / max(1, n))
    if kind is not None and (
        pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    ):
        sizes = pc.binary_length(column).to_numpy()
    ends, start = np.cumsum(sizes), 0
    while start < max(1, n):
        limit = (ends[start - 1] if start else 0) + max_bytes // 2
        stop = min(start + most, int(np.searchsorted(ends, limit, "right")))
        stop = max(start + 1, stop)
        yield column.slice(start, stop - start)
        start = stop


def rows_table(
    facts: dict[str, Any], data: Any, ids: Any, columns: Any, **options: Any
) -> tuple[Any, dict[str, Any]]:
    """Return new rows as a table, and the options that go with it.

    The arguments of `fewbits.Collection.add`. A table goes as it is; of anything else
    the columns are called ID, VECTOR, which may be texts, or CODE.
    """
    columns, data = by_name(columns), as_frame(data)
    codes = options["codes"]
    if codes is not None and not isinstance(codes, str):
        if data is not None:
            raise ArgumentError("give codes as an array, or data, not both")
        if are_bytes(codes):
            codes, _ = packed_codes(as_column(codes), "the codes")
        data, options["codes"] = Input("codes", as_codes(codes), None, "codes"), None
    if data is None:
        raise ArgumentError("give data: a table, a file, or a list of items")
    if is_frame(data) or isinstance(data, str | Path):
        if ids is not None or isinstance(columns, Mapping):
            raise ArgumentError(
                "a table brings its own ids and columns: name them by id= and columns="
            )
        options["columns"] = None if columns is None else list(columns)
        if is_frame(data):
            if columns is None and not (options["id"] or facts["id_column"]):
                warn_of_index(with_index(data)[0])
            names = options["column"]
            is_plain = names is None or isinstance(names, str)
            options["column"] = names if is_plain else list(names)
            return sent_table(data), {k: v for k, v in options.items() if v}
        columns, data = None, _read(data, facts, options)
    else:
        for name, value in options.items():
            if value:
                raise ArgumentError(
                    f"{name} is about a table, and these items are none: give ids= and "
                    "columns= beside them"
                )
    columns, kind = dict(columns or {}), None
    if isinstance(data, Input):
        ids, kind = data.ids if ids is None else ids, data.kind
        columns, data = {**data.stored_columns(), **columns}, data.values
    if reserved := [name for name in columns if name in RESERVED]:
        raise ArgumentError(
            f"a column cannot be called {reserved[0]!r}, which is where the collection "
            "keeps its own; rename it"
        )
    takes = "vectors" if facts["kind"] == "codes" else facts["kind"]
    if kind not in (None, "codes", takes):
        raise ArgumentError(f"got {kind}, but this collection takes {facts['kind']}")
    if kind == "codes" != facts["kind"]:
        items = {CODE: code_column(data, facts["n_bits"])}
    else:
        items = {VECTOR: item_column(data, facts, None)[1]}
    if ids is not None:
        items[ID] = _id_column(ids)
    return table_of({**items, **columns}), {}


def _read(path: str | Path, facts: dict[str, Any], options: dict[str, Any]) -> Input:
    """Read a file here, as a collection here would."""
    id = options["id"] or facts["id_column"]
    stored = facts["item_column"] if facts["kind"] == "texts" else None
    named = stored if options["codes"] is None else None
    options = {**options, "id": id, "column": options["column"] or named}
    return read(
        path,
        **options,
        names=facts["feature_names"] or ([] if stored is None else [stored]),
        as_text=written_columns(facts, id),
        as_numbers=number_columns(facts),
        kind=facts["kind"] if options["codes"] is None else None,
        default_id=facts["id_name"] if facts["id_column"] is None else None,
    )


def written_columns(facts: dict[str, Any], id: str | None) -> list[str]:
    """Return the columns whose values a CSV file may write as numbers or days."""
    written = re.compile("string|decimal|binary")
    texts = [x["name"] for x in facts["columns"] if written.search(x["type"])]
    return texts + [id or "id"] * (facts["id_type"] == "string")


def number_columns(facts: dict[str, Any]) -> list[str]:
    """Return the columns of numbers."""
    number = re.compile(r"u?int\d|halffloat|float|double")
    return [x["name"] for x in facts["columns"] if number.match(x["type"])]


def table_of(columns: Mapping[str, Any]) -> Any:
    """Return columns as a table, each of its own type."""
    import pyarrow as pa

    sent = {name: _sent(typed_column(values)) for name, values in columns.items()}
    if len({len(column) for column in sent.values()}) != 1:
        raise ArgumentError("ids and columns need an entry for each item")
    return pa.table(sent)


def sent_table(frame: Any) -> Any:
    """Return a data frame as a table of the types that a server takes."""
    import pyarrow as pa

    table = typed_table(with_index(frame)[0])
    return pa.table([_sent(x) for x in table.columns], names=table.column_names)


def _sent(column: Any) -> Any:
    """Return a column of a type of which each value takes memory of its own."""
    import pyarrow as pa

    column = stored_column(column)
    if isinstance(column.type, pa.BaseExtensionType):
        return column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column
