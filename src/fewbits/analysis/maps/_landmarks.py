"""A sample of items that a map is laid out by."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, generator
from fewbits._labels import as_classes
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError

_ODD = np.uint64(0x9E3779B97F4A7C15)


def landmark_rows(
    codes: CodeArray,
    n_landmarks: int,
    *,
    classes: ArrayLike | None = None,
    random_state: int | None = 0,
) -> IdArray:
    """Draw items with different codes, from all classes.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_landmarks : int
        Fewer are drawn where there are fewer different codes.
    classes : array-like of shape (n,), default=None
        Each class gets a share in proportion to the power 3/4 of its size, so that
        small classes are on the map, too. None draws from all items alike.
    random_state : int or None, default=0

    Returns
    -------
    ndarray of shape (m,), dtype int64
        Rows, rising.

    Raises
    ------
    ArgumentError
        When there is no code, or there are more or fewer classes than codes.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[1], [1], [2], [3]], np.uint8)
    >>> landmark_rows(codes, 3).tolist() in ([0, 2, 3], [1, 2, 3])
    True
    """
    codes = as_codes(codes)
    if not len(codes):
        raise ArgumentError("need at least one code, got none")
    wanted = check_count(n_landmarks, "n_landmarks")
    groups = np.zeros(len(codes), np.int64)
    if classes is not None:
        groups = as_classes(classes, len(codes), "classes")[1]
    order = generator(random_state).permutation(len(codes))
    rows = order[_first_of_each(codes[order])]
    sizes = np.bincount(groups[rows])
    quotas = _quotas(sizes, wanted)
    by_group = rows[np.argsort(groups[rows], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    within = np.arange(len(rows)) - starts.repeat(sizes)
    return np.sort(by_group[within < quotas.repeat(sizes)])


def code_hashes(codes: CodeArray) -> NDArray[np.uint64]:
    """Return a number for each code, by which equal ones are found.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8

    Returns
    -------
    ndarray of shape (n,), dtype uint64
        Different codes may have equal numbers, but hardly ever do.
    """
    n, width = codes.shape
    padded = np.zeros((n, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = codes
    hashes = np.zeros(n, np.uint64)
    for word in padded.view(np.uint64).T:
        hashes = (hashes ^ word) * _ODD
        hashes ^= hashes >> np.uint64(31)
    return hashes


def _first_of_each(codes: CodeArray) -> IdArray:
    """Return the place of each different code, rising; of two that collide, of one."""
    return np.sort(np.unique(code_hashes(codes), return_index=True)[1])


def _quotas(sizes: IdArray, wanted: int) -> IdArray:
    """Return how many to take of each class, about `wanted` in all."""
    if sizes.sum() <= wanted:
        return sizes
    low, high = 0.0, float(sizes.max())
    for _ in range(60):
        scale = (low + high) / 2
        total = _taken(sizes, scale).sum()
        low, high = (scale, high) if total <= wanted else (low, scale)
    quotas = _taken(sizes, low)
    # Classes that round alike leave a rest, and more classes than landmarks an excess.
    rest = wanted - int(quotas.sum())
    order = np.argsort(-sizes, kind="stable")
    if rest < 0:
        quotas[order[wanted:]] = 0
    else:
        open_ = order[(quotas < sizes)[order]][:rest]
        quotas[open_] += 1
    return quotas


def _taken(sizes: IdArray, scale: float) -> IdArray:
    shares = np.maximum(np.floor(scale * np.sqrt(sizes * np.sqrt(sizes))), 1)
    return np.minimum(shares, sizes).astype(np.int64)
