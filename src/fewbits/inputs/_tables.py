"""Columns of vectors or texts in Parquet, Arrow, Feather and CSV files."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError, ArtefactError

TABLES = {".parquet", ".arrow", ".feather", ".csv", ".tsv"}


def read_table(
    path: Path, column: str | None, label_column: str | None
) -> tuple[Literal["vectors", "texts"], Any, NDArray[np.str_] | None]:
    """Return the kind, the values and the labels of one column."""
    table = _open(path)
    name = column or _only_candidate(table, label_column, path)
    values = _column(table, name, path)
    labels = None
    if label_column:
        labels = _texts(_column(table, label_column, path), label_column, path)
    if _is_text(values.type):
        return "texts", _texts(values, name, path).tolist(), labels
    return "vectors", _vectors(values, name, path), labels


def _open(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    try:
        if path.suffix == ".parquet":
            return parquet.read_table(path)
        if path.suffix in {".csv", ".tsv"}:
            delimiter = "\t" if path.suffix == ".tsv" else ","
            return csv.read_csv(
                path, parse_options=csv.ParseOptions(delimiter=delimiter)
            )
        return feather.read_table(path, memory_map=True)
    except (pa.ArrowException, OSError) as error:
        line = str(error).splitlines()[0]
        raise ArtefactError(f"{path} is no {path.suffix[1:]} file: {line}") from error


def _column(table: Any, name: str, path: Path) -> Any:
    if name not in table.column_names:
        raise ArgumentError(
            f"{path} has no column {name!r}; it has {', '.join(table.column_names)}"
        )
    return table[name]


def _only_candidate(table: Any, label_column: str | None, path: Path) -> str:
    fits = [
        field.name
        for field in table.schema
        if field.name != label_column and (_is_text(field.type) or _is_list(field.type))
    ]
    if len(fits) != 1:
        raise ArgumentError(
            f"{path} has {len(fits)} columns of texts or vectors "
            f"({', '.join(fits) or 'none'}); say which one with --column"
        )
    return str(fits[0])


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
    )


def _texts(values: Any, name: str, path: Path) -> NDArray[np.str_]:
    if values.null_count:
        raise ArgumentError(f"column {name!r} of {path} has {values.null_count} nulls")
    return np.array([str(value) for value in values.to_pylist()], dtype=np.str_)


def _vectors(values: Any, name: str, path: Path) -> NDArray[Any]:
    if not _is_list(values.type):
        raise ArgumentError(
            f"column {name!r} of {path} holds {values.type}, not vectors or texts"
        )
    if values.null_count:
        raise ArgumentError(f"column {name!r} of {path} has {values.null_count} nulls")
    flat = values.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    widths = {len(value) for value in values} if len(values) else {0}
    if len(widths) != 1:
        raise ArgumentError(
            f"column {name!r} of {path} has vectors of {len(widths)} different lengths"
        )
    return np.asarray(flat).reshape(len(values), widths.pop())
