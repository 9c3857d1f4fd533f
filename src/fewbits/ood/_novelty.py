"""Novelty radius: the distance beyond which a query is unlike the collection."""

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._labels import as_classes
from fewbits._typing import CodeArray
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError

_BLOCK = 64  # queries whose distances to everything are held at once


def novelty_radius(
    codes: CodeArray,
    groups: ArrayLike,
    *,
    coverage: float = 0.95,
    n_samples: int = 1000,
    random_state: int = 0,
) -> int:
    """Return the Hamming radius beyond which a query counts as unknown.

    For each sampled item its own group is left out, and the distance to its nearest
    neighbour elsewhere is noted. The returned radius covers the share
    `coverage` of them. A query with no code within it is farther from the collection
    than almost any group of the collection is from the rest, so it is unknown.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        The collection.
    groups : array-like of shape (n,)
        Fine classes, such as categories of a hierarchy; at least two.
    coverage : float, default=0.95
        Share of the sampled items that must lie within the radius, between 0 and 1.
    n_samples : int, default=1000
        Items to try, or all if there are fewer.
    random_state : int, default=0

    Returns
    -------
    int
        A Hamming distance.

    Raises
    ------
    ArgumentError
        When lengths differ, there is one group only, or `coverage` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [3], [7]], dtype=np.uint8)
    >>> novelty_radius(codes, ["a", "b", "c", "d"])
    1
    """
    codes = as_codes(codes)
    classes, numbers = as_classes(groups, len(codes), "groups")
    if len(classes) < 2:
        raise ArgumentError(f"need at least 2 groups, got {len(classes)}")
    if not 0 < coverage < 1:
        raise ArgumentError(f"coverage must lie between 0 and 1, got {coverage}")
    rng = generator(random_state)
    chosen = rng.permutation(len(codes))[: check_count(n_samples, "n_samples")]
    nearest = []
    for start in range(0, len(chosen), _BLOCK):
        rows = chosen[start : start + _BLOCK]
        distances = hamming_distances(codes[rows], codes)
        distances[numbers[rows, None] == numbers] = 8 * codes.shape[1]
        nearest.append(distances.min(axis=1))
    return int(np.quantile(np.concatenate(nearest), coverage, method="higher"))
