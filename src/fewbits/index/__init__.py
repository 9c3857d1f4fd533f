"""Containers of codes that answer nearest-neighbour queries."""

from fewbits.codes import Neighbours, Ranges
from fewbits.index._flat import FlatIndex
from fewbits.index._rerank import Ranked

__all__ = ["FlatIndex", "Neighbours", "Ranges", "Ranked"]
