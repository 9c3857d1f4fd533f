"""The result of every reader."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count

Kind = Literal["vectors", "texts", "images"]


@dataclass(frozen=True, repr=False)
class Input:
    """Items of one kind, in the order of the file.

    Attributes
    ----------
    kind : {"vectors", "texts", "images"}
    values : ndarray of shape (n, n_features), or sequence of str or Path
        Vectors of a .npy file are a memory map.
    labels : ndarray of str, of shape (n,), or None
        Or a matrix of 0 and 1, shape (n, n_classes) and dtype uint8, where an item may
        have several labels.
    source : str
        Where the items came from, for messages.
    names : tuple of str, default=()
        Of the columns that vectors lie in side by side, in their order.
    ids : pyarrow.ChunkedArray of whole numbers or texts, default=None
        The user's own.
    beside : mapping of str to pyarrow.ChunkedArray, default={}
        Other columns of the table.
    item_column, label_column, id_column : str, default=None
        Names of the columns of texts, labels and ids.
    likely_id_column : str, default=None
        Where no ids were asked for, the column called ``id``, if it could give them.
    """

    kind: Kind
    values: Any
    labels: NDArray[Any] | None
    source: str
    names: tuple[str, ...] = ()
    ids: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    item_column: str | None = None
    label_column: str | None = None
    id_column: str | None = None
    likely_id_column: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Input({len(self):,} {self.kind} of {self.source})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        if self.kind != "vectors":
            raise TypeError(f"{self.source} holds {self.kind}, not vectors")
        return np.array(self.values, dtype, copy=copy)

    def sample(self, n_rows: int, random_state: int | None = 0) -> Self:
        """Return items drawn at random with their labels, to learn from.

        Parameters
        ----------
        n_rows : int
            How many; all of them where there are no more.
        random_state : int, default=0
            Seeds the drawing.

        Returns
        -------
        Input
            In the order of the file, without ids.
        """
        if check_count(n_rows, "the number of rows") >= len(self):
            return self
        drawn = np.random.default_rng(random_state).choice(
            len(self), n_rows, replace=False, shuffle=False
        )
        rows = np.sort(drawn)
        is_array = isinstance(self.values, np.ndarray)
        values = self.values[rows] if is_array else [self.values[row] for row in rows]
        labels = None if self.labels is None else self.labels[rows]
        beside = {name: column.take(rows) for name, column in self.beside.items()}
        return replace(self, values=values, labels=labels, ids=None, beside=beside)

    def labels_hint(self) -> str:
        """Describe how labels are given, for messages."""
        if self.kind == "images":
            return "put the images of each class into a subfolder of its own"
        return "name their column, or their file (on the command line by --labels)"

    def columns(self) -> dict[str, Any]:
        """Return the columns to store beside the codes: texts or paths, labels.

        Those of a table keep their names and types; others are called ``text``,
        ``path`` and ``label``. Paths are absolute, so that they still lead to the
        images from another folder.
        """
        columns: dict[str, Any] = {}
        if self.kind == "texts":
            texts = getattr(self.values, "column", None)
            columns[self.item_column or "text"] = (
                list(self.values) if texts is None else texts
            )
        if self.kind == "images":
            columns["path"] = [os.path.abspath(path) for path in self.values]
        if self.labels is not None and self.label_column is None:
            columns["label"] = self.labels.tolist()
        return {**columns, **self.beside}
