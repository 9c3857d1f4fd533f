"""What vectors, texts and labels must be, said with the file's name."""

import reprlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._label_values import as_strings
from fewbits._labels import as_labels as check_names
from fewbits.errors import ArgumentError, ArtefactError

_BLOCK_BYTES = 1 << 26


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
    """Refuse one text, path or image where several are needed: it is no list.

    Raises
    ------
    ArgumentError
        Shows the list to give instead.
    """
    if isinstance(items, str | bytes | Path):
        what = "path" if isinstance(items, Path) else "string"
        raise ArgumentError(
            f"give a list of items, not one {what}: {reprlib.repr([items])}"
        )
    if hasattr(items, "getbands"):  # an image of Pillow, which is an Arrow column, too
        raise ArgumentError("give a list of items, not one image: [image]")


def check_texts(texts: Sequence[str], source: str) -> None:
    """Refuse a text that says nothing: its features would be zeros.

    Raises
    ------
    ArgumentError
        Names the first blank text by its row, counted from 0 as ids are.
    """
    for row, text in enumerate(texts):
        if not text.strip():
            raise ArgumentError(
                f"{source} holds a blank text in row {row}; leave it out or fill it in"
            )


def check_labelled(labels: NDArray[Any], source: str) -> None:
    """Refuse gaps among labels: they would be a class of their own.

    Raises
    ------
    ArgumentError
        Says how many there are.
    """
    missing = sum(not label.strip() for label in labels.tolist())
    if missing:
        raise ArgumentError(
            f"{missing} of {len(labels)} rows have no label in {source}; fill them in, "
            "or leave the rows out"
        )


def as_labels(array: NDArray[Any], name: str, source: str) -> NDArray[Any]:
    """Return one string per item, or a matrix of 0 and 1."""
    what = f"labels {name!r} of {source}"
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2:
        return _label_matrix(array, what)
    if array.ndim != 1:
        raise ArgumentError(
            f"{what} have shape {array.shape}; labels need (n,) or (n, n_classes)"
        )
    if array.dtype.kind == "O" and all(isinstance(x, str) for x in array.tolist()):
        array = as_strings(array.tolist())
    if array.dtype.kind not in "biufU":
        raise ArgumentError(
            f"{what} are of dtype {array.dtype}; classes need names or whole numbers"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ArgumentError(
            f"{what} are missing in row {np.isnan(array).argmax()}, got nan"
        )
    if array.dtype.kind == "f":
        array = _whole(array, what)
    names = array.astype(np.str_)
    check_labelled(names, f"{name!r} of {source}")
    if array.dtype.kind == "U":
        check_names(array, what)  # NumPy makes "nan" of what is missing
    return names


def _whole(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Return classes that are numbered by floats as integers."""
    wide = array.astype(np.float64)
    if (part := wide != np.floor(wide)).any() or np.isinf(wide).any():
        other = array[(part | np.isinf(wide)).argmax()]
        raise ArgumentError(
            f"{what} are real numbers, such as {other}; classes need names or whole "
            "numbers"
        )
    largest = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    if (large := np.abs(wide) > largest).any():
        raise ArgumentError(
            f"{what} are numbers such as {array[large.argmax()]}, too large for "
            f"{array.dtype} to tell apart; give integers or names"
        )
    return wide.astype(np.int64)


def _label_matrix(array: NDArray[Any], what: str) -> NDArray[np.uint8]:
    needed = "a matrix of labels must hold 0 and 1 only"
    if array.dtype.kind not in "biuf":
        raise ArgumentError(
            f"{what} have shape {array.shape} and dtype {array.dtype}; {needed}, one "
            "column for each class (as in a .npy file of their own)"
        )
    wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        other = array.flat[wrong.argmax()]
        raise ArgumentError(
            f"{what} have shape {array.shape} and hold {other}; {needed}"
        )
    return array.astype(np.uint8)
