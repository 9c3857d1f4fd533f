"""The codes, vectors and names of classes that are compared in pairs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._repr import one_line
from fewbits._typing import BitArray, CodeArray
from fewbits.analysis._checks import check_codes
from fewbits.codes import unpack
from fewbits.errors import ArgumentError, FeatureError

FloatArray = NDArray[np.float64]

MAX_CLASSES = 5000  # all their distances take 100 MB


class ClassBits(NamedTuple):
    """The bits of class codes.

    Attributes
    ----------
    names : tuple of str
    bits : ndarray of shape (n_classes, n_bits), dtype uint8
        0 or 1.
    """

    names: tuple[str, ...]
    bits: BitArray

    def __repr__(self) -> str:
        return one_line(self)


def class_bits(
    codes: CodeArray, n_bits: int, names: Sequence[Any] | None = None
) -> ClassBits:
    """Return the bits of class codes.

    Parameters
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Returns
    -------
    ClassBits

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101]], np.uint8) << 5
    >>> class_bits(codes, 3, ["cat", "lynx"]).bits
    array([[1, 0, 0],
           [1, 0, 1]], dtype=uint8)
    """
    codes = check_codes(codes, n_bits)
    return ClassBits(class_names(names, len(codes)), unpack(codes, n_bits))


def class_vectors(vectors: ArrayLike) -> FloatArray:
    """Return the vectors of classes, each scaled to length 1.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, n_features)
        Finite, none of zeros only.

    Returns
    -------
    ndarray of shape (n_classes, n_features), dtype float64

    Raises
    ------
    FeatureError
        When the vectors are no such matrix.

    Examples
    --------
    >>> class_vectors([[3, 4], [0, 2]])
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise FeatureError("vectors must be a matrix of numbers") from None
    if matrix.ndim != 2 or not matrix.size:
        raise FeatureError(
            f"vectors must be a matrix (n_classes, n_features), got {matrix.shape}"
        )
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    for name, wrong in (("finite", ~np.isfinite(largest)), ("not zero", largest == 0)):
        if wrong.any():
            raise FeatureError(f"vectors must be {name}, row {wrong.argmax()} is not")
    scaled = matrix / largest  # or squares may leave the range of numbers
    rows: FloatArray = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return rows


def class_names(names: Sequence[Any] | None, n: int) -> tuple[str, ...]:
    """Return the names of a number of classes that can be compared in pairs."""
    if not 2 <= n <= MAX_CLASSES:
        raise ArgumentError(f"a taxonomy is of 2 to {MAX_CLASSES} classes, got {n}")
    if names is None:
        return tuple(map(str, range(n)))
    if isinstance(names, str) or len(names) != n:
        raise ArgumentError(f"need a name for each of {n} classes, got {len(names)}")
    return tuple(map(str, names))
