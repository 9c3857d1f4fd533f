"""Matrices of numbers that rank a shortlist again, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._arrow import as_array
from fewbits._typing import IdArray
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError, FeatureError

_LARGEST = 1e150  # its square is a float64


def as_matrix(X: ArrayLike, name: str, n: int | None = None) -> NDArray[Any]:
    """Return a matrix of real numbers, of `n` rows; memory maps stay memory maps."""
    array = as_array(X, name)
    if array.ndim != 2:
        raise FeatureError(
            f"{name} must be a matrix of real numbers, got shape {array.shape}"
        )
    if n is not None and len(array) != n:
        raise ArgumentError(f"{name} must have {n} rows, got {len(array)}")
    return array


def as_vectors(X: ArrayLike, n: int | None = None) -> NDArray[Any]:
    """Return vectors to compare with, of one feature or more."""
    array = as_matrix(X, "vectors", n)
    if not array.shape[1]:
        raise FeatureError(f"vectors must have features, got shape {array.shape}")
    return array


def as_scores(scores: ArrayLike, n_queries: int, width: int) -> NDArray[np.float32]:
    """Return finite float32 scores, a row per query and a column per bit."""
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(as_matrix(scores, "scores", n_queries), np.float32)
    if not 1 <= array.shape[1] <= 8 * width or n_bytes(array.shape[1]) != width:
        raise ArgumentError(
            f"scores must have a column per bit, got {array.shape[1]} columns for "
            f"codes of {width} bytes"
        )
    check_finite(array, "scores", np.arange(len(array)))
    return array


def as_query_vectors(
    queries: ArrayLike, n_queries: int, n_features: int
) -> NDArray[np.float64]:
    """Return finite query vectors, as wide as the stored ones, in float64."""
    array = as_matrix(queries, "query_vectors", n_queries)
    if array.shape[1] != n_features:
        raise FeatureError(
            f"query_vectors must have {n_features} features like the vectors, "
            f"got {array.shape[1]}"
        )
    check_finite(array, "query_vectors", np.arange(len(array)))
    return np.ascontiguousarray(array, np.float64)


def check_finite(
    X: NDArray[Any], name: str, rows: IdArray, largest: float = _LARGEST
) -> None:
    """Refuse NaN, infinity, and what lies beyond the largest; `rows` number them."""
    # NaN fails the comparison as well.
    finite = (np.abs(X.astype(np.float64, copy=False)) <= largest).all(axis=1)
    if not finite.all():
        raise not_finite(name, rows[np.argmin(finite)])


def not_finite(name: str, row: Any) -> FeatureError:
    return FeatureError(f"{name} must be finite, got NaN or infinity in row {row}")
