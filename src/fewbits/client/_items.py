"""Items and rows as Arrow tables, which keep their types."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_array, by_name, is_frame, named_array
from fewbits._images import open_rgb
from fewbits.codes import as_codes
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs import Input, are_texts, as_items, check_several, hex_codes
from fewbits.store import RESERVED


def item_column(items: Any, facts: dict[str, Any], kind: str | None) -> tuple[str, Any]:
    """Return the kind of items, and these as a column; they are checked as locally.

    Raises
    ------
    ArgumentError, FeatureError, CodeError
        As a local collection.
    """
    import pyarrow as pa

    own = facts["kind"]
    if kind not in (None, own, "vectors"):
        raise ArgumentError(f"this collection takes {own}, got {kind}")
    kind = kind or own
    if kind == "texts":
        return kind, pa.array(list(as_items(items, kind)), pa.large_string())
    if kind == "images":
        files = [_file(item) for item in as_items(items, kind)]
        return kind, pa.array(files, pa.large_binary())
    if own == "codes":
        return "vectors", vector_column(as_codes(as_array(items, "codes")))
    check_several(items)
    array, names = named_array(items)
    learnt = facts["feature_names"]
    if learnt and names is not None and names != learnt:
        raise FeatureError("the data frame has not the columns of the features")
    return kind, vector_column(as_features(array, facts["encoder"]["n_features"]))


def vector_column(matrix: NDArray[Any]) -> Any:
    """Return the rows of a matrix as a column of lists."""
    import pyarrow as pa

    matrix = np.ascontiguousarray(matrix)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    if matrix.dtype == np.bool_ or matrix.dtype.kind not in "iuf":
        matrix = matrix.astype(np.float64)
    if matrix.dtype.itemsize > 8:
        matrix = matrix.astype(np.float64)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])


def parts(column: Any, most: int, max_bytes: int) -> Iterator[Any]:
    """Yield a column in pieces that one request may have."""
    size = max(1, column.nbytes // max(1, len(column)))
    step = max(1, min(most, max_bytes // 2 // size))
    for start in range(0, max(1, len(column)), step):
        yield column.slice(start, step)


def rows_table(
    data: Any, facts: dict[str, Any], **options: Any
) -> tuple[Any, dict[str, Any]]:
    """Return new rows as a table, and the options that go with it.

    Parameters
    ----------
    data, **options
        Of `fewbits.Collection.add`.
    facts : dict
        Of the collection.
    """
    ids, columns = options.pop("ids"), by_name(options.pop("columns"))
    codes = options["codes"]
    if codes is not None and not isinstance(codes, str):
        if data is not None:
            raise ArgumentError("give codes as an array, or data, not both")
        data, options["codes"] = Input("codes", as_codes(codes), None, "codes"), None
    if is_frame(data) or isinstance(data, str | Path):
        if ids is not None or isinstance(columns, Mapping):
            raise ArgumentError(
                "a table brings its own ids and columns: name them by id= and columns="
            )
        options["columns"] = None if columns is None else list(columns)
        if is_frame(data):
            names = options["column"]
            listed = names is None or isinstance(names, str)
            options["column"] = names if listed else list(names)
            return sent_table(data), {k: v for k, v in options.items() if v}
        data = _read(data, facts, options)
    else:
        for name, value in options.items():
            if value:
                raise ArgumentError(
                    f"{name} is about a table, and these items are none: give ids= and "
                    "columns= beside them"
                )
    source = data if isinstance(data, Input) else None
    if source is not None:
        ids = source.ids if ids is None else ids
        columns = {**source.stored_columns(), **(columns or {})}
        data = source.values
    for name in columns or ():
        if name in RESERVED:
            raise ArgumentError(
                f"a column cannot be called {name!r}, which is where the collection "
                "keeps its own; rename it"
            )
    if source is not None and source.kind == "codes" != facts["kind"]:
        name, items = "_code", code_column(data, facts["n_bits"])
    else:
        kind, items = item_column(data, facts, None)
        name = "_text" if kind == "texts" else "_vector"
    made = {name: items} | ({} if ids is None else {"_id": as_values(ids)})
    return table_of({**made, **(columns or {})}), {}


def _read(path: str | Path, facts: dict[str, Any], options: dict[str, Any]) -> Input:
    """Read a file here, as a collection here would."""
    from fewbits.inputs import read

    written = re.compile("string|decimal|binary")
    texts = [x["name"] for x in facts["columns"] if written.search(x["type"])]
    id = options["id"] or facts["id_column"]
    if id is not None and facts["id_type"] == "string":
        texts.append(id)
    own = facts["item_column"] if facts["kind"] == "texts" else None
    named = own if options["codes"] is None else None
    options = {**options, "id": id, "column": options["column"] or named}
    return read(
        path,
        **options,
        names=facts["feature_names"] or ([] if own is None else [own]),
        as_text=texts,
        kind=facts["kind"] if options["codes"] is None else None,
    )


def table_of(columns: Mapping[str, Any]) -> Any:
    """Return columns as a table, each of its own type."""
    import pyarrow as pa

    from fewbits._arrow import typed_column

    own = pa.Array, pa.ChunkedArray
    made = {
        name: values if isinstance(values, own) else typed_column(values)
        for name, values in columns.items()
    }
    if len({len(column) for column in made.values()}) != 1:
        raise ArgumentError("ids and columns need an entry for each item")
    return pa.table(made)


def sent_table(frame: Any) -> Any:
    """Return a data frame as a table of the types that a server takes."""
    import pyarrow as pa

    from fewbits._arrow import plain_column, stored_column, typed_table

    table = typed_table(frame)
    columns = []
    for column in table.columns:
        kind = column.type
        coded = pa.types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType)
        columns.append(plain_column(column) if coded else stored_column(column))
    return pa.table(columns, names=table.column_names)


def code_column(codes: Any, n_bits: int) -> Any:
    """Return packed codes as a column of bytes."""
    import pyarrow as pa

    if are_texts(codes):
        codes = hex_codes(codes, n_bits)
    codes = np.ascontiguousarray(codes, np.uint8)
    return pa.array([code.tobytes() for code in codes], pa.binary())


def plain_ids(ids: Any) -> list[Any]:
    """Return ids as a list."""
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise ArgumentError(f"expected a list of ids, got {ids!r}")
    found: Sequence[Any] = as_values(ids).to_pylist()
    return list(found)


def as_values(values: Any) -> Any:
    """Return ids, or the values of a column, as a column."""
    import pyarrow as pa

    from fewbits._arrow import as_column, is_column

    if is_column(values):
        return as_column(values)
    return pa.array(values if isinstance(values, np.ndarray) else list(values))


def _file(item: Any) -> bytes:
    """Return the bytes of an image's file; one that is no file, as PNG."""
    if isinstance(item, str | Path):
        try:
            return Path(item).read_bytes()
        except OSError as error:
            raise FeatureError(f"{item} cannot be read: {error.strerror}") from None
    sink = io.BytesIO()
    open_rgb(item).save(sink, "PNG")
    return sink.getvalue()
