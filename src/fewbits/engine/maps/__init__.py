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

from fewbits.engine.maps._collection_map import (
    MAX_POINTS,
    CollectionMap,
    map_collection,
)
from fewbits.engine.maps._colours import MapColours, map_colours
from fewbits.engine.maps._export import map_table
from fewbits.engine.maps._neighbours import MapNeighbours, map_neighbours
from fewbits.engine.maps._updates import MapState, MapUpdates

__all__ = [
    "MAX_POINTS",
    "CollectionMap",
    "MapColours",
    "MapNeighbours",
    "MapState",
    "MapUpdates",
    "map_collection",
    "map_colours",
    "map_neighbours",
    "map_table",
]
