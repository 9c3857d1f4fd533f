"""A collection as a map: its items on a plane, their colours and their neighbours.

>>> import numpy as np
>>> from fewbits.bundle import Bundle
>>> from fewbits.encoders import LinearEncoder
>>> bundle = Bundle(LinearEncoder(np.eye(9), np.zeros(9)))
>>> bundle = bundle.with_items(np.random.default_rng(0).normal(size=(90, 9)))
>>> found = map_collection(bundle)
>>> found.places.shape, found.places.dtype
((90, 2), dtype('uint16'))
>>> map_neighbours(bundle, found, row=7, k=3).to_dict()["neighbours"][0]["on_map"]
True
"""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names

if TYPE_CHECKING:
    from fewbits.engine.maps._collection_map import (
        MAX_POINTS,
        CollectionMap,
        map_collection,
    )
    from fewbits.engine.maps._colours import MapColours, map_colours
    from fewbits.engine.maps._export import map_table
    from fewbits.engine.maps._neighbours import MapNeighbours, map_neighbours
    from fewbits.engine.maps._outliers import MapOutliers, map_outliers
    from fewbits.engine.maps._updates import MapState, MapUpdates
else:  # what draws and tests statistically, no search does
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "CollectionMap": "fewbits.engine.maps._collection_map",
            "MAX_POINTS": "fewbits.engine.maps._collection_map",
            "MapColours": "fewbits.engine.maps._colours",
            "MapNeighbours": "fewbits.engine.maps._neighbours",
            "MapOutliers": "fewbits.engine.maps._outliers",
            "MapState": "fewbits.engine.maps._updates",
            "MapUpdates": "fewbits.engine.maps._updates",
            "map_collection": "fewbits.engine.maps._collection_map",
            "map_colours": "fewbits.engine.maps._colours",
            "map_neighbours": "fewbits.engine.maps._neighbours",
            "map_outliers": "fewbits.engine.maps._outliers",
            "map_table": "fewbits.engine.maps._export",
        },
    )

__all__ = [
    "MAX_POINTS",
    "CollectionMap",
    "MapColours",
    "MapNeighbours",
    "MapOutliers",
    "MapState",
    "MapUpdates",
    "map_collection",
    "map_colours",
    "map_neighbours",
    "map_outliers",
    "map_table",
]
