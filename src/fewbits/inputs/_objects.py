"""What is given in Python: data frames, their columns, arrays and lists."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._arrow import (
    as_array,
    as_column,
    as_table,
    is_column,
    is_frame,
    is_text,
    known_names,
)
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs._cells import is_vector
from fewbits.inputs._checks import check_several, check_texts, checked_vectors
from fewbits.inputs._input import Input
from fewbits.inputs._shards import Loaded
from fewbits.inputs._tables import Wanted, check_full, read_table
from fewbits.inputs._texts import Texts

_SHOWN = 40  # letters of a text that is told


def read_object(items: Any, wanted: Wanted) -> Input:
    """Return the items of a data frame, a column, an array or a list."""
    if is_frame(items):
        return read_table(Loaded(as_table(items)), wanted, "the data frame")
    check_several(items)
    what = f"the {type(items).__name__}"
    wanted.refuse(what)
    if _holds_texts(items):
        return Input("texts", as_texts(items), None, what)
    if _holds_images(items):
        return Input("images", list(items), None, what)
    if isinstance(items, np.ma.MaskedArray):
        raise ArgumentError(f"{what} is masked; fill its gaps first")
    try:
        array = np.asarray(as_array(items))
    except (FeatureError, ValueError) as error:
        raise ArgumentError(f"{what} holds no items: {error}") from None
    return Input("vectors", checked_vectors(array, what), None, what)


def as_items(items: Any, kind: str) -> Sequence[Any]:
    """Return texts or images that were given in Python, as a list.

    Raises
    ------
    ArgumentError
        When it is no list of such items.
    """
    if kind == "texts":
        return as_texts(items)
    check_several(items)
    if is_frame(items):
        items = _only_column(items)
    if is_column(items):
        column = as_column(items)
        check_full(column, "the column")
        return [*column.to_pylist()]
    if isinstance(items, np.ndarray) and items.dtype.kind in "OUT":
        return [*items.tolist()]
    return items if isinstance(items, Sequence) else list(items)


def as_texts(items: Any) -> Sequence[str]:
    """Return texts that were given in Python, each one checked.

    Parameters
    ----------
    items : sequence of str, Series, Arrow column, or data frame of one column

    Raises
    ------
    ArgumentError
        When one string is given in place of a list, a data frame has several columns,
        or a text is missing, blank or something else.
    """
    if isinstance(items, Texts):
        return items
    check_several(items)
    if is_frame(items):
        items = _only_column(items)
    if is_column(items):
        column = as_column(items)
        check_full(column, "the column")
        if not is_text(column.type):
            raise ArgumentError(f"expected texts, got a column of {column.type}")
        texts: Sequence[str] = Texts(column)
    else:
        texts = list(_one_by_one(items))
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise FeatureError(f"expected texts, got {_told(text)} in row {row}")
    check_texts(texts, "the list of items")
    if len(texts) and all(map(is_vector, texts)):
        raise ArgumentError(
            f"the list of items holds vectors in writing, such as {texts[0][:_SHOWN]!r}"
            ", which are no texts; give an array of numbers"
        )
    return texts


def _one_by_one(items: Any) -> Iterable[Any]:
    if isinstance(items, np.ndarray):
        if items.ndim != 1:
            raise ArgumentError(f"expected a list of texts, got shape {items.shape}")
        items = items.tolist()
    if isinstance(items, dict | set | frozenset):
        raise ArgumentError(f"expected a list of texts, got a {type(items).__name__}")
    try:
        found: Iterable[Any] = iter(items)
        return found
    except TypeError:
        what = type(items).__name__
        raise ArgumentError(f"expected a list of texts, got {what}") from None


def _only_column(frame: Any) -> Any:
    table = as_table(frame)
    if table.num_columns != 1:
        raise ArgumentError(
            "expected a list of texts, got a data frame; name its column, such as "
            f"items[{table.column_names[0]!r}], of {known_names(table.column_names)}"
            if table.num_columns
            else "expected a list of texts, got a data frame without columns"
        )
    return table.column(0)


def _holds_texts(items: Any) -> bool:
    if is_column(items):
        return is_text(as_column(items).type)
    if isinstance(items, np.ndarray):
        return items.dtype.kind in "UT" or (
            items.dtype.kind == "O" and items.ndim == 1 and _first_is(items, str)
        )
    return isinstance(items, Sequence) and _first_is(items, str)


def _holds_images(items: Any) -> bool:
    if not isinstance(items, Sequence) or not len(items) or not _is_image(items[0]):
        return False
    for row, item in enumerate(items):
        if not _is_image(item):
            raise ArgumentError(f"expected images, got {_told(item)} in row {row}")
    return True


def _is_image(item: Any) -> bool:
    return isinstance(item, Path) or hasattr(item, "getbands")


def _first_is(items: Any, kind: type) -> bool:
    return len(items) > 0 and isinstance(items[0], kind)


def _told(value: Any) -> str:
    return "no value" if value is None or value != value else type(value).__name__
