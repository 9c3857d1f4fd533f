"""Options of a reader, its result, and the checks of items."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import is_number, missing_message
from fewbits._checks import check_count
from fewbits._features import row_spans
from fewbits._lazy import pa
from fewbits.errors import ArgumentError, ArtefactError

Kind = Literal["vectors", "texts", "images", "codes"]
#: How rows without a text or a label are left out.
SKIP_HINT = (
    "fill it in, or leave such rows out by skip_blank=True (on the command line "
    "--skip-blank)"
)


@dataclass(frozen=True)
class Options:
    """Names of columns, and how they are read, see `fewbits.inputs.read`."""

    column: tuple[str, ...] = ()
    images: str | None = None
    codes: str | None = None
    label: str | None = None
    id: str | None = None
    columns: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()
    skip_blank: bool = False
    as_text: tuple[str, ...] = ()
    kind: str | None = None
    types: Mapping[str, Any] = field(default_factory=dict)
    default_id: str | None = None
    as_numbers: tuple[str, ...] = ()

    def named(self) -> dict[str, str]:
        """Return the columns that are asked for, which only a table has."""
        several = [("column", name) for name in self.column]
        several += [("columns", name) for name in self.columns or ()]
        options = {name: option for option, name in several}
        for option in ("images", "codes", "label", "id"):
            if (name := getattr(self, option)) is None:
                continue
            if not isinstance(name, str):
                example = "ids=[...]"
                if option != "id":
                    example = f"columns={{'name': [...]}}, {option}='name'"
                raise ArgumentError(
                    f"{option} is the name of a column, got {type(name).__name__}; "
                    f"values beside the items are given as {example}"
                )
            options[name] = option
        return options

    def stays_text(self, name: str) -> bool:
        """Return whether a column of CSV stays as it is written."""
        if name in self.types:
            kind = self.types[name]
            return not (is_number(kind) or pa.types.is_boolean(kind))
        return name in (self.label, self.codes, self.images, *self.as_text)

    def are_numbers(self, name: str) -> bool:
        """Return whether a column is known to hold numbers."""
        kind = self.types.get(name)
        return name in self.as_numbers or (kind is not None and is_number(kind))

    def refuse_columns(self, source: str, hint: str = "") -> None:
        """Refuse a column where there are none."""
        for name, option in self.named().items():
            raise ArgumentError(f"{source} has no columns, got {option}={name!r}{hint}")

    def array_name(self, source: str) -> str | None:
        """Return the name of the items in an archive of arrays."""
        replace(self, column=(), codes=None, label=None, id=None).refuse_columns(source)
        if len(self.column) > 1:
            raise ArgumentError(
                f"{source} gives one array, got {len(self.column)} names: "
                f"{', '.join(self.column)}"
            )
        return self.codes or (self.column[0] if self.column else None)


class Texts(Sequence[str]):
    """A read-only list of texts over an Arrow column, whose memory they stay in."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> Any:
        part = self.column[key]
        return part.to_pylist() if isinstance(key, slice) else part.as_py()

    def __iter__(self) -> Iterator[str]:
        for chunk in self.column.chunks:
            for start in range(0, len(chunk), 1024):
                yield from chunk[start : start + 1024].to_pylist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        same = zip(self, other, strict=False)
        return len(self) == len(other) and all(a == b for a, b in same)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Texts({len(self):,} texts)"


