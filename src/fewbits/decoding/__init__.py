"""Codes -> answers: the class of an item, or that nothing like it is known."""

from fewbits.decoding._linear import LinearModel, best_scores, learn_class
from fewbits.decoding._novelty import familiar_radius
from fewbits.decoding._selection import select_bits
from fewbits.decoding._vote import Votes, vote

__all__ = [
    "LinearModel",
    "Votes",
    "best_scores",
    "familiar_radius",
    "learn_class",
    "select_bits",
    "vote",
]
