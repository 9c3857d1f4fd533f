"""One function that reads whatever people keep their data in."""

import errno
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.inputs._tables import TABLES, read_table

Kind = Literal["vectors", "texts", "images"]
#: Whatever zipfile and NumPy make of an archive that is none.
_DAMAGE = (
    ValueError,
    EOFError,
    OSError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)
IMAGES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}


@dataclass(frozen=True)
class Input:
    """Items of one kind, in the order of the file.

    Attributes
    ----------
    kind : {"vectors", "texts", "images"}
    values : ndarray of shape (n, n_features), or list of str or Path
        Vectors of a .npy file are a memory map.
    labels : ndarray of str, or None
    source : str
        Where the items came from, for messages.
    """

    kind: Kind
    values: Any
    labels: NDArray[np.str_] | None
    source: str

    def __len__(self) -> int:
        return len(self.values)

    def columns(self) -> dict[str, list[str]]:
        """Return what is worth keeping beside the codes: texts or paths, labels."""
        columns = {}
        if self.kind == "texts":
            columns["text"] = list(self.values)
        if self.kind == "images":
            columns["path"] = [str(path) for path in self.values]
        if self.labels is not None:
            columns["label"] = self.labels.tolist()
        return columns


def read(
    path: str | Path, *, column: str | None = None, label_column: str | None = None
) -> Input:
    """Read items from a file, a folder of images, or standard input.

    Parameters
    ----------
    path : str or Path
        ``.npy`` or ``.npz`` (vectors), ``.parquet``, ``.arrow``, ``.feather``, ``.csv``
        or ``.tsv`` (a column of vectors or texts), ``.txt`` (a text per line), a folder
        of images (the label is the folder an image lies in), or ``-`` for texts from
        standard input.
    column, label_column : str, default=None
        Columns of a table, or arrays of a .npz file. Without `column`, the only one
        that fits is taken.

    Returns
    -------
    Input

    Raises
    ------
    ArtefactError
        When the file is not what its name says.
    ArgumentError
        When the file holds nothing, or `column` is missing or ambiguous.
    """
    if str(path) == "-":
        found = Input("texts", _lines(_standard_input()), None, "standard input")
    else:
        path = Path(path)
        found = _reader(path)(path, column, label_column)
    if len(found) == 0:
        raise ArgumentError(f"{found.source} holds no items")
    if found.labels is not None and len(found.labels) != len(found):
        raise ArgumentError(
            f"{found.source} holds {len(found)} items and {len(found.labels)} labels"
        )
    return found


def _reader(path: Path) -> Callable[[Path, str | None, str | None], Input]:
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    if path.is_dir():
        return _read_folder
    readers = {".npy": _read_npy, ".npz": _read_npz, ".txt": _read_lines}
    readers |= dict.fromkeys(TABLES, _read_columns)
    if path.suffix.lower() not in readers:
        raise ArgumentError(
            f"cannot tell what {path} holds; known are a folder of images and "
            f"{', '.join(sorted(readers))}"
        )
    return readers[path.suffix.lower()]


def _read_npy(path: Path, column: str | None, label_column: str | None) -> Input:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ArtefactError(
            f"{path} is no .npy file of numbers{_reason(error)}"
        ) from error
    if not isinstance(array, np.ndarray):
        raise ArtefactError(f"{path} is an archive, not a .npy file; name it .npz")
    return Input("vectors", _matrix(array, path), None, str(path))


def _read_npz(path: Path, column: str | None, label_column: str | None) -> Input:
    try:
        values, labels = _arrays(path, column, label_column)
    except FewbitsError:  # which may be a ValueError too
        raise
    except _DAMAGE as error:
        # A damaged archive asks for places before its start; all else is the system's.
        if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
            raise
        raise ArtefactError(
            f"{path} is no .npz file of numbers{_reason(error)}"
        ) from error
    return Input("vectors", _matrix(values, path), labels, str(path))


def _arrays(
    path: Path, column: str | None, label_column: str | None
) -> tuple[NDArray[Any], NDArray[np.str_] | None]:
    with path.open("rb") as opened:  # NumPy leaves a damaged archive open
        archive = np.load(opened, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ArtefactError(f"{path} is a single array, no archive; name it .npy")
        names = archive.files
        name = column or _only([n for n in names if n != label_column], path)
        for wanted in {name, label_column} - {None, *names}:
            raise ArgumentError(
                f"{path} has no array {wanted!r}; it has {', '.join(names)}"
            )
        labels = archive[label_column].astype(np.str_) if label_column else None
        return archive[name], labels


def _read_columns(path: Path, column: str | None, label_column: str | None) -> Input:
    kind, values, labels = read_table(path, column, label_column)
    return Input(kind, values, labels, str(path))


def _read_lines(path: Path, column: str | None, label_column: str | None) -> Input:
    try:
        return Input("texts", _lines(path.read_text("utf-8")), None, str(path))
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{path} is no UTF-8 text: {error}") from error


def _read_folder(path: Path, column: str | None, label_column: str | None) -> Input:
    files = sorted(p for p in path.rglob("*") if p.suffix.lower() in IMAGES)
    nested = any(file.parent != path for file in files)
    labels = np.array([file.parent.name for file in files]) if nested else None
    return Input("images", files, labels, str(path))


def _matrix(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim != 2:
        raise ArtefactError(
            f"{path} holds an array of shape {array.shape}; "
            "vectors need (n, n_features)"
        )
    return array


def _reason(error: Exception) -> str:
    """Leave out NumPy's advice to load pickled data, which nobody should follow."""
    return f": {error}" if str(error) and "pickle" not in str(error) else ""


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ArtefactError(f"standard input is no UTF-8 text: {error}") from error


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _only(names: list[str], path: Path) -> str:
    if len(names) != 1:
        raise ArgumentError(
            f"{path} holds {len(names)} arrays ({', '.join(names)}); say which one "
            "with --column"
        )
    return names[0]
