"""Matrices of neighbours as wide as was asked for, and the room that takes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError

_MAX_PADDING = 2**30  # bytes


def check_padding(n_queries: int, k: int, n_codes: int) -> None:
    """Refuse a `k` whose padding, an int32 and an int64 each, would fill the memory."""
    n_bytes = 12 * n_queries * (k - n_codes)
    if n_bytes > _MAX_PADDING:
        raise ArgumentError(
            f"k={k} is far beyond the {n_codes} codes there are: padding the "
            f"neighbours of {n_queries} queries would take {n_bytes / 2**30:.1f} GiB"
        )


def pad(matrix: NDArray[Any], k: int, fill: float = -1) -> NDArray[Any]:
    """Widen a matrix of neighbours to `k` columns where fewer were found."""
    if matrix.shape[1] == k:
        return matrix
    padded = np.full((len(matrix), k), fill, matrix.dtype)
    padded[:, : matrix.shape[1]] = matrix
    return padded
