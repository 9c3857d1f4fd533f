"""Input from Python: data frames, their columns, arrays and lists."""

import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._arrow import (
    as_array,
    as_column,
    as_frame,
    as_table,
    has_own_index,
    is_column,
    is_frame,
    is_text,
    known_names,
    own_memory,
    typed_columns,
    with_index,
)
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError, a_kind
from fewbits.inputs._cells import are_vectors, told_of_numbers
from fewbits.inputs._checks import (
    check_full,
    check_several,
    check_texts,
    checked_vectors,
)
from fewbits.inputs._file_names import check_no_file_names
from fewbits.inputs._input import Input
from fewbits.inputs._shards import Loaded
from fewbits.inputs._tables import read_table
from fewbits.inputs._texts import Texts
from fewbits.inputs._wanted import Wanted

_SHOWN = 40  # characters of a text in a message
_HEAD = 100  # texts examined to recognise words
_NUMERIC = re.compile(r"[\d\[({]")  # what every written number or vector has


class _Given(Loaded):
    """A data frame, whose columns are copied unless they are Arrow's own.

    A column that Arrow does not know is refused where it is asked for.
    """

    def __init__(self, frame: Any, auxiliary: tuple[str, ...] = ()) -> None:
        table, self._odd = typed_columns(frame)
        super().__init__(table, auxiliary)
        self._is_arrow = hasattr(frame, "column_names")

    def read(self, wanted: Wanted) -> Input:
        """Return the items; a refusal also says which columns cannot be read."""
        try:
            return read_table(self, wanted, "the data frame")
        except ArgumentError as error:
            name = next(iter(self._odd), None)
            if name is None or repr(name) in str(error):
                raise
            raise ArgumentError(f"{error}; {self._reason(name)}") from None

    def _reason(self, name: str) -> str:
        return f"cannot read column {name!r} of the data frame: {self._odd[name]}"

    def column(self, place: int) -> Any:
        self._check(place)
        return super().column(place)

    def _check(self, place: int) -> None:
        name = self.names[place]
        if name in self._odd:
            raise ArgumentError(self._reason(name))

    def kept(self, place: int) -> Any:
        self._check(place)
        column = super().kept(place)
        return column if self._is_arrow else own_memory(column)


class _OfTexts(Loaded):
    """Texts without a table."""

    def __init__(self, texts: Any) -> None:
        import pyarrow as pa

        if not is_column(texts):
            texts = [None if _is_missing(text) else text for text in texts]
        super().__init__(pa.table([as_column(texts)], names=["text"]))


def read_object(items: Any, wanted: Wanted) -> Input:
    """Return the items of a data frame, a column, an array or a list."""
    items = as_frame(items)
    if is_frame(items):
        frame, levels = with_index(items)
        if wanted.keep is not False and wanted.id_column is None:
            warn_of_index(frame)
        return _Given(frame, levels).read(wanted)
    check_several(items)
    what = f"the {type(items).__name__}"
    wanted.refuse(what)
    items = items if is_column(items) else _unwrapped(items)
    if _holds_texts(items):
        if wanted.skip_blank:
            return read_table(_OfTexts(items), wanted, what)
        return Input("texts", as_texts(items, are_meant=False), None, what)
    if _holds_images(items):
        return Input("images", list(items), None, what)
    try:
        array = as_array(items, "vectors")
    except FeatureError as error:
        raise ArgumentError(str(error)) from None
    return Input("vectors", checked_vectors(array, what), None, what)


def warn_of_index(frame: Any) -> None:
    """Warn of an index of pandas that is left out: ids would be expected to be it."""
    if has_own_index(frame):
        warn_user(
            "the index of the data frame is left out: to have it as ids, give it a "
            "name, such as frame.rename_axis('id'), and name it, id='id'"
        )


def as_items(items: Any, kind: str) -> Sequence[Any]:
    """Return texts or images that were given in Python, as a list.

    Raises
    ------
    ArgumentError
        When it is not a list of such items.
    """
    if kind == "texts":
        return as_texts(items)
    return _listed(items, "images")


def as_texts(items: Any, *, are_meant: bool = True) -> Sequence[str]:
    """Return texts that were given in Python, each one checked.

    Parameters
    ----------
    items : sequence of str, Series, Arrow column, or data frame of one column
    are_meant : bool, default=True
        The caller takes nothing but texts, so plain numbers such as "12" are accepted,
        and so is a single text of digits, as a query may be.

    Raises
    ------
    ArgumentError
        When one string is given in place of a list, a data frame has several columns,
        a text is missing, blank or something else, or all are numbers or vectors
        written as text.
    """
    if isinstance(items, Texts):
        return items
    texts = _listed(items, "texts")
    for row, text in enumerate(texts):
        _check_text(text, row)
    check_texts(texts, "the list of items")
    if len(texts) > 1 or not are_meant:
        check_no_file_names(texts)
    _check_words(texts, are_meant)
    return texts


