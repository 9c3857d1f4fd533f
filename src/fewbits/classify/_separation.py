"""Distances between the codes of classes."""

import numpy as np

from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import hamming_topk

_BLOCK = 4096  # codes compared with all others at a time


def shared_by(numbers: IdArray) -> tuple[IdArray, ...]:
    """Return the rows of each number that several rows have.

    Examples
    --------
    >>> shared_by(np.array([7, 5, 3, 5, 7]))
    (array([0, 4]), array([1, 3]))
    """
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order])) + 1
    groups = [group for group in np.split(order, starts) if len(group) > 1]
    return tuple(sorted(groups, key=lambda group: int(group[0])))


def smallest_distance(codes: CodeArray) -> int:
    """Return the smallest Hamming distance between two of several different codes.

    Examples
    --------
    >>> smallest_distance(np.array([[0], [7], [1]], np.uint8))
    1
    """
    return min(
        int(hamming_topk(codes[block], codes, 2).distances[:, 1].min())
        for block in spans(len(codes), _BLOCK)
    )
