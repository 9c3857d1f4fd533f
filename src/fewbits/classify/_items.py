"""Codes and scores of items, checked against a codebook."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import CodeArray
from fewbits.classify._codebook import Codebook
from fewbits.codes import as_codes, check_unused
from fewbits.errors import ArgumentError, CodeError, FeatureError


def item_codes(codes: CodeArray, codebook: Codebook) -> CodeArray:
    """Return codes that are as long as those of the classes."""
    array = as_codes(codes)
    if array.shape[1] != codebook.codes.shape[1]:
        raise CodeError(
            f"codes of items have {array.shape[1]} bytes, those of the classes "
            f"{codebook.codes.shape[1]} ({codebook.n_bits} bits)"
        )
    check_unused(array, codebook.n_bits, "codes of items")
    return array


def item_scores(scores: ArrayLike, codebook: Codebook) -> NDArray[np.float64]:
    """Return finite scores, one for each bit of the classes' codes."""
    try:
        array = np.asarray(scores)
    except ValueError as error:
        raise FeatureError(f"scores are not a matrix: {error}") from None
    if array.dtype.kind in "ub":  # of a bit, 0 would be no opinion
        raise FeatureError(
            f"scores are real numbers, positive for a 1, got dtype {array.dtype}: "
            "decode codes by Nearest, or give 2.0 * bits - 1"
        )
    if array.dtype.kind not in "fi" or array.ndim != 2:
        raise FeatureError(
            "scores must be a matrix of real numbers (n, n_bits), got dtype "
            f"{array.dtype} and shape {array.shape}"
        )
    if array.shape[1] != codebook.n_bits:
        raise FeatureError(
            f"scores must have a column for each of the {codebook.n_bits} bits of the "
            f"codebook, got {array.shape[1]}"
        )
    array = array.astype(np.float64)
    # Sums of larger numbers could overflow; NaN fails the comparison as well.
    finite = (np.abs(array) <= 1e150).all(axis=1)
    if not finite.all():
        raise FeatureError(
            f"scores must be finite, got NaN or infinity in row {np.argmin(finite)}"
        )
    return array


def check_zero_bit(zero_bit: int) -> int:
    """Return the bit of a score of zero as an int, 0 or 1."""
    if zero_bit not in (0, 1):
        raise ArgumentError(f"zero_bit must be 0 or 1, got {zero_bit!r}")
    return int(zero_bit)
