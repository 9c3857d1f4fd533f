"""What every reader returns."""

import os
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

Kind = Literal["vectors", "texts", "images"]


@dataclass(frozen=True)
class Input:
    """Items of one kind, in the order of the file.

    Attributes
    ----------
    kind : {"vectors", "texts", "images"}
    values : ndarray of shape (n, n_features), or list of str or Path
        Vectors of a .npy file are a memory map.
    labels : ndarray of str, of shape (n,), or None
        Or a matrix of 0 and 1, shape (n, n_classes) and dtype uint8, where an item may
        have several labels.
    source : str
        Where the items came from, for messages.
    names : tuple of str, default=()
        Of the columns that vectors lie in side by side, in their order.
    """

    kind: Kind
    values: Any
    labels: NDArray[Any] | None
    source: str
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def labels_hint(self) -> str:
        """Say how labels are given, for messages."""
        if self.kind == "images":
            return "put the images of each class into a subfolder of its own"
        return "name their column, or their file (on the command line by --labels)"

    def columns(self) -> dict[str, list[Any]]:
        """Return what is worth keeping beside the codes: texts or paths, labels.

        Paths are absolute, so that they still lead to the images from another folder.
        """
        columns: dict[str, list[Any]] = {}
        if self.kind == "texts":
            columns["text"] = list(self.values)
        if self.kind == "images":
            columns["path"] = [os.path.abspath(path) for path in self.values]
        if self.labels is not None:
            columns["label"] = self.labels.tolist()
        return columns
