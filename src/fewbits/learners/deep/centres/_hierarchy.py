"""Vectors for the classes of a known hierarchy."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError


def hierarchy_vectors(paths: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return a vector for each class, the more alike the more of their paths is common.

    With `semantic_centres` they make codes of a hierarchy, a codebook for LLC or
    centres for a loss.

    Parameters
    ----------
    paths : sequence of sequence
        For each class, in the order of the sorted labels, the groups that it is in and
        itself, from the root on: ``("A", "A1", "A10")``. Of any depth, at least 1; a
        group is identified by its whole path, so that groups of the same name below
        different ones are different.

    Returns
    -------
    ndarray of shape (n_classes, n_groups), dtype float64
        1 for each group on the path, so that the cosine of two classes is the number of
        groups that both are in, by the geometric mean of the lengths of their paths.

    Raises
    ------
    ArgumentError
        When a path is empty, or a string in place of a sequence.

    Examples
    --------
    >>> paths = [("A", "A1", "A10"), ("A", "A1", "A11"), ("A", "A2"), ("B",)]
    >>> vectors = hierarchy_vectors(paths)
    >>> (vectors @ vectors.T).astype(int)  # groups in common
    array([[3, 2, 1, 0],
           [2, 3, 1, 0],
           [1, 1, 2, 0],
           [0, 0, 0, 1]])
    >>> from fewbits.learners.deep.centres import semantic_centres
    >>> codebook = semantic_centres(vectors, 8)
    """
    ways = [_ways(path) for path in paths]
    columns: dict[tuple[Hashable, ...], int] = {}
    for way in (way for each in ways for way in each):
        columns.setdefault(way, len(columns))
    vectors = np.zeros((len(ways), len(columns)))
    for row, each in enumerate(ways):
        vectors[row, [columns[way] for way in each]] = 1
    return vectors


def _ways(path: Sequence[Hashable]) -> list[tuple[Hashable, ...]]:
    """Return the ways from the root to each group of a path."""
    if isinstance(path, str) or not len(path):
        raise ArgumentError(
            "each class needs a path of at least one group, such as ('A', 'A1', 'A10'),"
            f" got {path!r}"
        )
    return [tuple(path[:depth]) for depth in range(1, len(path) + 1)]
