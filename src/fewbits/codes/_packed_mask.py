"""The rows that a kernel may find, one bit each."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._allowed import as_allowed
from fewbits.errors import ArgumentError


def packed_mask(allowed: ArrayLike | None, n: int) -> NDArray[np.uint8] | None:
    """Return one bit per row, most significant first, from a mask or row numbers."""
    if allowed is None:
        return None
    chosen = as_allowed(allowed, n, "row numbers")
    if chosen.dtype == np.bool_:
        return np.packbits(chosen)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n):
        raise ArgumentError(
            f"allowed rows must be at least 0 and below {n}, "
            f"got {chosen.min()} to {chosen.max()}"
        )
    mask = np.zeros(n, np.bool_)
    mask[chosen.astype(np.intp, copy=False)] = True
    return np.packbits(mask)
