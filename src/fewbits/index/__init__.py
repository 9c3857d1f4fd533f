"""Containers of codes that answer nearest-neighbour queries."""

from fewbits.codes import Neighbours, Ranges
from fewbits.index._flat import FlatIndex

__all__ = ["FlatIndex", "Neighbours", "Ranges"]
