"""Distances within a collection of codes."""

from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.codes._hamming import hamming_topk

_BLOCK = 4096  # codes compared with all others at a time


def smallest_distance(codes: CodeArray) -> int:
    """Return the smallest Hamming distance between two of several codes.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        At least 2.

    Returns
    -------
    int
        0 where two codes are the same.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_distance(np.array([[0], [7], [1]], np.uint8))
    1
    """
    return min(
        int(hamming_topk(codes[block], codes, 2).distances[:, 1].min())
        for block in spans(len(codes), _BLOCK)
    )
