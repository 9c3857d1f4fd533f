"""The items of a collection on a plane."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._frozen import frozen_array
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.maps import (
    N_LANDMARKS,
    MapLayout,
    MapTrust,
    code_hashes,
    fit_layout,
    map_trust,
)
from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError

#: Called with (stage, done, of so many); stages are "layout", "places" and "trust".
Progress = Callable[[str, int, int], None]
MAX_POINTS = 1_000_000


@dataclass(frozen=True, eq=False)
class CollectionMap:
    """Points for items of a collection.

    Attributes
    ----------
    rows : ndarray of shape (n_points,), dtype int64
        Places of the items in the collection. Their order is random: a prefix is a
        sample of all of them.
    places : ndarray of shape (n_points, 2), dtype uint16
    layout : MapLayout
        Puts further codes on the same map.
    trust : MapTrust
        The share of true neighbours kept, among the items on the map.
    n_items : int
        Items in the collection.
    """

    rows: IdArray = field(repr=False)
    places: NDArray[np.uint16] = field(repr=False)
    layout: MapLayout
    trust: MapTrust = field(repr=False)
    n_items: int
    codes: CodeArray = field(repr=False)

    def __repr__(self) -> str:
        return one_line(self)

    def __len__(self) -> int:
        return len(self.rows)

    def points_of(self, rows: IdArray) -> IdArray:
        """Return the point of each row, -1 of those that are not on the map."""
        points = np.full(self.n_items, -1, np.int64)
        points[self.rows] = np.arange(len(self.rows))
        found: IdArray = points[rows]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return facts as plain values."""
        trust = self.trust
        return {
            "n_points": len(self),
            "n_items": self.n_items,
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


def map_collection(
    bundle: Bundle,
    *,
    classes: str | None = None,
    earlier: CollectionMap | None = None,
    max_points: int = MAX_POINTS,
    n_landmarks: int = N_LANDMARKS,
    random_state: int = 0,
    progress: Progress | None = None,
) -> CollectionMap:
    """Put the items of a collection on a plane.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    classes : str, default=None
        The column by which landmarks are sampled; None takes that of the labels.
    earlier : CollectionMap, default=None
        A map of an earlier state of the collection: its layout is kept, and only codes
        that it does not know are placed.
    max_points : int, default=1_000_000
        Of a larger collection so many items, drawn at random, are on the map.
    n_landmarks : int, default=20_000
        See `fewbits.analysis.maps.fit_layout`.
    random_state : int, default=0
    progress : callable, default=None
        Called with (stage, done, of so many).

    Returns
    -------
    CollectionMap

    Raises
    ------
    ArgumentError
        When the collection is empty, or there is no such column.
    """
    items = bundle.collection
    if not len(items):
        raise ArgumentError("need at least one item for a map, got none")
    order = np.random.default_rng(random_state).permutation(len(items))
    rows = order[: check_count(max_points, "max_points")]
    codes = items.codes_at(rows)
    if earlier is None:
        column = classes or _one_label_column(bundle)
        groups = None if column is None else items.group_numbers(column, rows)
        layout = fit_layout(
            codes,
            classes=groups,
            n_landmarks=n_landmarks,
            random_state=random_state,
            progress=_stage("layout", progress),
        )
        places = layout.place(codes, _stage("places", progress))
    else:
        layout = earlier.layout
        places = _moved(codes, earlier, _stage("places", progress))
    if progress is not None:
        progress("trust", 0, 1)
    trust = map_trust(codes, places, random_state=random_state)
    return CollectionMap(
        frozen_array(rows),
        frozen_array(places),
        layout,
        trust,
        len(items),
        codes,
    )


def _stage(name: str, progress: Progress | None) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    told = progress
    return lambda done, total: told(name, done, total)


def _one_label_column(bundle: Bundle) -> str | None:
    """Return the column of labels, unless items have several of them."""
    import pyarrow as pa

    name = bundle.label_column
    if name is None or pa.types.is_nested(bundle.collection.schema.field(name).type):
        return None
    return name


def _moved(
    codes: CodeArray,
    earlier: CollectionMap,
    progress: Callable[[int, int], None] | None,
) -> NDArray[np.uint16]:
    """Return the places of codes, looked up where an earlier map has them."""
    known = code_hashes(earlier.codes)
    order = np.argsort(known, kind="stable")
    hashes = code_hashes(codes)
    at = np.minimum(np.searchsorted(known, hashes, sorter=order), len(known) - 1)
    found = order[at]
    same = (earlier.codes[found] == codes).all(axis=1)
    places = earlier.places[found]
    places[~same] = earlier.layout.place(codes[~same], progress)
    return places
