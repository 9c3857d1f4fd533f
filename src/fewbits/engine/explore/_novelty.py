"""Distances of known and unknown items to a collection, and thresholds between."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._intervals import mean_limits
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import Bundle
from fewbits.codes import hamming_distances
from fewbits.engine.explore._bits import filled
from fewbits.engine.explore._samples import sampled_rows
from fewbits.errors import ArgumentError

#: Share of known items that the threshold accepts which is proposed.
ACCEPTED = 0.95
_MOST = 200_000  # items that are neighbours
_DISTANCES = 1 << 22  # held at once
_FEWEST_CLASSES, _LEVEL = 5, 0.95  # of an interval over classes


@dataclass(frozen=True)
class NoveltyRequest:
    """Ask which share of known and of unknown items each threshold accepts.

    Parameters
    ----------
    labels : str, default=None
        A column with classes: one that is left out stands for unknown items.
    n_samples : int, default=500
        Items of the collection that are tried.
    """

    labels: str | None = None
    n_samples: int = 500


@dataclass(frozen=True, eq=False)
class NoveltyResponse:
    """Shares of items that have a neighbour within 0, 1, ..., n_bits bits.

    Attributes
    ----------
    known : list of float
        Of items of the collection, the item itself left out.
    unknown : list of float or None
        False-accept rate: of items whose whole class is left out. None where no labels
        were named.
    unknown_interval : list of (float, float) or None
        95 % confidence interval of each of them, over classes that may come; None where
        fewer than five classes were tried.
    threshold : int
        The smallest that accepts 95 % of new items of known classes, in expectation.
    radius : int or None
        The novelty radius of the bundle, where it has one.
    n_samples, n_items : int
        Items that were tried, and the items among which their neighbours were looked
        for.
    """

    known: list[float]
    unknown: list[float] | None
    unknown_interval: list[tuple[float, float]] | None
    threshold: int
    radius: int | None
    n_samples: int
    n_items: int

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "known": self.known,
            "unknown": self.unknown,
            "unknown_interval": self.unknown_interval,
            "threshold": self.threshold,
            "radius": self.radius,
            "n_samples": self.n_samples,
            "n_items": self.n_items,
        }


def novelty(bundle: Bundle, request: NoveltyRequest | None = None) -> NoveltyResponse:
    """Return the share of known and of unknown items that each threshold accepts.

    Parameters
    ----------
    bundle : Bundle
        With a collection of at least two items.
    request : NoveltyRequest, default=None

    Returns
    -------
    NoveltyResponse

    Raises
    ------
    ArgumentError
        When there is no such column, it has one class only, or items are fewer than 2.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.bundle import Bundle
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    >>> bundle = bundle.with_items([[1, 1], [1, 1], [1, -1]])
    >>> novelty(bundle).known
    [0.6666666666666666, 1.0, 1.0]
    """
    request = request or NoveltyRequest()
    items = filled(bundle).collection
    if len(items) < 2:
        raise ArgumentError("need at least 2 items, the collection has 1")
    others = sampled_rows(len(items), _MOST)
    asked = others[sampled_rows(len(others), request.n_samples)]
    classes = None if request.labels is None else _numbers(bundle, request, others)
    nearest = _nearest(bundle, asked, others, classes)
    n_bits = bundle.encoder.n_bits
    known, *unknown = (_cumulative(each, n_bits) for each in nearest)
    interval = None
    if classes is not None:
        asked_classes = classes[np.searchsorted(others, asked)]
        interval = _interval(nearest[1], asked_classes, n_bits)
    return NoveltyResponse(
        known,
        unknown[0] if unknown else None,
        interval,
        _accepting(nearest[0], ACCEPTED),
        bundle.novelty_radius,
        len(asked),
        len(others),
    )


def _numbers(bundle: Bundle, request: NoveltyRequest, rows: IdArray) -> IdArray:
    assert request.labels is not None
    numbers = bundle.collection.group_numbers(request.labels, rows)
    if numbers.min() == numbers.max():
        raise ArgumentError(
            f"column {request.labels!r} has one class only, and none can be left out"
        )
    return numbers


def _nearest(
    bundle: Bundle, asked: IdArray, others: IdArray, classes: IdArray | None
) -> list[NDArray[np.int32]]:
    """Return the distances to the nearest other item, and to that of another class."""
    codes = bundle.collection.codes
    pool = np.ascontiguousarray(codes[others])
    places = np.searchsorted(others, asked)
    step = max(1, _DISTANCES // len(others))
    found: list[list[NDArray[np.int32]]] = [[], []]
    for start in range(0, len(asked), step):
        here = places[start : start + step]
        distances = hamming_distances(pool[here], pool)
        distances[np.arange(len(here)), here] = np.iinfo(np.int32).max
        found[0].append(distances.min(axis=1))
        if classes is not None:
            same = classes[here, None] == classes
            distances[same] = np.iinfo(np.int32).max
            found[1].append(distances.min(axis=1))
    return [np.concatenate(each) for each in found if each]


def _cumulative(distances: NDArray[np.int32], n_bits: int) -> list[float]:
    within = np.searchsorted(np.sort(distances), np.arange(n_bits + 1), side="right")
    shares: list[float] = (within / len(distances)).tolist()
    return shares


def _accepting(distances: NDArray[np.int32], share: float) -> int:
    """Return the smallest threshold within which a new item lies with this chance.

    Of n distances and a new one every order is as likely: split conformal prediction.
    Where there are too few for it, all of them lie within.
    """
    place = min(math.ceil(share * (len(distances) + 1)), len(distances)) - 1
    return int(np.sort(distances)[place])


def _interval(
    distances: NDArray[np.int32], classes: IdArray, n_bits: int
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
