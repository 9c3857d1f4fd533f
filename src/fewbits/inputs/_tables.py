"""Columns of vectors or texts in Parquet, Arrow, Feather and CSV files."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._checks import as_labels, check_texts, checked_vectors
from fewbits.inputs._input import Input

TABLES = {".parquet", ".arrow", ".feather", ".csv", ".tsv"}


def read_table(path: Path, column: str | None, label_column: str | None) -> Input:
    """Read one column of vectors or texts, and one of labels."""
    table = _open(path)
    # Before the items, so that a wrong name is said even where their column is not.
    labels = _labels(table, label_column, path) if label_column else None
    name = column or _only_candidate(table, label_column, path)
    values = _column(table, name, path)
    if not _is_text(values.type):
        return Input("vectors", _vectors(values, name, path), labels, str(path))
    texts = _texts(values, name, path).tolist()
    check_texts(texts, f"column {name!r} of {path}")
    return Input("texts", texts, labels, str(path))


def _open(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            return parquet.read_table(path)
        if suffix in {".csv", ".tsv"}:
            delimiter = "\t" if suffix == ".tsv" else ","
            return csv.read_csv(
                path, parse_options=csv.ParseOptions(delimiter=delimiter)
            )
        return feather.read_table(path, memory_map=True)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        line = str(error).splitlines()[0]
        raise ArtefactError(f"{path} is no {suffix[1:]} file: {line}") from error


def _labels(table: Any, name: str, path: Path) -> NDArray[Any]:
    values = _column(table, name, path)
    if _is_list(values.type):
        return as_labels(_matrix(values, name, path), name, str(path))
    return _texts(values, name, path)


def _column(table: Any, name: str, path: Path) -> Any:
    if name not in table.column_names:
        raise ArgumentError(
            f"{path} has no column {name!r}; it has {', '.join(table.column_names)}"
        )
    return table[name]


def _only_candidate(table: Any, label_column: str | None, path: Path) -> str:
    others = [field for field in table.schema if field.name != label_column]
    fits = [f.name for f in others if _is_text(f.type) or _is_list(f.type)]
    if not fits:
        found = ", ".join(f"{f.name} ({f.type})" for f in others) or "none"
        raise ArgumentError(
            f"{path} needs a column of texts, or of vectors (a list of numbers per "
            f"row), got {found}; a plain matrix of numbers goes into a .npy file"
        )
    if len(fits) > 1:
        raise ArgumentError(
            f"{path} has {len(fits)} columns of texts or vectors "
            f"({', '.join(fits)}); say which one with --column"
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
    return checked_vectors(_matrix(values, name, path), f"column {name!r} of {path}")


def _matrix(values: Any, name: str, path: Path) -> NDArray[Any]:
    if values.null_count:
        raise ArgumentError(f"column {name!r} of {path} has {values.null_count} nulls")
    flat = values.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    widths = {len(value) for value in values} if len(values) else {0}
    if len(widths) != 1:
        raise ArgumentError(
            f"column {name!r} of {path} has vectors of {len(widths)} different lengths"
        )
    return np.asarray(flat).reshape(len(values), widths.pop())
