"""Containers of codes that answer nearest-neighbour queries."""

from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.index._base import Index
from fewbits.index._flat import FlatIndex
from fewbits.index._int8 import Int8Vectors
from fewbits.index._multi_index import MultiIndexHashing
from fewbits.index._rerank import METRICS, Ranked

__all__ = [
    "METRICS",
    "FlatIndex",
    "Index",
    "Int8Vectors",
    "MultiIndexHashing",
    "Neighbours",
    "RangeSearchResult",
    "Ranked",
]
