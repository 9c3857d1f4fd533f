"""Columns of vectors, texts or numbers in Parquet, Arrow, Feather and CSV files."""

import reprlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._checks import (
    as_labels,
    check_labelled,
    check_texts,
    checked_vectors,
)
from fewbits.inputs._columns import (
    check_full,
    column_of,
    is_list,
    is_number,
    is_text,
    reads_as_number,
)
from fewbits.inputs._csv import read_csv
from fewbits.inputs._input import Input
from fewbits.inputs._numbers import number_columns, side_by_side

TABLES = {".parquet", ".arrow", ".feather", ".csv", ".tsv"}
_REASON, _MANY = 200, 10  # characters, and columns, that are told
_TABLE = 5  # columns of numbers from which these may be what is meant


def read_table(
    path: Path,
    column: str | None,
    label_column: str | None,
    names: Sequence[str] = (),
) -> Input:
    """Read a column of vectors or texts, or columns of numbers; and one of labels."""
    table = _open(path, label_column)
    if not table.num_rows:
        raise ArgumentError(f"{path} holds no items")
    # Before the items, so that a wrong name is said even where their column is not.
    labels = _labels(table, label_column, path) if label_column else None
    numbers = [] if column else number_columns(table, label_column, path, names)
    if numbers:
        X = side_by_side(table, numbers, path)
        found = tuple(table.column_names[i] for i in numbers)
        return Input("vectors", X, labels, str(path), found)
    name = column or _only_candidate(table, label_column, path)
    values = column_of(table, name, path)
    if not is_text(values.type):
        return Input("vectors", _vectors(values, name, path), labels, str(path))
    texts = _texts(values, name, path).tolist()
    check_texts(texts, f"column {name!r} of {path}")
    return Input("texts", texts, labels, str(path))


def _open(path: Path, label_column: str | None) -> Any:
    import pyarrow as pa
    from pyarrow import feather, parquet

    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            return parquet.read_table(path)
        if suffix in {".csv", ".tsv"}:
            return read_csv(path, label_column)
        return feather.read_table(path, memory_map=True)
    except (PermissionError, ArtefactError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = _reason(error)
        raise ArtefactError(f"{path} is no {suffix[1:]} file: {reason}") from error


def _reason(error: Exception) -> str:
    """Return the first line, without the bytes of a file that a terminal would obey."""
    line = str(error).splitlines()[0][:_REASON]
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def _labels(table: Any, name: str, path: Path) -> NDArray[Any]:
    values = column_of(table, name, path)
    if is_list(values.type):
        return as_labels(_matrix(values, name, path), name, str(path))
    if is_number(values.type) and not values.null_count:
        return as_labels(values.to_numpy(), name, str(path))
    known = ["" if _is_gap(value) else str(value) for value in values.to_pylist()]
    found = np.array(known, dtype=np.str_)
    check_labelled(found, f"column {name!r} of {path}")
    return found


def _is_gap(value: Any) -> bool:
    return value is None or bool(value != value)


def _only_candidate(table: Any, label_column: str | None, path: Path) -> str:
    others = [field for field in table.schema if field.name != label_column]
    fits = [f.name for f in others if is_text(f.type) or is_list(f.type)]
    if not fits:
        wrong = [f for f in others if not is_number(f.type)] or others
        found = ", ".join(f"{f.name} ({f.type})" for f in wrong[:_MANY]) or "none"
        found += f" and {len(wrong) - _MANY} more" * (len(wrong) > _MANY)
        raise ArgumentError(
            f"{path} needs a column of texts, a column of vectors (a list of numbers "
            f"per row), or nothing but columns of numbers, got {found}"
        )
    _check_strays(table, fits, path)
    if len(fits) > 1:
        raise ArgumentError(
            f"{path} has {len(fits)} columns of texts or vectors "
            f"({', '.join(fits)}); name one (on the command line by --column)"
        )
    n_numbers = sum(is_number(f.type) for f in others)
    if n_numbers >= _TABLE:
        warn_user(
            f"{path}: column {fits[0]!r} is taken, and {n_numbers} columns of numbers "
            "beside it are not; if they are meant, name it where labels are asked for "
            f"(fit --labels {fits[0]}), leave it out, or mend what is no number there"
        )
    return str(fits[0])


def _check_strays(table: Any, names: list[str], path: Path) -> None:
    """Refuse columns of numbers that a few values make texts, if there are no others.

    Of a table of numbers they would be the collection, and the rest left out.
    """
    columns = [table.column(table.column_names.index(name)) for name in names]
    found = _strays(columns[0])
    if found and all(_strays(values) for values in columns[1:]):
        row, value = found[0]
        more = f" and {len(found) - 1} more" * (len(found) > 1)
        raise ArgumentError(
            f"column {names[0]!r} of {path} holds numbers but for "
            f"{reprlib.repr(value)} in row {row}{more}; mend that, or, if texts are "
            "meant, name the column (on the command line by --column)"
        )


def _strays(values: Any) -> list[tuple[int, str]]:
    """Return what is no number, by its row, in a column that holds mostly numbers."""
    if not is_text(values.type):
        return []
    rows = enumerate(values.to_pylist())
    known = [(row, text) for row, text in rows if (text or "").strip()]
    found: list[tuple[int, str]] = []
    for row, text in known:
        if not reads_as_number(text):
            found.append((row, text))
        if 2 * len(found) >= len(known):  # texts, most of them, as a rule at once
            return []
    return found


def _texts(values: Any, name: str, path: Path) -> NDArray[np.str_]:
    check_full(values, name, path)
    return np.array([str(value) for value in values.to_pylist()], dtype=np.str_)


def _vectors(values: Any, name: str, path: Path) -> NDArray[Any]:
    if not is_list(values.type):
        raise ArgumentError(
            f"column {name!r} of {path} holds {values.type}, not vectors or texts"
        )
    return checked_vectors(_matrix(values, name, path), f"column {name!r} of {path}")


def _matrix(values: Any, name: str, path: Path) -> NDArray[Any]:
    check_full(values, name, path)
    flat = values.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    widths = {len(value) for value in values} if len(values) else {0}
    if len(widths) != 1:
        raise ArgumentError(
            f"column {name!r} of {path} has vectors of {len(widths)} different lengths"
        )
    return np.asarray(flat).reshape(len(values), widths.pop())
