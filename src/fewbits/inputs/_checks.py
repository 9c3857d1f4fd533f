"""Validation of vectors and texts; messages name the file."""

import os
import reprlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    check_no_blank,
    is_integer,
    is_text,
    missing_message,
    repeated,
)
from fewbits.errors import ArgumentError, ArtefactError

_BLOCK_BYTES = 1 << 26
_SHOWN = 40  # characters of an id in a message


def checked_vectors(array: NDArray[Any], source: str) -> NDArray[Any]:
    """Return a matrix of finite real numbers; memory maps stay memory maps.

    Encoders check this too, but cannot say which file it was.
    """
    if array.ndim != 2:
        raise ArtefactError(
            f"{source} holds an array of shape {array.shape}; "
            "vectors need (n, n_features)"
        )
    if array.dtype.kind not in "fiub":
        raise ArtefactError(
            f"{source} holds dtype {array.dtype}; vectors need real numbers"
        )
    if array.dtype.kind == "f":
        _check_finite(array, source)
    return array


def _check_finite(array: NDArray[Any], source: str) -> None:
    rows = max(1, _BLOCK_BYTES // (array.itemsize * max(1, array.shape[1])))
    for start in range(0, len(array), rows):
        finite = np.isfinite(array[start : start + rows])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ArgumentError(
                f"{source} holds {array[start + row, column]} in row {start + row}, "
                f"column {column}; vectors must be finite"
            )


def check_several(items: Any) -> None:
    """Refuse one text, path or image where several are needed: it is not a list.

    Raises
    ------
    ArgumentError
        Shows the list to give instead.
    """
    if isinstance(items, str | bytes | Path):
        what = "path" if isinstance(items, Path) else "string"
        shown = f"give a list of items, not one {what}: {reprlib.repr([items])}"
        # A page of a text may be longer than a path can be, which is no file either.
        hint = "; fewbits.read reads a file" if os.path.isfile(items) else ""
        raise ArgumentError(shown + hint)
    if hasattr(items, "getbands"):  # an image of Pillow, which is an Arrow column, too
        raise ArgumentError("give a list of items, not one image: [image]")


def blank_rows(texts: Iterable[str | None]) -> list[int]:
    """Return the rows without a text, or with white space alone."""
    return [row for row, text in enumerate(texts) if not text or not text.strip()]


def check_texts(
    texts: Sequence[str], source: str, hint: str = "leave it out or fill it in"
) -> None:
    """Refuse blank texts: their features would be zeros.

    Raises
    ------
    ArgumentError
        Names the first blank text by its row, counted from 0 as ids are.
    """
    if rows := blank_rows(texts):
        first: str | None = texts[rows[0]]
        problem = "has no text" if first is None else "holds a blank text"
        more = f" and {len(rows) - 1:,} more" * (len(rows) > 1)
        raise ArgumentError(f"{source} {problem} in row {rows[0]}{more}; {hint}")


def check_full(column: Any, what: str) -> None:
    """Refuse a column with gaps."""
    if column.null_count:
        raise ArgumentError(missing_message(column, what))


def check_ids(column: Any, what: str) -> None:
    """Refuse ids that are missing, blank, repeated, or of another type."""
    check_full(column, what)
    if not (is_integer(column.type) or is_text(column.type)):
        raise ArgumentError(
            f"{what} holds {column.type}; ids are whole numbers or texts"
        )
    if is_text(column.type):
        check_no_blank(column, what)
    _check_unique(column, what)


def _check_unique(column: Any, what: str) -> None:
    if (found := repeated(column)) is not None:
        value, count = found
        raise ArgumentError(
            f"{what} holds {str(value)[:_SHOWN]!r} in {count} rows; an id names one "
            "item from all others"
        )
