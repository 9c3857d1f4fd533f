"""Distances between the rows of two matrices of codes, side by side."""

import numpy as np

from fewbits._typing import Array, CodeArray, DistanceArray


def pair_distances(codes: CodeArray, others: CodeArray) -> DistanceArray:
    """Return the Hamming distance between each code and the other in its row.

    Parameters
    ----------
    codes, others : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width; they are not checked.

    Returns
    -------
    ndarray of shape (n,), dtype int32

    Examples
    --------
    >>> pair_distances(np.array([[1], [2]], np.uint8), np.array([[1], [5]], np.uint8))
    array([0, 3], dtype=int32)
    """
    return count_bits(as_words(codes ^ others))


def count_bits(words: Array) -> DistanceArray:
    """Return how many bits are 1 in each row."""
    counts: Array = np.bitwise_count(words)
    if counts.shape[1] == 1:  # NumPy is slow to add up short rows
        return counts[:, 0].astype(np.int32)
    return np.asarray(counts.sum(axis=1, dtype=np.int32))


def as_words(codes: CodeArray) -> Array:
    """Return the same bits in the largest integers that the codes are made of."""
    for size in (8, 4, 2):
        if codes.shape[1] % size == 0:
            return codes.view(f"u{size}")
    return codes
