"""Items to train on, a batch at a time."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fewbits.errors import FeatureError
from fewbits.learners.deep._network import Standardize

MOST_BYTES = 1 << 31  #: What is made at once, rather than batch by batch.


class Items(Protocol):
    """Source of a batch for the numbers of its rows."""

    def __getitem__(self, rows: Tensor) -> Tensor: ...


class TensorItems:
    """Rows of a tensor (n, ...)."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __getitem__(self, rows: Tensor) -> Tensor:
        # A quarter of the time of tensor[rows].
        return self.tensor.index_select(0, rows)


class ArrayItems:
    """Rows of an array: kept as a tensor, or read as needed when it is large.

    Parameters
    ----------
    X : ndarray of shape (n, ...)
        Features, or what a backbone takes, such as images (n, channels, height, width).
    pixels : bool
        Whether uint8 are those of images, and become numbers from 0 to 1.
    integers : bool
        Whether items are integers, such as tokens, and become int64 instead of float32.
    standardize : Standardize or None
        What is done to features, once to those that are kept.
    """

    def __init__(
        self,
        X: NDArray[Any],
        *,
        pixels: bool = False,
        integers: bool = False,
        standardize: Standardize | None = None,
    ) -> None:
        self.X, self.standardize = X, standardize
        self._pixels, self._integers = pixels, integers
        size = X.size * (8 if integers else 4)
        whole = size <= MOST_BYTES and not isinstance(X, np.memmap)
        self._kept = TensorItems(self._as_tensor(np.asarray(X))) if whole else None

    def __getitem__(self, rows: Tensor) -> Tensor:
        if self._kept is not None:
            return self._kept[rows]
        return self._as_tensor(self.X[rows.numpy()])

    def _as_tensor(self, X: NDArray[Any]) -> Tensor:
        made = _as_integers(X) if self._integers else _as_float(X, self._pixels)
        return made if self.standardize is None else self.standardize.in_place(made)


def parts_of(rows: Tensor, size: int) -> list[Tensor]:
    """Cut numbers of rows into parts of a size, the last perhaps smaller."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _as_integers(X: NDArray[Any]) -> Tensor:
    if X.dtype.kind not in "iu":
        raise FeatureError(
            f"items must be integers, as those learnt from, got dtype {X.dtype}"
        )
    return torch.from_numpy(np.array(X, np.int64))


def _as_float(X: NDArray[Any], pixels: bool) -> Tensor:
    if pixels and X.dtype == np.uint8:
        return torch.from_numpy(np.array(X)).float() / 255
    if X.dtype.kind not in "biuf":
        raise FeatureError(f"items must be numbers, got dtype {X.dtype}")
    return torch.from_numpy(np.array(X, np.float32))
