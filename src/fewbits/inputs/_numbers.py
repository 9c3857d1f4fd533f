"""Vectors whose numbers lie in a column each."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.inputs._checks import checked_vectors
from fewbits.inputs._columns import check_full, column_of, is_number, is_text

#: Columns that number the rows; a table that pandas wrote has one without a name.
_ROW_NUMBERS = {"", "id", "index", "unnamed: 0"}


def number_columns(table: Any, label_column: str | None, path: Path) -> list[str]:
    """Return the columns of numbers where there is nothing else; none otherwise."""
    others = [field for field in table.schema if field.name != label_column]
    numbers = [field.name for field in others if is_number(field.type)]
    features = [name for name in numbers if name.lower() not in _ROW_NUMBERS]
    if len(features) < 2:
        return []
    rest = [field for field in others if field.name not in numbers]
    if not rest:
        _warn_of_row_numbers(sorted({*numbers} - {*features}), path)
        return features
    if label_column is None and len(rest) == 1 and is_text(rest[0].type):
        name = rest[0].name
        raise ArgumentError(
            f"{path} has texts in {name!r} and numbers in {len(features)} other "
            f"columns: for the texts give --column {name}, for the numbers --labels "
            f"{name}"
        )
    return []


def side_by_side(table: Any, names: list[str], path: Path) -> NDArray[np.float64]:
    """Return the columns as a matrix."""
    columns = []
    for name in names:
        values = column_of(table, name, path)
        check_full(values, name, path)
        columns.append(values.to_numpy().astype(np.float64))
    return checked_vectors(np.stack(columns, axis=1), str(path))


def _warn_of_row_numbers(names: list[str], path: Path) -> None:
    for name in names:
        warnings.warn(
            f"{path}: column {name!r} is taken for the numbers of rows and left out of "
            "the vectors",
            stacklevel=6,
        )
