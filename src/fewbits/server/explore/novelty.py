"""Distances of known and unknown items to a collection, and thresholds between."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._intervals import mean_limits
from fewbits._typing import IdArray
from fewbits.codes import hamming_distances
from fewbits.collection import Collection, tools
from fewbits.errors import ArgumentError
from fewbits.server.explore._items import check_filled, sampled

_ACCEPTED = 0.95  # of known items, by the threshold that is proposed
_MOST = 200_000  # items that are neighbours
_DISTANCES = 1 << 22  # held at once
_FEWEST_CLASSES, _LEVEL = 5, 0.95  # of an interval over classes


def novelty(
    collection: Collection, label: str | None = None, *, n_samples: int = 500
) -> dict[str, Any]:
    """Return the share of known and of unknown items that each threshold accepts.

    With a column of classes, `label`, one that is left out stands for unknown items;
    `n_samples` items of the collection are tried.

    Returns
    -------
    dict
        ``known``, the share of items of the collection, each left out itself, that have
        a neighbour within 0, 1, ..., n_bits bits; ``unknown``, that of items whose
        whole class is left out, the false-accept rate, None without `label`;
        ``unknown_interval``, 95 % confidence intervals of each of them, over classes
        that may come, None where fewer than five classes were tried; ``threshold``, the
        smallest that accepts 95 % of new items of known classes, in expectation;
        ``radius``, the novelty radius of the collection or None; ``n_samples`` and
        ``n_items``, the items that were tried and those they were compared with.

    Examples
    --------
    >>> codes = np.array([[3], [3], [2]], np.uint8)
    >>> novelty(Collection.create(None, codes=codes))["known"][:3]
    [0.6666666666666666, 1.0, 1.0]
    """
    check_filled(collection)
    if len(collection) < 2:
        raise ArgumentError("need at least 2 items, the collection has 1")
    others = sampled(len(collection), _MOST)
    tried = sampled(len(others), n_samples)  # places among the others
    classes = None
    if label is not None:
        classes = tools.value_numbers(collection, label, others)
        if classes.min() == classes.max():
            raise ArgumentError(
                f"column {label!r} has one class only, and none can be left out"
            )
    codes = np.ascontiguousarray(collection.codes[others])
    nearest, foreign = _nearest(codes, tried, classes)
    n_bits, unknown, interval = collection.encoder.n_bits, None, None
    # Of n distances and a new one every order is as likely (split conformal
    # prediction); where there are too few for it, all of them lie within.
    n = len(nearest)
    place = min(math.ceil(_ACCEPTED * (n + 1)), n) - 1
    if classes is not None:
        unknown = _shares(foreign, n_bits)
        interval = _interval(foreign, classes[tried], n_bits)
    return {
        "known": _shares(nearest, n_bits),
        "unknown": unknown,
        "unknown_interval": interval,
        "threshold": int(np.sort(nearest)[place]),
        "radius": collection.facts.novelty_radius,
        "n_samples": len(tried),
        "n_items": len(others),
    }


def _nearest(
    codes: NDArray[np.uint8], tried: IdArray, classes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distances to the nearest other item, and to that of another class."""
    far = np.iinfo(np.int32).max
    nearest, foreign = np.full((2, len(tried)), far, np.int32)
    step = max(1, _DISTANCES // len(codes))
    for start in range(0, len(tried), step):
        queries, span = tried[start : start + step], slice(start, start + step)
        distances = hamming_distances(codes[queries], codes)
        distances[np.arange(len(queries)), queries] = far
        nearest[span] = distances.min(axis=1)
        if classes is not None:
            distances[classes[queries, None] == classes] = far
            foreign[span] = distances.min(axis=1)
    return nearest, foreign


def _shares(distances: NDArray[np.int32], n_bits: int) -> list[float]:
    within = np.searchsorted(np.sort(distances), np.arange(n_bits + 1), side="right")
    shares: list[float] = (within / len(distances)).tolist()
    return shares


def _interval(
    distances: NDArray[np.int32], classes: NDArray[np.int32], n_bits: int
) -> list[tuple[float, float]] | None:
    """Return confidence limits of the share within each threshold, over classes.

    Classes, not items, are independent: the standard errors are cluster-robust, and
    classes of different sizes count as fewer of one size (Kish).
    """
    numbers = np.unique(classes, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    n = len(sizes)
    if n < _FEWEST_CLASSES:
        return None
    within = distances[:, None] <= np.arange(n_bits + 1)
    counts = np.zeros((n, n_bits + 1))
    np.add.at(counts, numbers, within)
    share = within.mean(axis=0)
    spread = ((counts - share * sizes[:, None]) ** 2).sum(axis=0)
    errors = np.sqrt(spread * n / (n - 1)) / len(distances)
    n_effective = sizes.sum() ** 2 / (sizes**2).sum()
    low, high = mean_limits(share, errors, n_effective, _LEVEL)
    return [*zip(low.tolist(), high.tolist(), strict=True)]
