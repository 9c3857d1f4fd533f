"""Names of classes: unique integers, numbers, booleans or strings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._artefacts import Tensors
from fewbits._frozen import frozen_array, read_only
from fewbits._labels import as_labels, check_same_kind, label_kind
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError

_DTYPES = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}


def as_names(names: ArrayLike, n_classes: int) -> Array:
    """Return a read-only array of one name for each class.

    Raises
    ------
    ArgumentError
        When there are more or fewer than classes, or of several kinds, or one twice.
    """
    array = as_name_array(names, "names of classes")
    if len(array) != n_classes:
        raise ArgumentError(f"{n_classes} class codes, but {len(array)} names")
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) < len(array):
        twice = unique[counts.argmax()]
        raise ArgumentError(f"names of classes must be unique, got {twice!s} twice")
    if array.dtype.hasobject:
        return read_only(array.copy())
    return frozen_array(array)


def as_name_array(names: ArrayLike, what: str) -> Array:
    """Return a list of names as int64, float64, bool or str."""
    array = as_labels(names, what)
    if label_kind(array) == "strings":
        return array.astype(np.str_)
    return array.astype(_DTYPES[array.dtype.kind])


def find_names(names: Array, labels: ArrayLike) -> IdArray:
    """Return where `names` holds each label.

    Raises
    ------
    ArgumentError
        When a label is none of the names, or of another kind.
    """
    wanted = as_name_array(labels, "labels")
    if not wanted.size:
        return np.empty(0, np.int64)
    check_same_kind(wanted, names, ("labels", "the names of classes"))
    order = np.argsort(names, kind="stable")
    places = np.searchsorted(names, wanted, sorter=order)
    rows = order[np.minimum(places, len(names) - 1)]
    unknown = wanted[names[rows] != wanted]
    if unknown.size:
        raise ArgumentError(
            f"{unknown.size} of {wanted.size} labels are beyond the codebook of "
            f"{len(names)} classes: {unknown[0]!s} is the first"
        )
    return rows.astype(np.int64)


def names_at(names: Array, rows: ArrayLike, none: Any) -> Array:
    """Return the names at some rows, and `none` for rows of -1.

    Raises
    ------
    ArgumentError
        When a row is beyond the names, or -1 without a name of their kind for it.
    """
    places = np.asarray(rows)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise ArgumentError(
            f"rows must be a list of integers, got {places.dtype} of shape "
            f"{places.shape}"
        )
    places = places.astype(np.int64)
    if places.size and not (places.min() >= -1 and places.max() < len(names)):
        raise ArgumentError(
            f"rows must lie between -1 and {len(names) - 1}, got {places.min()} to "
            f"{places.max()}"
        )
    known = places >= 0
    if known.all():
        return np.asarray(names[places])
    if none is None:
        raise ArgumentError(
            f"{np.sum(~known)} of {len(places)} rows are -1, no class: say what to "
            "call them with none=..."
        )
    blank = isinstance(none, str) and not none.strip()  # a name for no class only
    other = np.array([none]) if blank else as_name_array([none], "none")
    if other.dtype.kind != names.dtype.kind:
        raise ArgumentError(f"classes are named by {names.dtype}, none by {none!r}")
    return np.where(known, names[places], other)


def name_tensors(names: Array) -> Tensors:
    """Return names as tensors; strings as UTF-8 and where each of them ends."""
    if names.dtype.kind != "U":
        return {"names": np.asarray(names)}
    texts = [name.encode() for name in names.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {"names.text": np.frombuffer(b"".join(texts), np.uint8), "names.end": ends}


def names_from_tensors(tensors: Tensors) -> Array:
    """Return the names that `name_tensors` made tensors of.

    Raises
    ------
    LookupError, ValueError
        When they are not such tensors.
    """
    if "names" in tensors:
        return tensors["names"]
    text, ends = tensors["names.text"].tobytes(), tensors["names.end"]
    starts = np.concatenate([np.zeros(1, ends.dtype), ends[:-1]])
    return np.array(_slices(text, starts, ends), dtype=np.str_)


def _slices(text: bytes, starts: NDArray[Any], ends: NDArray[Any]) -> list[str]:
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [text[start:end].decode() for start, end in spans]
