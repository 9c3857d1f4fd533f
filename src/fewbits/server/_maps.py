"""The items of a collection on a plane: colours, neighbours, outliers, and updates.

A position is that of an item in its collection, from 0 on; a point is the number of an
item on the map.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bit
from fewbits._frozen import frozen_array
from fewbits._runtime import changed
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.maps import (
    MapLayout,
    MapTrust,
    code_hashes,
    fit_layout,
    map_trust,
)
from fewbits.codes import check_unused, hamming_distances
from fewbits.collection import tools
from fewbits.errors import ArgumentError, one_line
from fewbits.server._items import records
from fewbits.server._queries import as_codes
from fewbits.server._service import View
from fewbits.store import ID

IntArray = NDArray[np.int64]
#: A byte for each point of a map, in its order, and what the bytes mean: places in the
#: legend, values of a bit, or steps of a scale.
Colours = tuple[NDArray[np.uint8], dict[str, Any]]
#: Classes with a colour of their own; all others have `REST`, missing ones `MISSING`.
N_CLASSES, REST, MISSING = 10, 254, 255
_FARTHEST = 253  # the last value of a scale
_LEGEND: dict[str, Any] = {"legend": [], "rest": None, "n_missing": 0, "scale": None}
_COMPARISONS = 1_000_000_000  # of outliers: a second or two of work
_FEWEST = 1000  # items that are looked at for outliers, however many there are
_USUAL = 0.95  # the share of items that are no outliers
_N_OUTLIERS, _N_NEAREST = 5, 10
_MOST = 5_000_000_000  # comparisons of codes that an export may take: some seconds


@dataclass(frozen=True, eq=False)
class CollectionMap:
    """Points for items of the collection of a view."""

    view: View
    positions: IdArray  # in random order: a prefix is a sample of all of them
    places: NDArray[np.uint16]  # (n_points, 2)
    layout: MapLayout  # puts further codes on the same map
    trust: MapTrust  # share of true neighbours kept, among the items on the map
    codes: CodeArray  # of the points

    def __len__(self) -> int:
        return len(self.positions)

    def points_of(self, positions: IdArray) -> IdArray:
        """Return the point of each item, -1 of those that are not on the map."""
        of_all = np.full(len(self.view.collection), -1, np.int64)
        of_all[self.positions] = np.arange(len(self.positions))
        points: IdArray = of_all[positions]
        return points

    def facts(self) -> dict[str, Any]:
        trust = self.trust
        return {
            "n_points": len(self),
            "n_items": len(self.view.collection),
            "method": "t-SNE",
            "n_landmarks": len(self.layout),
            "trust": {
                "k": trust.k,
                "share": trust.share,
                "interval": list(trust.interval),
                "by_chance": trust.by_chance,
                "n_sampled": len(trust.rows),
            },
        }

    # Colours.

    def colours(self, by: str, *, id: Any = None, code: str | None = None) -> Colours:
        """Colour the points: by a class, a bit, the distance from an item, or trust."""
        kind, _, name = by.partition(":")
        encoder = self.view.collection.encoder
        if kind != "distance" and not (id is None and code is None):
            raise ArgumentError("id and code are for colours by distance")
        if kind == "class" and name:
            return self._by_class(name)
        if kind == "bit" and name.isascii() and name.isdecimal():
            bit = check_bit(int(name), encoder.n_bits)
            values = (self.codes[:, bit // 8] >> (7 - bit % 8) & 1).astype(np.uint8)
            counts = np.bincount(values, minlength=2).tolist()
            entries = [{"label": i, "count": count} for i, count in enumerate(counts)]
            return values, {**_LEGEND, "kind": "bit", "legend": entries}
        if by == "distance":
            if (id is None) == (code is None):
                raise ArgumentError(
                    "give exactly one of id and code to measure distances from"
                )
            if code is None:
                origin = self.view.collection.encode(ids=[id])
            else:
                origin = as_codes([code], encoder.n_bits)
                check_unused(origin, encoder.n_bits, "codes")
            distances = hamming_distances(origin, self.codes)[0]
            return _scaled(distances.astype(np.float64), "bits")
        if by == "trust":
            return _scaled(self.trust.around(self.places), "share")
        raise ArgumentError(
            f"colours are by class:COLUMN, bit:NUMBER, distance or trust, got {by!r}"
        )

    def _by_class(self, name: str) -> Colours:
        numbers = tools.value_numbers(self.view.collection, name, self.positions)
        column = self._column(name, self.positions)
        counts = np.bincount(numbers)
        first = np.unique(numbers, return_index=True)[1]
        labels = column.take(first).to_pylist()
        named = [i for i, label in enumerate(labels) if label is not None]
        named.sort(key=lambda i: (-counts[i], str(labels[i])))
        frequent, rest = named[:N_CLASSES], named[N_CLASSES:]
        values = np.full(len(counts), MISSING, np.uint8)
        values[rest] = REST
        values[frequent] = np.arange(len(frequent))
        entries = [{"label": labels[i], "count": int(counts[i])} for i in frequent]
        others = {"n_classes": len(rest), "count": int(counts[rest].sum())}
        legend = {
            **_LEGEND,
            "kind": "classes",
            "legend": entries,
            "rest": others if rest else None,
            "n_missing": column.null_count,
        }
        return values[numbers], legend

    def _column(self, name: str, positions: IdArray) -> Any:
        table = tools.take(self.view.collection, positions, [name])
        return table[name].combine_chunks()

    # Neighbours.

    def neighbours(self, row: int | None, id: Any, k: int) -> dict[str, Any]:
        """Find the items whose codes are nearest to that of one, on the map or not.

        ``n_same`` of the `k` nearest have its code; ``trust`` is the share of true
        neighbours that the map keeps around there.
        """
        if (row is None) == (id is None):
            raise ArgumentError("give exactly one of row and id")
        if row is None:
            row = int(tools.positions_of(self.view.collection, [id])[0])
        n = len(self.view.collection)
        if not 0 <= row < n:
            raise ArgumentError(f"rows are from 0 to {n - 1}, got {row}")
        near, distances = self._nearest(np.array([row]), min(k, n - 1))
        item, *neighbours = self._records(np.append(row, near[0]))
        place = item["place"]
        item["trust"] = None if place is None else float(self.trust.around([place])[0])
        item["n_same"] = int(np.count_nonzero(distances[0] == 0))
        for neighbour, distance in zip(neighbours, distances[0].tolist(), strict=True):
            neighbour["distance"] = distance
            neighbour["on_map"] = neighbour["place"] is not None
        return {"item": item, "neighbours": neighbours}

    def _nearest(self, positions: IdArray, k: int) -> tuple[IdArray, IntArray]:
        """Return positions and distances of the k nearest others of some items."""
        col = self.view.collection
        hits = col.search(codes=col.codes[positions], k=k + 1, columns=())
        near = tools.positions_of(col, hits.ids.ravel()).reshape(hits.ids.shape)
        # The item itself is among them, unless more than k others have its code.
        is_itself = near == positions[:, None]
        others = np.argsort(is_itself, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(hits.distances, others, axis=1)
        return np.take_along_axis(near, others, axis=1), distances.astype(np.int64)

    def _records(self, positions: IdArray) -> list[dict[str, Any]]:
        """Return ``id``, ``columns``, ``row`` and ``place`` of items."""
        items = records(self.view.collection, positions)
        points = self.points_of(positions)
        for item, row, point in zip(items, positions.tolist(), points, strict=True):
            item["row"] = row
            item["place"] = self.places[point].tolist() if point >= 0 else None
        return items

    # Outliers.

    def outliers(self, label: str | None) -> dict[str, Any]:
        """List the points farthest from all other items, and those among another class.

        The former have a nearest item farther than that of 95 % of all; of the latter
        most of the ``k`` nearest are of one other class (``votes``). Of a large map
        ``n_points`` are looked at, drawn at random.
        """
        size = len(self.view.collection)
        k = min(_N_NEAREST, size - 1)
        looked_at = self.positions[: max(_FEWEST, _COMPARISONS // size)]
        near, distances = self._nearest(looked_at, k)
        nearest = distances[:, 0] if k else np.zeros(len(looked_at), np.int64)
        p95 = int(np.quantile(nearest, _USUAL, method="higher"))
        order = np.lexsort((-distances.sum(axis=1), -nearest))[:_N_OUTLIERS]
        far = order[nearest[order] > p95]
        outliers = self._records(looked_at[far])
        for item, distance in zip(outliers, nearest[far].tolist(), strict=True):
            item["distance"] = distance
        confusions = None
        if label is not None:
            numbers, near_numbers, values = self._classes(label, looked_at, near)
            # The most frequent other class among neighbours, and how often it is.
            other, votes = numbers, np.zeros(len(numbers), np.int64)
            if k:
                are_labelled = (near_numbers >= 0) & (numbers[:, None] >= 0)
                is_other = are_labelled & (near_numbers != numbers[:, None])
                same = near_numbers[:, :, None] == near_numbers[:, None]
                counts = np.where(is_other, same.sum(axis=2), 0)
                best = counts.argmax(axis=1)[:, None]
                other = np.take_along_axis(near_numbers, best, axis=1)[:, 0]
                votes = np.take_along_axis(counts, best, axis=1)[:, 0]
            order = np.lexsort((distances.sum(axis=1), -votes))[:_N_OUTLIERS]
            points = order[2 * votes[order] > k]
            confusions = self._records(looked_at[points])
            for item, at in zip(confusions, points.tolist(), strict=True):
                item["class"] = values[numbers[at]]
                item["other"] = values[other[at]]
                item["votes"] = int(votes[at])
        return {
            "outliers": outliers,
            "confusions": confusions,
            "nearest_distance_p95": p95,
            "k": k,
            "n_points": len(looked_at),
        }

    def _classes(
        self, label: str, positions: IdArray, near: IdArray
    ) -> tuple[IntArray, IntArray, dict[int, Any]]:
        """Return numbers of classes, -1 of items without one, and the class of each."""
        every, inverse = np.unique(np.append(positions, near), return_inverse=True)
        values = tools.value_numbers(self.view.collection, label, every)
        numbers = values.astype(np.int64)
        column = self._column(label, every)
        numbers[column.is_null().to_numpy(zero_copy_only=False)] = -1
        kinds, first = np.unique(numbers, return_index=True)
        labels = dict(zip(kinds.tolist(), column.take(first).to_pylist(), strict=True))
        of = numbers[inverse.ravel()]
        n = len(positions)
        return of[:n], of[n:].reshape(near.shape), labels

    # Export.

    def table(self, positions: IdArray, n_neighbours: int) -> Any:
        """Return items, places, and nearest ones of the whole collection as a table.

        The places are null of items that are not on the map.
        """
        import pyarrow as pa

        col, points = self.view.collection, self.points_of(positions)
        n, items = len(col), tools.take(col, positions)
        table = pa.table({ID: items[col.id_name]})
        for i, name in enumerate(("_x", "_y")):
            values = self.places[points.clip(0), i]
            table = table.append_column(name, pa.array(values, mask=points < 0))
        if n_neighbours:
            if len(positions) * n > _MOST:
                raise ArgumentError(
                    f"neighbours of {len(positions):,} among {n:,} items take too "
                    f"long: choose at most {_MOST // n:,} items, or leave them out "
                    "(neighbours=0)"
                )
            k = min(n_neighbours, n - 1)
            near, distances = self._nearest(positions, k)
            ids = tools.take(col, near.ravel(), ())[col.id_name]
            ends = pa.array(np.arange(len(positions) + 1) * k, pa.int32())
            for name, values in (
                ("_neighbours", ids.combine_chunks()),
                ("_distances", pa.array(distances.ravel(), pa.int32())),
            ):
                lists = pa.ListArray.from_arrays(ends, values)
                table = table.append_column(name, lists)
        for name in col.columns:
            table = table.append_column(items.schema.field(name), items[name])
        return table


def _scaled(measures: NDArray[np.float64], unit: str) -> Colours:
    low, high = float(measures.min()), float(measures.max())
    steps = np.rint((measures - low) * (_FARTHEST / ((high - low) or 1.0)))
    scale = {"low": low, "high": high, "unit": unit}
    return steps.astype(np.uint8), {**_LEGEND, "kind": "scale", "scale": scale}


# Making a map.


def _map_of(
    view: View,
    earlier: CollectionMap | None,
    report: Callable[[str, int, int], None],
) -> CollectionMap:
    """Put the items of a collection, or a sample of them, on a plane.

    The layout of an earlier version is kept, and only codes that it does not know are
    placed. `report` is called with a stage, what is done and the total.
    """
    from pyarrow.types import is_nested

    collection = view.collection
    if not len(collection):
        raise ArgumentError("need at least one item for a map, got none")
    order = np.random.default_rng(0).permutation(len(collection))
    positions = order[: view.settings.max_points]
    codes = collection.codes[positions]
    if earlier is None:
        name, classes = collection.label_column, None
        # Items of several labels have no one class.
        if name is not None and not is_nested(collection.schema.field(name).type):
            classes = tools.value_numbers(collection, name, positions)
        layout = fit_layout(codes, classes=classes, progress=partial(report, "layout"))
        places = layout.place(codes, partial(report, "places"))
    else:  # which has places of most codes
        layout, hashes = earlier.layout, code_hashes(earlier.codes)
        order = np.argsort(hashes, kind="stable")
        at = np.searchsorted(hashes, code_hashes(codes), sorter=order)
        points = order[np.minimum(at, len(hashes) - 1)]
        same = (earlier.codes[points] == codes).all(axis=1)
        places = earlier.places[points]
        places[~same] = layout.place(codes[~same], partial(report, "places"))
    report("trust", 0, 1)
    trust = map_trust(codes, places)
    return CollectionMap(
        view, frozen_array(positions), frozen_array(places), layout, trust, codes
    )


_MOST_MAPS = 4  # kept; pages go on to look at those of earlier versions


class Maps:
    """Maps of a collection that changes, made one at a time in a thread of its own.

    A later map keeps the layout of an earlier one as long as the encoder is the same.
    The newest is shown until the next is made, however often the collection changes
    meanwhile; a few before it are kept for pages that show them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._maps: dict[str, CollectionMap] = {}  # by version, newest last
        self._stage = "waiting", 0, 1
        self._failure: tuple[str, str] | None = None  # a version, and why
        self._next: View | None = None
        self._thread: threading.Thread | None = None  # that makes them
        self._closed = False

    def look(self, view: View) -> tuple[CollectionMap | None, dict[str, Any]]:
        """Return the newest map; begin that of a view, and say how far it is.

        The stage is "waiting", "layout", "places", "trust", "ready" or "failed".
        """
        with self._lock:
            newest, fault = next(reversed(self._maps.values()), None), None
            stage = "ready", 1, 1
            if view.version in self._maps:
                newest = self._maps[view.version]
            elif self._failure is not None and self._failure[0] == view.version:
                newest, stage, fault = None, ("failed", 0, 1), self._failure[1]
            else:
                self._next = view
                if self._thread is None:
                    self._stage = "waiting", 0, 1
                    self._thread = threading.Thread(target=self._make_all, daemon=True)
                    self._thread.start()
                stage = self._stage
        progress = dict(zip(("stage", "done", "total"), stage, strict=True))
        return newest, {**progress, "fault": fault}

    def of_version(self, version: str) -> CollectionMap | None:
        """Return the map of a version, if there still is one."""
        with self._lock:
            return self._maps.get(version)

    def close(self) -> None:
        """Stop what is being made, and wait for its end."""
        self._closed, thread = True, self._thread
        if thread is not None:
            thread.join()

    def _make_all(self) -> None:
        while True:
            with self._lock:
                if self._next is None or self._closed:
                    self._thread = None
                    return
                view, self._next = self._next, None
                earlier = next(reversed(self._maps.values()), None)
            fingerprint = view.collection.encoder.fingerprint
            if earlier and earlier.view.collection.encoder.fingerprint != fingerprint:
                earlier = None
            result, failure = None, None
            try:
                with changed(threads=1):  # the other cores answer requests meanwhile
                    result = _map_of(view, earlier, self._report)
            except Exception as error:
                failure = view.version, one_line(error)
            with self._lock:
                if self._next is not None and self._next.version == view.version:
                    self._next = None  # asked for while it was made
                self._stage, self._failure = ("waiting", 0, 1), failure
                if result is not None:
                    self._maps[view.version] = result
                while len(self._maps) > _MOST_MAPS:
                    del self._maps[next(iter(self._maps))]

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._closed:
            raise RuntimeError("the map is no longer awaited")
        with self._lock:
            self._stage = stage, done, total
