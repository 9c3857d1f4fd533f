"""Checks of what metrics are given, one clear line each."""

import numpy as np
from numpy.typing import ArrayLike

from fewbits._arrow import as_array
from fewbits._spans import spans
from fewbits._typing import Array
from fewbits.errors import ArgumentError, FeatureError

_BLOCK_ENTRIES = 1 << 22


def check_known(k: int, n: int, what: str) -> None:
    """Refuse a ground truth of more neighbours than there are."""
    if k > n:
        raise ArgumentError(f"k={k} asks for more neighbours than the {n} {what}")


def check_not_empty(array: Array, name: str) -> None:
    if len(array) == 0:
        raise ArgumentError(f"{name} must not be empty")


def as_features(X: ArrayLike, name: str, n_features: int | None = None) -> Array:
    """Return a matrix of finite real numbers; memory maps stay memory maps."""
    array: Array = as_array(X, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise FeatureError(
            f"{name} must have 2 dimensions (n, n_features), got shape {array.shape}"
        )
    if n_features is not None and array.shape[1] != n_features:
        raise FeatureError(
            f"{name} must have {n_features} features, got {array.shape[1]}"
        )
    check_not_empty(array, name)
    for span in spans(len(array), _BLOCK_ENTRIES // array.shape[1]):
        finite = np.isfinite(array[span])
        if not finite.all():
            row = span.start + int(np.argmin(finite.all(axis=1)))
            raise FeatureError(
                f"{name} must be finite, got NaN or infinity in row {row}"
            )
    return array
