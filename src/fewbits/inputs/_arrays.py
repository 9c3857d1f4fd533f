"""Vectors and labels in NumPy's own files."""

import errno
import warnings
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import known_names
from fewbits._labels import as_label_names
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, one_line
from fewbits.inputs._checks import checked_vectors
from fewbits.inputs._input import Input

#: Whatever NumPy makes of a header that is none: it is written as Python.
_BAD_HEADER = (ValueError, EOFError, SyntaxError, TokenError, OverflowError)
#: Whatever zipfile and NumPy make of an archive that is none.
_DAMAGE = (
    *_BAD_HEADER,
    MemoryError,
    OSError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)


def read_npy(path: Path) -> Input:
    """Map the vectors of a .npy file."""
    array = load_array(path, f"{path} is not a .npy file of numbers", mmap_mode="r")
    if not isinstance(array, np.ndarray):
        raise ArtefactError(f"{path} is an archive, not a .npy file; name it .npz")
    return Input("vectors", checked_vectors(array, str(path)), None, str(path))


def load_array(file: Any, damage: str, mmap_mode: Literal["r"] | None = None) -> Any:
    """Return what NumPy reads; `damage` begins the message where it cannot."""
    try:
        with warnings.catch_warnings():
            # Of headers with old names of types, which are refused or read as well.
            warnings.simplefilter("ignore", DeprecationWarning)
            return np.load(file, mmap_mode=mmap_mode, allow_pickle=False)
    except _BAD_HEADER as error:
        raise ArtefactError(f"{damage}{_reason(error)}") from error


def read_npz(
    path: Path, column: str | None, label_column: str | None, id_column: str | None
) -> tuple[Input, NDArray[Any] | None]:
    """Read one array of vectors, and those of labels and of ids, from a .npz file."""
    try:
        values, labels, ids = _arrays(path, column, label_column, id_column)
    except FewbitsError:  # which may be a ValueError too
        raise
    except _DAMAGE as error:
        # A damaged archive asks for places before its start; all else is the system's.
        if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
            raise
        raise ArtefactError(
            f"{path} is not a .npz file of numbers{_reason(error)}"
        ) from error
    if labels is not None:
        labels = as_label_names(labels, f"labels {label_column!r} of {path}")
    vectors = checked_vectors(values, str(path))
    if ids is not None and ids.shape != (len(vectors),):
        raise ArgumentError(
            f"{path} holds {len(vectors)} vectors, but {id_column!r} has shape "
            f"{ids.shape}"
        )
    return Input("vectors", vectors, labels, str(path)), ids


def _arrays(
    path: Path, column: str | None, *beside: str | None
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
    with path.open("rb") as opened:  # NumPy leaves a damaged archive open
        archive = np.load(opened, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ArtefactError(f"{path} is a single array, no archive; name it .npy")
        names = archive.files
        if {"data", "indices", "indptr", "shape"} <= {*names}:
            raise ArtefactError(
                f"{path} holds a sparse matrix of SciPy; save X.toarray() as .npy"
            )
        # Names that were given come first: which array fits depends on them.
        for wanted in (column, *beside):
            if wanted is not None and wanted not in names:
                raise ArgumentError(
                    f"{path} has no array {wanted!r}; it has {known_names(names)}"
                )
        name = column or _only([n for n in names if n not in beside], path)
        labels, ids = (None if each is None else archive[each] for each in beside)
        return archive[name], labels, ids


def _only(names: list[str], path: Path) -> str:
    if len(names) != 1:
        raise ArgumentError(
            f"{path} holds {len(names)} arrays ({known_names(names)}); name one (on "
            "the command line by --column)"
        )
    return names[0]


def _reason(error: Exception) -> str:
    """Leave out NumPy's advice to load pickled data, which is unsafe."""
    return "" if "pickle" in str(error) else f": {one_line(error)}"
