"""Items worth a look: far from all others, or among items of another class."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count, check_k
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import Bundle
from fewbits.engine.maps._collection_map import CollectionMap

_COMPARISONS = 1_000_000_000  # a second or two of work
_FEWEST = 1000  # items that are looked at, however many there are
_USUAL = 0.95  # the share of items that are no outliers
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MapOutliers:
    """Outliers and confusions among points of a map.

    Attributes
    ----------
    outliers : list of dict
        Items whose nearest other item is farther than that of 95 % of all, farthest
        first: ``id``, ``row``, ``columns``, ``place`` and ``distance`` in bits.
    confusions : list of dict or None
        Items of which most of the `k` nearest others are of one other class, the most
        first: ``id``, ``row``, ``columns``, ``place``, ``class``, ``other`` and
        ``votes``, the neighbours of that class. None where no column was named.
    nearest_distance_p95 : int
        95th percentile of the distance to the nearest other item, in bits.
    k : int
        Neighbours of each item that were looked at.
    n_points : int
        Points that were looked at, drawn at random where there are too many.
    """

    outliers: list[dict[str, Any]] = field(repr=False)
    confusions: list[dict[str, Any]] | None = field(repr=False)
    nearest_distance_p95: int
    k: int
    n_points: int

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "outliers": self.outliers,
            "confusions": self.confusions,
            "nearest_distance_p95": self.nearest_distance_p95,
            "k": self.k,
            "n_points": self.n_points,
        }


def map_outliers(
    bundle: Bundle,
    found: CollectionMap,
    *,
    labels: str | None = None,
    n: int = 5,
    k: int = 10,
) -> MapOutliers:
    """List the points farthest from all other items, and those among another class.

    Parameters
    ----------
    bundle : Bundle
    found : CollectionMap
        Of its collection.
    labels : str, default=None
        A column with classes; items without one have none.
    n : int, default=5
        Items in each list, at most.
    k : int, default=10
        Neighbours, of all items, that tell of an item.

    Returns
    -------
    MapOutliers

    Raises
    ------
    ArgumentError
        When there is no such column, or it holds several labels of an item.

    Examples
    --------
    >>> from fewbits.encoders import LinearEncoder
    >>> from fewbits.engine.maps import map_collection
    >>> X = np.sign(np.random.default_rng(0).normal(size=(3, 16)))
    >>> X = np.vstack([np.repeat(X[:2], 20, axis=0), X[2:]])
    >>> bundle = Bundle(LinearEncoder(np.eye(16), np.zeros(16)))
    >>> bundle = bundle.with_items(X, columns={"kind": [*"a" * 19, *"b" * 21, None]})
    >>> seen = map_outliers(bundle, map_collection(bundle), labels="kind")
    >>> [each["row"] for each in seen.outliers]
    [40]
    >>> [(each["row"], each["other"], each["votes"]) for each in seen.confusions]
    [(19, 'a', 10)]
    """
    check_count(n, "n")
    size = len(bundle.collection)
    k = min(check_k(k), size - 1)
    rows = found.rows[: max(_FEWEST, _COMPARISONS // size)]
    near, distances = _nearest(bundle, rows, k)
    nearest = distances[:, 0] if k else np.zeros(len(rows), np.int64)
    p95 = int(np.quantile(nearest, _USUAL, method="higher"))
    order = np.lexsort((-distances.sum(axis=1), -nearest))[:n]
    far = order[nearest[order] > p95]
    outliers = _records(bundle, found, rows[far])
    for each, distance in zip(outliers, nearest[far].tolist(), strict=True):
        each["distance"] = distance
    confusions = None
    if labels is not None:
        confusions = _confusions(bundle, found, labels, rows, near, distances, n)
    return MapOutliers(outliers, confusions, p95, k, len(rows))


def _nearest(bundle: Bundle, rows: IdArray, k: int) -> tuple[IdArray, IntArray]:
    """Return the rows and distances of the k nearest others of each row."""
    codes = bundle.collection.codes_at(rows)
    found = bundle.search_rows_by_code(codes, k + 1)
    # The item itself is among them, unless more than k others have its code.
    own = found.rows == rows[:, None]
    others = np.argsort(own, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(found.rows, others, axis=1)
    distances = np.take_along_axis(found.distances, others, axis=1)
    return near, distances.astype(np.int64)


def _confusions(
    bundle: Bundle,
    found: CollectionMap,
    labels: str,
    rows: IdArray,
    near: IdArray,
    distances: IntArray,
    n: int,
) -> list[dict[str, Any]]:
    numbers, near_numbers, values = _classes(bundle, labels, rows, near)
    other, votes = _majority(numbers, near_numbers)
    order = np.lexsort((distances.sum(axis=1), -votes))[:n]
    chosen = order[2 * votes[order] > near.shape[1]]
    confused = _records(bundle, found, rows[chosen])
    for each, at in zip(confused, chosen.tolist(), strict=True):
        each["class"] = values[numbers[at]]
        each["other"] = values[other[at]]
        each["votes"] = int(votes[at])
    return confused


def _classes(
    bundle: Bundle, labels: str, rows: IdArray, near: IdArray
) -> tuple[IntArray, IntArray, dict[int, Any]]:
    """Return numbers of classes, -1 of items without one, and the class of each."""
    items = bundle.collection
    every, inverse = np.unique(np.append(rows, near), return_inverse=True)
    numbers = items.group_numbers(labels, every)
    column = items.table_at(every, [labels])[labels].combine_chunks()
    numbers[column.is_null().to_numpy(zero_copy_only=False)] = -1
    kinds, first = np.unique(numbers, return_index=True)
    values = dict(zip(kinds.tolist(), column.take(first).to_pylist(), strict=True))
    of = numbers[inverse.ravel()]
    return of[: len(rows)], of[len(rows) :].reshape(near.shape), values


def _majority(numbers: IntArray, near: IntArray) -> tuple[IntArray, IntArray]:
    """Return the most frequent other class among neighbours, and how often it is."""
    counts = (near[:, :, None] == near[:, None]).sum(axis=2)
    counts[(near == numbers[:, None]) | (near < 0) | (numbers[:, None] < 0)] = 0
    if not near.shape[1]:
        return numbers, np.zeros(len(numbers), np.int64)
    best = counts.argmax(axis=1)[:, None]
    other = np.take_along_axis(near, best, axis=1)[:, 0]
    return other, np.take_along_axis(counts, best, axis=1)[:, 0]


def _records(
    bundle: Bundle, found: CollectionMap, rows: IdArray
) -> list[dict[str, Any]]:
    items = bundle.collection
    points = found.points_of(rows)
    return [
        {"id": id, "row": row, "columns": columns, "place": place}
        for id, row, columns, place in zip(
            items.ids_at(rows).tolist(),
            rows.tolist(),
            items.records(rows),
            found.places[points].tolist(),
            strict=True,
        )
    ]