@dataclass(frozen=True, repr=False)
class Input:
    """Items of one kind, in the order of the file.

    Attributes
    ----------
    kind : {"vectors", "texts", "images", "codes"}
    values : ndarray of shape (n, n_features), or sequence of str or Path
        Vectors of a .npy file are a memory map, those of a sparse matrix its rows.
        Codes are packed, of shape (n, n_bytes) and dtype uint8, the first bit highest.
    labels : ndarray of str, of shape (n,), or None
        Or a matrix of 0 and 1, shape (n, n_classes) and dtype uint8, where an item may
        have several labels.
    source : str
        Where the items came from, for messages.
    names : tuple of str, default=()
        Of the columns that vectors lie in side by side, in their order.
    ids : pyarrow.ChunkedArray of whole numbers or texts, default=None
        The user's own.
    columns : mapping of str to pyarrow.ChunkedArray, default={}
        Other columns of the table.
    column, label, id : str, default=None
        Names of the columns of items (texts, images, lists), labels and ids.
    likely_id : str, default=None
        Where no ids were asked for, the column called ``id``, if it could give them.
    n_bits : int, default=None
        Of codes.
    """

    kind: Kind
    values: Any
    labels: NDArray[Any] | None
    source: str
    names: tuple[str, ...] = ()
    ids: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    column: str | None = None
    label: str | None = None
    id: str | None = None
    likely_id: str | None = None
    n_bits: int | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Input({len(self):,} {self.kind} of {self.source})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        if self.kind != "vectors":
            raise TypeError(f"{self.source} holds {self.kind}, not vectors")
        return np.array(self.values, dtype, copy=copy)

    def sample(self, n_rows: int, random_state: int | None = 0) -> Self:
        """Return some items drawn at random, or all, with labels but no ids."""
        if check_count(n_rows, "the number of rows") >= len(self):
            return self
        rows = np.random.default_rng(random_state).choice(
            len(self), n_rows, replace=False, shuffle=False
        )
        return replace(self.take(np.sort(rows)), ids=None)

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the items of some rows, in the order of `rows`."""
        is_array = isinstance(self.values, np.ndarray)
        return replace(
            self,
            values=self.values[rows] if is_array else _taken(self.values, rows),
            labels=None if self.labels is None else self.labels[rows],
            ids=None if self.ids is None else _taken(self.ids, rows),
            columns={name: _taken(x, rows) for name, x in self.columns.items()},
        )

    def labels_hint(self) -> str:
        """Describe how labels are given, for messages."""
        if self.kind == "images" and self.column is None:
            return "put the images of each class into a subfolder of its own"
        return "name their column, or their file (on the command line by --label)"

    def stored_columns(self) -> dict[str, Any]:
        """Return the columns to store beside the codes: texts or paths, labels.

        Those of a table keep their names and types; others are called ``text``,
        ``path`` and ``label``. Paths are absolute, so that they still lead to the
        images from another folder.
        """
        columns: dict[str, Any] = {}
        if self.kind == "texts":
            texts = getattr(self.values, "column", None)
            columns[self.column or "text"] = (
                list(self.values) if texts is None else texts
            )
        if self.kind == "images" and all(
            isinstance(item, str | os.PathLike) for item in self.values
        ):
            paths = [os.path.abspath(path) for path in self.values]
            columns[self.column or "path"] = paths
        if self.labels is not None and self.label is None:
            columns["label"] = self.labels.tolist()
        return {**columns, **self.columns}


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(column, "take"):
        return column.take(rows)
    return [column[int(row)] for row in rows]


def checked_vectors(array: Any, source: str) -> Any:
    """Return a matrix of finite real numbers; memory maps stay memory maps."""
    if array.ndim != 2:
        raise ArtefactError(
            f"{source} holds an array of shape {array.shape}; "
            "vectors need (n, n_features)"
        )
    if array.dtype.kind not in "fiub":
        raise ArtefactError(
            f"{source} holds dtype {array.dtype}; vectors need real numbers"
        )
    if array.dtype.kind != "f":
        return array
    for span in row_spans(array):
        finite = np.isfinite(block := array[span])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ArgumentError(
                f"{source} holds {block[row, column]} in row {span.start + row}, "
                f"column {column}; vectors must be finite"
            )
    return array


def check_several(items: Any) -> None:
    """Refuse one text, path or image where several are needed, by the list to give."""
    if isinstance(items, str | bytes | Path):
        what = "path" if isinstance(items, Path) else "string"
        shown = f"give a list of items, not one {what}: {reprlib.repr([items])}"
        # A page of a text may be longer than a path can be, which is no file either.
        hint = "; fewbits.inputs.read reads a file" if os.path.isfile(items) else ""
        raise ArgumentError(shown + hint)
    if hasattr(items, "getbands"):  # an image of Pillow, which is an Arrow column, too
        raise ArgumentError("give a list of items, not one image: [image]")


def blank_rows(texts: Iterable[str | None]) -> list[int]:
    """Return the rows without a text, or with white space alone."""
    return [row for row, text in enumerate(texts) if not text or not text.strip()]


def check_texts(
    texts: Sequence[str], source: str, hint: str = "leave it out or fill it in"
) -> None:
    """Refuse blank texts, whose features would be zeros, by their rows from 0 on."""
    if rows := blank_rows(texts):
        first: str | None = texts[rows[0]]
        problem = "has no text" if first is None else "holds a blank text"
        more = f" and {len(rows) - 1:,} more" * (len(rows) > 1)
        raise ArgumentError(f"{source} {problem} in row {rows[0]}{more}; {hint}")


def check_full(column: Any, what: str) -> None:
    """Refuse a column with gaps."""
    if column.null_count:
        raise ArgumentError(missing_message(column, what))
