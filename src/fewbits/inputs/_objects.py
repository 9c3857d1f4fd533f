"""Input from Python: data frames, their columns, arrays and lists."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._arrow import (
    as_array,
    as_column,
    as_frame,
    as_table,
    is_column,
    is_frame,
    is_text,
    known_names,
    typed_columns,
    with_index,
)
from fewbits._features import SparseRows
from fewbits._lazy import pa
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, CodeError, FeatureError, a_kind
from fewbits.inputs._arrays import array_input
from fewbits.inputs._columns import read_table
from fewbits.inputs._input import (
    Input,
    Options,
    Texts,
    check_full,
    check_several,
    check_texts,
    checked_vectors,
)
from fewbits.inputs._tables import Table
from fewbits.inputs._text_kinds import (
    check_no_file_names,
    check_words,
    packed_codes,
    text_kind,
)

_HEAD = 100  # texts examined to recognise words
_NUMERIC = re.compile(r"[\d\[({]")  # what every written number or vector has
_FILES_ADVICE = "for the files give paths, [Path(name) for name in names], or read them"


def read_object(items: Any, options: Options) -> Input:
    """Return the items of a data frame, a column, an array or a list."""
    items = as_frame(items)
    if is_frame(items):
        return _read_frame(items, options)
    check_several(items)
    what = f"the {type(items).__name__}"
    options.refuse_columns(what)
    items = items if is_column(items) else _unwrapped(items)
    if options.kind == "codes" and not isinstance(items, np.ndarray):
        codes, n_bits = packed_codes(as_column(items), what)
        return Input("codes", codes, None, what, n_bits=n_bits)
    if are_texts(items):
        if options.skip_blank:
            if not is_column(items):
                items = [None if _is_missing(text) else text for text in items]
            table = pa.table([as_column(items)], names=["text"])
            return read_table(Table.of(table), options, what)
        return Input("texts", as_texts(items, are_meant=False), None, what)
    is_list = items.ndim == 1 if isinstance(items, np.ndarray) else _is_list(items)
    if is_list and _is_image(_first(items)):
        for row, item in enumerate(items):
            if not _is_image(item):
                shown = "no value" if _is_missing(item) else type(item).__name__
                raise ArgumentError(f"expected images, got {shown} in row {row}")
        return Input("images", list(items), None, what)
    try:
        if hasattr(items, "tocsr"):
            rows = SparseRows(items)
            return Input("vectors", checked_vectors(rows, what), None, what)
        return array_input(as_array(items, "vectors"), what, options.kind)
    except FeatureError as error:
        raise ArgumentError(str(error)) from None


def _read_frame(items: Any, options: Options) -> Input:
    """Return the items; columns that cannot be read do no harm elsewhere."""
    frame, levels = with_index(items)
    if options.columns is None and options.id is None:
        warn_of_index(frame)
    table, reasons = typed_columns(frame)

    def unreadable(name: str) -> str:
        return f"cannot read column {name!r} of the data frame: {reasons[name]}"

    def arrays(place: int) -> Any:
        if (name := table.column_names[place]) in reasons:
            raise ArgumentError(unreadable(name))
        return table.column(place).chunks

    is_arrow = hasattr(frame, "column_names")
    columns = Table(table.schema, len(table), arrays, levels, is_ours=is_arrow)
    try:
        return read_table(columns, options, "the data frame")
    except ArgumentError as error:
        name = next(iter(reasons), None)
        if name is None or repr(name) in str(error):
            raise
        raise ArgumentError(f"{error}; {unreadable(name)}") from None


def warn_of_index(frame: Any) -> None:
    """Warn of an index of pandas that is left out: ids would be expected to be it."""
    if not hasattr(frame, "iloc"):
        return
    names, numbers = frame.index.names, np.arange(len(frame))
    if any(names) or not np.array_equal(frame.index, numbers):
        warn_user(
            "the index of the data frame is left out: to have it as ids, give it a "
            "name, such as frame.rename_axis('id'), and name it, id='id'"
        )


def as_items(items: Any, kind: str) -> Sequence[Any]:
    """Return texts or images that were given in Python, as a list."""
    if kind == "texts":
        return as_texts(items)
    images = _listed(items, "images")
    for row, item in enumerate(images):
        is_one = isinstance(item, str | np.ndarray) or hasattr(item, "open")
        if not (is_one or _is_image(item)):
            shown = "no value" if _is_missing(item) else type(item).__name__
            raise FeatureError(f"expected images, got {shown} in row {row}")
    return images


@contextmanager
def taking(kind: str, width: int) -> Iterator[None]:
    """Say in a refusal what the collection takes: vectors or codes of a width."""
    try:
        yield
    except (ArgumentError, CodeError, FeatureError) as error:
        sizes = {"vectors": f" of {width:,} numbers", "codes": f" of {width:,} bits"}
        takes = f"this collection takes {kind}{sizes.get(kind, '')}"
        raise type(error)(f"{takes}: {error}") from None


def as_texts(items: Any, *, are_meant: bool = True) -> Sequence[str]:
    """Return texts that were given in Python, each one checked.

    Of a list, a Series, an Arrow column, or a data frame of one column. Where they
    `are_meant`, the caller takes nothing but texts, so plain numbers such as "12" are
    accepted, and so is a single text of digits, as a query may be.
    """
    if isinstance(items, Texts):
        return items
    texts = _listed(items, "texts")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            shown = "no value" if _is_missing(text) else type(text).__name__
            raise FeatureError(f"expected texts, got {shown} in row {row}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"the text in row {row} is not Unicode: {error}"
            raise FeatureError(message) from None
    check_texts(texts, "the list of items")
    if len(texts) > 1 or not are_meant:
        check_no_file_names(texts, _FILES_ADVICE)
    # Words are recognised by the first texts, most without Arrow's functions, whose
    # import costs more than a search.
    if any(map(_NUMERIC.search, texts[:_HEAD])):
        _check_words(texts, are_meant)
    return texts


def _check_words(texts: Sequence[str], are_meant: bool) -> None:
    """Refuse texts that are numbers written as text, by the rule for columns."""
    what, advice = "expected texts, but the list of items", "give them as numbers"
    advice += (
        ", or, if texts are meant, give them one at a time"
        if are_meant
        else ", or, if texts are meant, as a data frame with the name of their column"
    )
    kind = text_kind(as_column(list(texts[:_HEAD])))[0]
    if kind == "words" or (are_meant and kind == "codes"):
        return
    if not (are_meant and len(texts) == 1 and kind != "vectors"):
        check_words(as_column(list(texts)), what, advice, numbers=are_meant)


def _listed(items: Any, kind: str) -> Sequence[Any]:
    """Return a sequence of whatever holds items one by one."""
    if type(items) is list:
        return items
    check_several(items)
    if is_frame(items):
        table = as_table(items)
        if table.num_columns != 1:
            names = table.column_names
            raise ArgumentError(
                f"expected a list of {kind}, got a data frame; name its column, such "
                f"as items[{names[0]!r}], of {known_names(names)}"
                if names
                else f"expected a list of {kind}, got a data frame without columns"
            )
        items = table.column(0)
    if is_column(items):
        column = as_column(items)
        check_full(column, "the column")
        if is_text(column.type):
            return Texts(column) if kind == "texts" else [*column.to_pylist()]
        raise ArgumentError(f"expected {kind}, got a column of {column.type}")
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
    with suppress(TypeError, ValueError, RuntimeError):
        return np.asarray(items)
    return items


def are_texts(items: Any) -> bool:
    """Return whether the first item that is not missing is a text."""
    if is_column(items):
        return is_text(as_column(items).type)
    if isinstance(items, np.ndarray):
        objects = items.dtype.kind == "O" and items.ndim == 1
        return items.dtype.kind in "UT" or (objects and isinstance(_first(items), str))
    return _is_list(items) and isinstance(_first(items), str)


def are_bytes(items: Any) -> bool:
    """Return whether items are a column or a list of bytes, as packed codes may be."""
    if is_column(items):
        return "binary" in str(as_column(items).type)
    return _is_list(items) and isinstance(_first(items), bytes)


def _is_image(item: Any) -> bool:
    return isinstance(item, Path) or hasattr(item, "getbands")


def _is_list(items: Any) -> bool:
    return isinstance(items, Sequence) and not isinstance(items, memoryview)


def _first(items: Any) -> Any:
    """Return the first item that is not missing, None where all are."""
    return next((item for item in items if not _is_missing(item)), None)


def _is_missing(item: Any) -> bool:
    nan = isinstance(item, float) and item != item
    return item is None or nan or type(item).__name__ == "NAType"
