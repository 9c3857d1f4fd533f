"""Lengths of vectors: by Euclidean and Hamming distance, long ones are far from all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._warnings import warn_user

_ROWS = 1024  # at a time
_LOOKED_AT = 1000  # rows whose lengths are compared
_RATIO = 3  # of lengths from which nearness is about little else
_FEATURES = 16  # of fewer, random vectors differ so much, too


def unit_rows(vectors: NDArray[Any]) -> NDArray[Any]:
    """Return vectors of length 1; those of zeros stay zeros.

    Squares are added up in the order of the features, so that the result is the same
    on every machine.
    """
    vectors = np.asarray(vectors[:])  # dense, of a sparse matrix
    dtype = np.float64 if vectors.dtype.itemsize > 4 else np.float32
    made = np.empty(vectors.shape, dtype)
    for span in spans(len(vectors), _ROWS):
        columns = np.ascontiguousarray(vectors[span].T, np.float64)
        largest = np.abs(columns).max(axis=0, initial=0)
        columns /= np.where(largest > 0, largest, 1)  # squares of 1e200 overflow
        total = np.zeros(columns.shape[1])
        for column in columns:
            total += column * column
        made[span] = (columns / np.sqrt(np.where(total > 0, total, 1))).T
    return made


def warn_of_lengths(vectors: NDArray[Any]) -> None:
    """Warn where lengths differ so much that nearness is about little else."""
    if vectors.ndim != 2 or vectors.shape[1] < _FEATURES:
        return
    step = max(1, len(vectors) // _LOOKED_AT)
    some = np.asarray(vectors[::step], np.float64)
    short, long = np.quantile(np.sqrt((some * some).sum(axis=1)), (0.05, 0.95))
    if long > _RATIO * short:
        warn_user(
            f"the lengths of the vectors differ, most from {short:.3g} to {long:.3g}, "
            "and long ones are far from all others: for nearness by angle (cosine) "
            "give normalize=True (on the command line --normalize)"
        )
