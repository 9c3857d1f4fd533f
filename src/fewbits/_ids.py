"""Ids as users give them: whole numbers from 0 on, or texts."""

import os
from pathlib import PurePath
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    as_column,
    is_column,
    is_text,
    one_chunk,
    repeated,
)
from fewbits._lazy import pa, pc
from fewbits.errors import ArgumentError

_MAX_SHOWN = 60  # characters of an id in a message
_LARGEST = (1 << 63) - 1


def new_ids(ids: Any, what: str = "the list of ids") -> Any:
    """Return ids of new rows as an Arrow column of int64 or large_string.

    None is missing, blank, or there twice; a UUID is its text.
    """
    column = _values(ids, what)
    if is_text(column.type):
        row = pc.index(pc.match_substring_regex(column, r"^\s*$"), True).as_py()
        if row >= 0:
            raise ArgumentError(f"{what} has a blank id in row {row}")
    column = _plain(column)
    if (repetition := repeated(column)) is not None:
        value, count = repetition
        raise ArgumentError(
            f"{what} holds {shown_id(value)} in {count} rows; an id names one item "
            "from all others"
        )
    return column


def id_column(ids: Any, texts: bool) -> Any:
    """Return ids to look for as one array of the kind that a collection has."""
    column = _values(ids, "the list of ids")
    if not len(column):
        return pa.array([], pa.large_string() if texts else pa.int64())
    if texts != is_text(column.type):
        raise ArgumentError(
            f"the ids of this collection are {('whole numbers', 'texts')[texts]}, got "
            f"{column[0].as_py()!r}"
        )
    return one_chunk(_plain(column))


def absolute_paths(column: Any, is_known: NDArray[np.bool_]) -> Any:
    """Return ids, with unknown ones as absolute paths, which are the ids of images."""
    if is_known.all() or not is_text(column.type):
        return column
    pairs = zip(column.to_pylist(), is_known, strict=True)
    paths = [id if known else os.path.abspath(id) for id, known in pairs]
    return pa.array(paths, column.type)


def check_known(column: Any, is_known: NDArray[np.bool_]) -> None:
    """Refuse unknown ids."""
    if not is_known.all():
        unknown = column[int(np.argmin(is_known))].as_py()
        raise ArgumentError(f"there is no item with id {shown_id(unknown)}")


def shown_id(value: Any) -> str:
    """Return an id for a message, long ones cut."""
    return repr(value[:_MAX_SHOWN]) if isinstance(value, str) else str(value)


def _values(ids: Any, what: str) -> Any:
    """Return ids as an Arrow column of whole numbers or texts of any type."""
    if isinstance(ids, np.ma.MaskedArray):
        raise ArgumentError("ids are a masked array; leave out the rows of its gaps")
    if not isinstance(ids, list | tuple) and not is_column(ids):
        array = np.asarray(ids)
        if not array.ndim:
            is_one = isinstance(ids, str | int)
            hint = f"give [{shown_id(ids)}]" if is_one else f"got {type(ids).__name__}"
            raise ArgumentError(f"ids must be a list of whole numbers or texts: {hint}")
        if array.ndim != 1:
            raise ArgumentError(
                f"ids must be a list of whole numbers or texts, got shape {array.shape}"
            )
        ids = array.tolist() if array.dtype.kind in "OUT" else array
    if isinstance(ids, list | tuple):
        if any(isinstance(value, bool) for value in ids):
            raise ArgumentError("ids must be whole numbers or texts, got a truth value")
        ids = [str(x) if isinstance(x, UUID | PurePath) else x for x in ids]
    try:
        column = as_column(ids)
    except ArgumentError:
        raise ArgumentError("ids must be all whole numbers or all texts") from None
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ArgumentError(f"{what} has no value in row {row}")
    if len(column) and not (pa.types.is_integer(column.type) or is_text(column.type)):
        raise ArgumentError(
            f"{what} holds {column.type}; ids are whole numbers or texts"
        )
    return column


def _plain(column: Any) -> Any:
    """Return ids as int64 or large_string."""
    if is_text(column.type):
        return column  # large_string, as all plain columns of texts
    numbers = column.to_numpy()
    if len(numbers) and (numbers.min() < 0 or numbers.max() > _LARGEST):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {wrong}")
    return pa.chunked_array([numbers.astype(np.int64)])
