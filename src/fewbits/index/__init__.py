"""Containers of codes that answer nearest-neighbour queries."""

from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.index._index import FlatIndex, Index
from fewbits.index._multi_index import MultiIndexHashing
from fewbits.index._near_groups import Groups
from fewbits.index._pairs import Pairs
from fewbits.index._rerank import METRICS, RerankedNeighbours
from fewbits.index._vectors import Corrections, Int8Vectors
from fewbits.index._vectors import VectorPart as VectorPart
from fewbits.index._vectors import VectorParts as VectorParts

__all__ = [
    "METRICS",
    "Corrections",
    "FlatIndex",
    "Groups",
    "Index",
    "Int8Vectors",
    "MultiIndexHashing",
    "Neighbours",
    "Pairs",
    "RangeSearchResult",
    "RerankedNeighbours",
]
