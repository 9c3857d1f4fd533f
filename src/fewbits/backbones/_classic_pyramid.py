"""Histograms of the cells of an image, in pyramids of ever finer grids."""

import numpy as np
from numpy.typing import NDArray


def cell_histograms(
    words: NDArray[np.intp],
    places: tuple[NDArray[np.intp], NDArray[np.intp]],
    shape: tuple[int, int],
    n_words: int,
    side: int,
    weights: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """Return how often each word occurs in each of side x side cells.

    Parameters
    ----------
    words : ndarray of shape (n,)
        Numbers below `n_words`.
    places : two ndarrays of shape (n,)
        Rows and columns of the pixels where the words are.
    shape : (int, int)
        Height and width of the image.

    Returns
    -------
    ndarray of shape (side, side, n_words)
    """
    (rows, columns), (height, width) = places, shape
    cells = rows * side // height * side + columns * side // width
    counts = np.bincount(cells * n_words + words, weights, side * side * n_words)
    return counts.astype(np.float64).reshape(side, side, n_words)


def pyramid(cells: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the histograms of the whole, of its quarters, and so on to the cells.

    Each level sums to 1, or is zero where there is nothing.
    """
    levels = [cells]
    while (side := len(levels[0]) // 2) > 0:
        levels.insert(0, levels[0].reshape(side, 2, side, 2, -1).sum(axis=(1, 3)))
    return [share(level.ravel()) for level in levels]


def share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return non-negative values divided by their sum; nothing stays nothing."""
    return values / (values.sum() or 1.0)
