"""The true neighbours of a point, among all items of the collection."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fewbits._checks import check_k
from fewbits._repr import one_line
from fewbits.bundle import Bundle
from fewbits.engine.maps._collection_map import CollectionMap
from fewbits.errors import ArgumentError


@dataclass(frozen=True)
class MapNeighbours:
    """An item of the map and the items whose codes are nearest to its own.

    Attributes
    ----------
    item : dict
        ``id``, ``row``, ``columns``, ``place`` on the map or None, ``trust``, the share
        of true neighbours that the map keeps around there, and ``n_same``, how many
        other items have the same code, of the `k` nearest.
    neighbours : list of dict
        Nearest first: ``id``, ``row``, ``distance`` in bits, ``columns``, ``on_map``
        and ``place``.
    """

    item: dict[str, Any] = field(repr=False)
    neighbours: list[dict[str, Any]] = field(repr=False)

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"item": self.item, "neighbours": self.neighbours}


def map_neighbours(
    bundle: Bundle,
    found: CollectionMap,
    *,
    row: int | None = None,
    id: Any = None,
    k: int = 10,
) -> MapNeighbours:
    """Find the items whose codes are nearest to that of an item, on the map or not.

    Parameters
    ----------
    bundle : Bundle
    found : CollectionMap
        Of its collection.
    row : int, default=None
        Place of the item in the collection.
    id : int or str, default=None
        Its id, in place of the row.
    k : int, default=10

    Returns
    -------
    MapNeighbours

    Raises
    ------
    ArgumentError
        When not exactly one of `row` and `id` is given, there is no such item, or `k`
        is out of range.
    """
    items, row = bundle.collection, _row(bundle, row, id)
    code = items.codes_at(np.array([row]))
    nearest = bundle.search_rows_by_code(code, check_k(k) + 1)
    others = (nearest.rows[0] != row) & (nearest.rows[0] >= 0)
    rows, distances = nearest.rows[0][others][:k], nearest.distances[0][others][:k]
    everything = np.append(row, rows)
    points = found.points_of(everything)
    places = [found.places[at].tolist() if at >= 0 else None for at in points]
    own, *records = [
        {"id": id, "row": at, "columns": columns, "place": place}
        for id, at, columns, place in zip(
            items.ids_at(everything).tolist(),
            everything.tolist(),
            items.records(everything),
            places,
            strict=True,
        )
    ]
    own["trust"] = None if places[0] is None else float(_trust(found, places[0]))
    own["n_same"] = int(np.count_nonzero(distances == 0))
    neighbours = [
        {**record, "distance": int(distance), "on_map": record["place"] is not None}
        for record, distance in zip(records, distances, strict=True)
    ]
    return MapNeighbours(own, neighbours)


def _row(bundle: Bundle, row: int | None, id: Any) -> int:
    if (row is None) == (id is None):
        raise ArgumentError("give exactly one of row and id")
    if row is None:
        return int(bundle.collection.rows([id])[0])
    n = len(bundle.collection)
    if not 0 <= row < n:
        raise ArgumentError(f"rows are from 0 to {n - 1}, got {row}")
    return row


def _trust(found: CollectionMap, place: list[int]) -> float:
    return float(found.trust.around([place])[0])
