"""Descriptors of small regions, on a grid: SIFT and local self-similarity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False, slots=True)
class Local:
    """Descriptors of an image and where they are.

    Attributes
    ----------
    vectors : ndarray of shape (n, length), dtype float32
    places : two ndarrays of shape (n,)
        Row and column of the pixel in the middle of each region.
    """

    vectors: NDArray[np.float32]
    places: Places


def grid(shape: tuple[int, int], step: int) -> Places:
    """Return rows and columns of every `step`-th pixel, row by row."""
    places = np.indices(shape)[:, step // 2 :: step, step // 2 :: step]
    rows, columns = places.reshape(2, -1)
    return rows, columns
