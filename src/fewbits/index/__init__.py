"""Containers of codes that answer nearest-neighbour queries."""

from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.index._base import Index
from fewbits.index._corrections import Corrections
from fewbits.index._flat import FlatIndex
from fewbits.index._groups import Groups
from fewbits.index._int8 import Int8Vectors
from fewbits.index._multi_index import MultiIndexHashing
from fewbits.index._pairs import Pairs
from fewbits.index._rerank import METRICS, Ranked
from fewbits.index._streaming import stream_range_search
from fewbits.index._vector_parts import VectorPart, VectorParts

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
    "Ranked",
    "VectorPart",
    "VectorParts",
    "stream_range_search",
]
