"""Codes -> answers: the class of an item, or that nothing like it is known."""

from fewbits.decoding._novelty import familiar_radius
from fewbits.decoding._vote import Votes, vote

__all__ = ["Votes", "familiar_radius", "vote"]
