"""One function that reads whatever people keep their data in."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fewbits.errors import ArgumentError
from fewbits.inputs._arrays import read_npy, read_npz
from fewbits.inputs._image_folder import find_images, is_image
from fewbits.inputs._input import Input
from fewbits.inputs._label_files import SUFFIXES, read_labels
from fewbits.inputs._lines import read_lines, read_standard_input
from fewbits.inputs._tables import TABLES, read_table

_FOLDER_HINT = "; the labels of images are the names of the subfolders they lie in"
_PLAIN = {".npy": read_npy, ".txt": read_lines}


def read(
    path: str | Path,
    *,
    column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] = (),
) -> Input:
    """Read items from a file, a folder of images, or standard input.

    Parameters
    ----------
    path : str or Path
        ``.npy`` or ``.npz`` (vectors), ``.parquet``, ``.arrow``, ``.feather``, ``.csv``
        or ``.tsv`` (a column of vectors or texts, or nothing but columns of numbers),
        ``.txt`` (a text per line), an image (``.jpg``, ``.png``, ...), a folder of
        images (the label is the folder an image lies in), or ``-`` for texts from
        standard input. Columns of a .csv are separated by commas, semicolons or tabs,
        as in its first line.
    column, label_column : str, default=None
        Columns of a table, or arrays of a .npz file; labels of a .npy or .txt file may
        be in another file of these kinds. Without `column`, the only one
        that fits is taken, or the numbers of each row where all other columns hold
        numbers.
    names : sequence of str, default=()
        Of a table whose numbers lie side by side, the columns to take, in this order;
        all others are left out. A table that has none of them is read as without.

    Returns
    -------
    Input

    Warns
    -----
    UserWarning
        When blank lines between texts are left out, so that ids are no line numbers;
        or a column of row numbers, such as ``id``, beside columns of other numbers.

    Raises
    ------
    ArtefactError
        When the file is not what its name says, or not UTF-8.
    ArgumentError
        When the file holds nothing, a blank text in a table, rows without a label, or
        numbers that are not finite; when `column` is missing or ambiguous, or named for
        a file without columns.
    """
    found = _read(path, column, label_column, names)
    if len(found) == 0:
        raise ArgumentError(f"{found.source} holds no items")
    if found.labels is not None and len(found.labels) != len(found):
        raise ArgumentError(
            f"{found.source} holds {len(found)} items and {len(found.labels)} labels"
        )
    return found


def _read(
    path: str | Path,
    column: str | None,
    label_column: str | None,
    names: Sequence[str],
) -> Input:
    if str(path) == "-":
        _refuse_columns("standard input", column, label_column)
        return read_standard_input()
    path = Path(path)
    suffix = path.suffix.lower()
    _check_readable(path)
    if not path.is_dir() and suffix in TABLES:
        return read_table(path, column, label_column, names)
    if not path.is_dir() and suffix == ".npz":
        return read_npz(path, column, label_column)
    if is_image(path):
        _refuse_columns(str(path), column, label_column)
        return Input("images", [path], None, str(path))
    reader = _read_folder if path.is_dir() else _PLAIN.get(suffix)
    if reader is None:
        raise ArgumentError(
            f"cannot tell what {path} holds; known are images (.jpg, .png, ...), "
            f"folders of them and {', '.join(sorted({*_PLAIN, *TABLES, '.npz'}))}"
        )
    if path.is_dir():
        _refuse_columns(str(path), column, label_column, _FOLDER_HINT)
        return reader(path)
    labels = None if label_column is None else Path(label_column)
    if labels is not None and labels.suffix in SUFFIXES and not labels.exists():
        raise FileNotFoundError(f"there is no {labels}")
    if labels is None or not labels.is_file():
        hint = f"; labels may lie in a file of their own, {' or '.join(SUFFIXES)}"
        _refuse_columns(str(path), column, label_column, hint)
        return reader(path)
    _refuse_columns(str(path), column, None)
    return replace(reader(path), labels=read_labels(labels, str(path)))


def _check_readable(path: Path) -> None:
    """Let the system say why not: a reader would take it for damage."""
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    if path.is_dir():
        os.listdir(path)
    elif path.is_file():  # a pipe can be opened only once
        path.open("rb").close()


def _refuse_columns(
    source: str, column: str | None, label_column: str | None, hint: str = ""
) -> None:
    for what, name in (("column", column), ("label column", label_column)):
        if name is not None:
            raise ArgumentError(f"{source} has no columns, got {what} {name!r}{hint}")


def _read_folder(path: Path) -> Input:
    files, labels = find_images(path)
    return Input("images", files, labels, str(path))
