"""Checks of numbers, of rows that may be found, and of the room an answer takes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import whole_number
from fewbits.codes._allowed import as_allowed
from fewbits.errors import ArgumentError

MAX_PADDING = 2**30  # bytes


def check_k(k: int, name: str = "k") -> int:
    """Return `k` as an int; it may exceed the number of codes, within reason."""
    k = whole_number(k, name)
    if not 1 <= k < 2**31:
        raise ArgumentError(f"{name} must be at least 1 and below 2**31, got {k}")
    return k


def check_radius(radius: int) -> int:
    radius = whole_number(radius, "radius")
    if radius < 0:
        raise ArgumentError(f"radius must be 0 or more, got {radius}")
    return radius


def check_padding(n_queries: int, k: int, found: int) -> None:
    """Refuse a `k` whose padding, an int32 and an int64 each, would fill the memory."""
    n_bytes = 12 * n_queries * (k - found)
    if n_bytes > MAX_PADDING:
        raise ArgumentError(
            f"k={k} is far beyond the {found} codes there are: padding the neighbours "
            f"of {n_queries} queries would take {n_bytes / 2**30:.1f} GiB"
        )


def pad(found: NDArray[Any], k: int, fill: float = -1) -> NDArray[Any]:
    """Widen a matrix of neighbours to `k` columns where fewer were found."""
    if found.shape[1] == k:
        return found
    padded = np.full((len(found), k), fill, found.dtype)
    padded[:, : found.shape[1]] = found
    return padded


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
