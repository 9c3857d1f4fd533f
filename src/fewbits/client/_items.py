"""Items and rows as Arrow tables, which keep their types."""

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_array, as_table, is_frame, named_array
from fewbits._images import open_rgb
from fewbits.codes import as_codes
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs import Input, as_items, check_several


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
    for start in range(0, len(column), step):
        yield column.slice(start, step)


def rows_table(
    items: Any, facts: dict[str, Any], options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return new rows as a table, and the options that go with it."""
    import pyarrow as pa

    if unknown := sorted({*options} - {"column", "id", "ids", "columns", "skip_blank"}):
        raise TypeError(f"new rows take no option {unknown[0]!r}")
    ids, columns = options.get("ids"), options.get("columns")
    if is_frame(items):
        if ids is not None or isinstance(columns, Mapping):
            raise ArgumentError(
                "a table brings its own ids and columns: name them by id= and columns="
            )
        fields = {name: value for name, value in options.items() if value}
        for name, value in fields.items():
            if isinstance(value, tuple):
                fields[name] = list(value)
        return as_table(items), fields
    for name in ("column", "id", "skip_blank"):
        if options.get(name):
            raise ArgumentError(f"{name} is for rows that are a table")
    if isinstance(items, Input):
        items, ids, columns = items.values, items.ids, items.stored_columns()
    kind, column = item_column(items, facts, None)
    made = {"_text" if kind == "texts" else "_vector": column}
    if ids is not None:
        made["_id"] = _column(ids)
    made |= {name: _column(values) for name, values in (columns or {}).items()}
    if len({len(each) for each in made.values()}) != 1:
        raise ArgumentError("ids and columns need an entry for each item")
    return pa.table(made), {}


def plain_ids(ids: Any) -> list[Any]:
    """Return ids as a list."""
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise ArgumentError(f"expected a list of ids, got {ids!r}")
    found: Sequence[Any] = _column(ids).to_pylist()
    return list(found)


def _column(values: Any) -> Any:
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
