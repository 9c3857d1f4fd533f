"""Rows of length 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]


def unit_rows(rows: NDArray[np.floating[Any]]) -> Float64Array:
    """Return rows scaled to length 1; a row of zeros stays as it is.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Float64Array = rows / np.where(lengths > 0, lengths, 1)
    return scaled
