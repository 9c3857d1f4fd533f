"""Vectors whose numbers lie in a column each."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.inputs._checks import checked_vectors
from fewbits.inputs._columns import (
    check_full,
    is_integer,
    is_number,
    is_text,
    reads_as_number,
)

#: Columns that number the rows: by name, without one, or as pandas writes an index.
_ROW_NUMBERS = re.compile(r"|id|index|unnamed: 0|__index_level_\d+__", re.IGNORECASE)
_LABELS = {"class", "label", "labels", "target", "y"}
_COUNTED = 10  # rows from which a count is no chance


def number_columns(
    table: Any, label_column: str | None, path: Path, names: Sequence[str] = ()
) -> list[int]:
    """Return the places of columns of numbers where there is nothing else, or none.

    A column of texts goes before numbers beside it, but for columns of `names`.
    """
    if not set(names).isdisjoint(table.column_names):
        return _named(table, names, path)
    others = [(i, f) for i, f in enumerate(table.schema) if f.name != label_column]
    numbers = [(i, field.name) for i, field in others if is_number(field.type)]
    features = [(i, name) for i, name in numbers if not _ROW_NUMBERS.fullmatch(name)]
    texts = any(is_text(field.type) for _, field in others)
    if len(features) < 2 or texts or len(numbers) < len(others):
        return []
    _check_names([name for _, name in features], path)
    if names:
        warn_user(
            f"{path} has none of the {len(names)} columns that are known by name; its "
            "own are taken in their order"
        )
    _warn_of_row_numbers([name for _, name in numbers], path)
    _warn_of_counts(table, features, path)
    _warn_of_labels([name for _, name in features], label_column, path)
    return [i for i, _ in features]


def _named(table: Any, names: Sequence[str], path: Path) -> list[int]:
    """Return the places of columns that are wanted by name."""
    wanted = set(names)
    _check_names([name for name in table.column_names if name in wanted], path)
    places = {name: i for i, name in enumerate(table.column_names)}
    missing = [name for name in names if name not in places]
    if missing:
        more = f" and {len(missing) - 1} more" * (len(missing) > 1)
        raise ArgumentError(
            f"{path} has no column {missing[0]!r}{more}, of {len(names)} columns of "
            "numbers that are needed by name"
        )
    for name in names:
        kind = table.schema.field(places[name]).type
        if not is_number(kind):
            raise ArgumentError(f"column {name!r} of {path} holds {kind}, not numbers")
    return [places[name] for name in names]


def side_by_side(table: Any, places: list[int], path: Path) -> NDArray[np.float64]:
    """Return the columns as a matrix."""
    columns = []
    for i in places:
        values = table.column(i)
        check_full(values, table.schema.field(i).name, path)
        columns.append(values.to_numpy().astype(np.float64))
    return checked_vectors(np.stack(columns, axis=1), str(path))


def _check_names(names: list[str], path: Path) -> None:
    """Refuse a first row of numbers in the place of names, and names given twice."""
    if all(reads_as_number(name) for name in names):
        raise ArgumentError(
            f"{path} has numbers where the names of its columns should be: add a first "
            "line of names"
        )
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ArgumentError(f"{path} has several columns called {name!r}; rename them")


def _warn_of_row_numbers(names: list[str], path: Path) -> None:
    for name in sorted({name for name in names if _ROW_NUMBERS.fullmatch(name)}):
        warn_user(
            f"{path}: column {name!r} is taken for the numbers of rows and left out of "
            "the vectors"
        )


def _warn_of_counts(table: Any, features: list[tuple[int, str]], path: Path) -> None:
    """Tell of columns that number the rows under another name."""
    n = table.num_rows
    for i, name in features if n >= _COUNTED else ():
        values = table.column(i)
        if is_integer(values.type) and not values.null_count:
            numbers = values.to_numpy()
            if numbers[-1] - numbers[0] == n - 1 and (np.diff(numbers) == 1).all():
                warn_user(
                    f"{path}: column {name!r} counts the rows and is taken for a "
                    "feature; if it is none, leave it out or call it 'id'"
                )


def _warn_of_labels(names: list[str], label_column: str | None, path: Path) -> None:
    for name in names if label_column is None else ():
        if name.lower() in _LABELS:
            warn_user(
                f"{path}: column {name!r} is taken for a feature; if it holds labels, "
                f"name it where labels are asked for (fit --labels {name}), or leave "
                "it out"
            )
