"""For every class the sum of some numbers over the bits of its code."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import unpack

FloatArray = NDArray[np.float64]

_FEW = 4  # items for which unpacking the codes takes longer than looking bytes up


def class_sums(numbers: FloatArray, codes: CodeArray) -> FloatArray:
    """Add up the numbers of the bits that are 1.

    Parameters
    ----------
    numbers : ndarray of shape (n, n_bits), dtype float64
        Whole, and in sum below 2**53 in each row: so that the sums are exact.
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8

    Returns
    -------
    ndarray of shape (n, n_classes), dtype float64

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2, 4]]), np.array([[0b10100000]], np.uint8))
    array([[5.]])
    """
    if len(numbers) > _FEW:
        bits = unpack(codes, numbers.shape[1]).astype(np.float64)
        return np.asarray(numbers @ bits.T)
    sums = np.zeros((len(numbers), len(codes)))
    for values, column in zip(_byte_sums(numbers), codes.T, strict=True):
        sums += values[:, column]
    return sums


def _byte_sums(numbers: FloatArray) -> FloatArray:
    """Return the sums for all values of each byte, shape (n_bytes, n, 256)."""
    n, n_bits = numbers.shape
    padded = np.zeros((n, -(-n_bits // 8), 8))
    padded.reshape(n, -1)[:, :n_bits] = numbers
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    sums: FloatArray = padded.transpose(1, 0, 2) @ bits.T.astype(np.float64)
    return sums