def _listed(items: Any, kind: str) -> Sequence[Any]:
    """Return a sequence of whatever holds items one by one."""
    check_several(items)
    if is_frame(items):
        items = _only_column(items, kind)
    if is_column(items):
        return _of_column(as_column(items), kind)
    items = _unwrapped(items)
    if isinstance(items, np.ndarray):
        if items.ndim == 0 or (items.ndim > 1 and kind == "texts"):
            raise ArgumentError(f"expected a list of {kind}, got shape {items.shape}")
        return [*items.tolist()] if items.ndim == 1 else [*items]
    if not isinstance(items, Sequence):
        raise ArgumentError(f"expected a list of {kind}, got {a_kind(items)}")
    return [*items] if isinstance(items, deque) else items  # it gives no slices


def _unwrapped(items: Any) -> Any:
    """Return what only NumPy can look into, such as an index of pandas, as an array."""
    if isinstance(items, np.ndarray) or not hasattr(items, "__array__"):
        return items
    try:
        return np.asarray(items)
    except (TypeError, ValueError, RuntimeError):
        return items


def _of_column(column: Any, kind: str) -> Sequence[Any]:
    check_full(column, "the column")
    if is_text(column.type):
        return Texts(column) if kind == "texts" else [*column.to_pylist()]
    raise ArgumentError(f"expected {kind}, got a column of {column.type}")


def _check_words(texts: Sequence[str], are_meant: bool) -> None:
    """Refuse texts that are numbers written as text, by the rule for columns."""
    # Words are recognised by the first texts, most without Arrow's functions, whose
    # import costs more than a search.
    if not any(map(_NUMERIC.search, texts[:_HEAD])):
        return
    if _numbers_in(texts[:_HEAD], are_meant) and (
        shown := _numbers_in(texts, are_meant)
    ):
        advice = (
            "if texts are meant, give them one at a time"
            if are_meant
            else "give them as numbers, or, if texts are meant, as a data frame with "
            "the name of their column"
        )
        raise ArgumentError(f"expected texts, got {shown}; {advice}")


def _numbers_in(texts: Sequence[str], are_meant: bool) -> str | None:
    column = as_column(list(texts))
    if are_vectors(column):
        return f"vectors written as text such as {texts[0][:_SHOWN]!r}"
    if len(texts) == 1 and are_meant:
        return None
    return told_of_numbers(column, are_meant=are_meant)


def _only_column(frame: Any, kind: str) -> Any:
    table = as_table(frame)
    if table.num_columns != 1:
        raise ArgumentError(
            f"expected a list of {kind}, got a data frame; name its column, such as "
            f"items[{table.column_names[0]!r}], of {known_names(table.column_names)}"
            if table.num_columns
            else f"expected a list of {kind}, got a data frame without columns"
        )
    return table.column(0)


def _holds_texts(items: Any) -> bool:
    if is_column(items):
        return is_text(as_column(items).type)
    if isinstance(items, np.ndarray):
        return items.dtype.kind in "UT" or (
            items.dtype.kind == "O" and items.ndim == 1 and _first_is(items, str)
        )
    return _is_list(items) and _first_is(items, str)


def _holds_images(items: Any) -> bool:
    listed = items.ndim == 1 if isinstance(items, np.ndarray) else _is_list(items)
    if not listed or not _is_image(_first(items)):
        return False
    for row, item in enumerate(items):
        if not _is_image(item):
            shown = "no value" if _is_missing(item) else type(item).__name__
            raise ArgumentError(f"expected images, got {shown} in row {row}")
    return True


def _is_image(item: Any) -> bool:
    return isinstance(item, Path) or hasattr(item, "getbands")


def _is_list(items: Any) -> bool:
    return isinstance(items, Sequence) and not isinstance(items, memoryview)


def _first_is(items: Any, kind: type) -> bool:
    return isinstance(_first(items), kind)


def _first(items: Any) -> Any:
    """Return the first item that is not missing, None where all are."""
    return next((item for item in items if not _is_missing(item)), None)


def _is_missing(item: Any) -> bool:
    nan = isinstance(item, float) and item != item
    return item is None or nan or type(item).__name__ == "NAType"


def _check_text(text: Any, row: int) -> None:
    if not isinstance(text, str):
        shown = "no value" if _is_missing(text) else type(text).__name__
        raise FeatureError(f"expected texts, got {shown} in row {row}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FeatureError(f"the text in row {row} is not Unicode: {error}") from None
