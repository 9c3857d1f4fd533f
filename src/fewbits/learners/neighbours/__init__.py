"""Codes that are trained to preserve the nearest neighbours of vectors."""

from fewbits.learners.neighbours._config import (
    FastNeighbourTraining,
    NeighbourTraining,
)
from fewbits.learners.neighbours._fast_neighbour_codes import FastNeighbourCodes
from fewbits.learners.neighbours._neighbour_codes import NeighbourCodes

__all__ = [
    "FastNeighbourCodes",
    "FastNeighbourTraining",
    "NeighbourCodes",
    "NeighbourTraining",
]
