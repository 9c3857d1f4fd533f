"""Public data sets, and files of them that all commands read."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import install_hint, missing_extra
from fewbits._files import atomic_write
from fewbits._repr import short_repr
from fewbits.errors import ArgumentError

__all__ = [
    "Dataset",
    "Entry",
    "available",
    "load",
    "load_digits",
    "load_icd10",
]

_QUERIES = 1000  # at most, of a tenth of the items
_ENDINGS = {"texts": (".csv",), "vectors": (".npz", ".npy")}


@dataclass(frozen=True)
class Dataset:
    """Items, their labels, and the standard splits.

    Attributes
    ----------
    name : str
    kind : {"texts", "images", "vectors"}
    items : sequence
        Texts, images, or a matrix of vectors.
    keys : sequence of str
        The name that the source gives each item.
    labels : mapping of str to ndarray of shape (n,)
        Classes of the items, from coarse to fine where there are several.
    splits : mapping of str to ndarray of int
        Rows of named parts, such as "train" and "test".
    source, licence : str
    """

    name: str
    kind: str
    items: Any
    keys: Sequence[str]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    splits: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    source: str = ""
    licence: str = ""

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is loaded: `how` is what gets it."""

    name: str
    kind: str
    size: str
    licence: str
    present: bool
    how: str


def load_digits() -> Dataset:
    """Return scikit-learn's digits as vectors of 64 pixels between 0 and 16.

    The set has no customary split, so it gets none.

    Returns
    -------
    Dataset
        Items are a float32 matrix; the label ``class`` is the digit.
    """
    from sklearn.datasets import load_digits as load

    pixels, digits = load(return_X_y=True)
    return Dataset(
        name="digits",
        kind="vectors",
        items=np.asarray(pixels, dtype=np.float32),
        keys=[f"{row:04d}" for row in range(len(pixels))],
        labels={"class": np.asarray(digits, dtype=np.int64)},
        source="scikit-learn, from the UCI repository's optical digits",
        licence="CC BY 4.0",
    )


def load_icd10() -> Dataset:
    """Return the diagnoses of ICD-10-CM, the leaves of the classification.

    Twelve leaves of the package's tree are ranges of codes, not diagnoses; they are
    left out. Some descriptions occur more than once.

    Returns
    -------
    Dataset
        Items are the descriptions, keys the codes; labels are ``chapter``, ``block``
        and ``category`` (the three-character code).

    Raises
    ------
    MissingExtraError
        When the package that holds the classification is not installed.
    """
    try:
        with warnings.catch_warnings():
            # It reads its tables through a deprecated function of the library.
            warnings.simplefilter("ignore", DeprecationWarning)
            import simple_icd_10_cm as icd
    except ImportError:
        what = "ICD-10-CM comes with the package simple-icd-10-cm"
        raise missing_extra(what, "text") from None
    leaves = [code for code in icd.get_all_codes() if icd.is_leaf(code)]
    codes = [code for code in leaves if icd.is_category_or_subcategory(code)]
    lines = [icd.get_ancestors(code) for code in codes]
    return Dataset(
        name="icd10",
        kind="texts",
        items=[icd.get_description(code) for code in codes],
        keys=codes,
        labels={
            "chapter": np.array([icd.get_description(line[-1]) for line in lines]),
            "block": np.array([line[-2] for line in lines]),
            "category": np.array([code[:3] for code in codes]),
        },
        source="package simple-icd-10-cm",
        licence="public domain (classification), MIT (package)",
    )


_LOADERS: dict[str, Callable[[], Dataset]] = {
    "digits": load_digits,
    "icd10": load_icd10,
}


def available() -> list[Entry]:
    """Return the data sets that can be loaded."""
    has_icd10 = find_spec("simple_icd_10_cm") is not None
    size, how = "about 74,000 diagnoses", install_hint("text")
    return [
        Entry("digits", "vectors", "1,797 x 64", "CC BY 4.0", True, "with fewbits"),
        Entry("icd10", "texts", size, "public domain", has_icd10, how),
    ]


def load(name: str) -> Dataset:
    """Return the data set called `name`.

    Raises
    ------
    ArgumentError
        When there is no such data set.
    MissingExtraError
        When it is not on this machine.
    """
    if name not in _LOADERS:
        raise ArgumentError(f"no data set {name!r}; known: {', '.join(_LOADERS)}")
    return _LOADERS[name]()


def export(data: Dataset, path: str | Path) -> int:
    """Write items and labels to a file, of items that are there twice the first."""
    path = Path(path)
    if data.kind not in _ENDINGS:
        raise ArgumentError(
            f"{data.name} holds {data.kind}; data sets of texts or vectors are exported"
        )
    endings = _ENDINGS[data.kind]
    if path.suffix not in endings:
        raise ArgumentError(
            f"{data.name} holds {data.kind}, which are written to a "
            f"{' or '.join(endings)} file, got {path}"
        )
    # Keys are the ids of what is written.
    first = np.unique(data.keys, return_index=True)[1]
    if len(first) < len(data.keys):
        data = _rows_of(data, first)
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            text = io.TextIOWrapper(file, "utf-8", newline="")
            writer = csv.writer(text)
            keys = {"id": data.keys} if len(data.keys) == len(data) else {}
            columns = {**keys, "text": data.items, **data.labels}
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
            text.detach()  # flushes, and leaves the file open
        elif path.suffix == ".npz":
            labels: dict[str, Any] = {  # objects would need pickles
                name: values.astype(np.str_) if values.dtype.kind == "O" else values
                for name, values in data.labels.items()
            }
            np.savez(file, vector=data.items, **labels)
        else:
            np.save(file, data.items)
    return len(data)


def hold_out(data: Dataset) -> tuple[Dataset, Dataset]:
    """Return the items but a tenth, 1,000 at most, and these as queries."""
    n_queries = min(_QUERIES, len(data) // 10)
    if not n_queries:
        raise ArgumentError(f"{len(data)} items are too few to hold out a tenth")
    order = np.random.default_rng(0).permutation(len(data))
    return _rows_of(data, order[n_queries:]), _rows_of(data, order[:n_queries])


def _rows_of(data: Dataset, rows: NDArray[np.int64]) -> Dataset:
    rows = np.sort(rows)
    items = data.items
    return replace(
        data,
        items=items[rows] if hasattr(items, "shape") else [items[i] for i in rows],
        keys=[data.keys[i] for i in rows] if data.keys else data.keys,
        labels={name: values[rows] for name, values in data.labels.items()},
        splits={},
    )
