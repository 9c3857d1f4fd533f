"""Projections whose structure makes them fast: Hadamard, circulant, bilinear."""

from fewbits.learners.unsupervised.structured._bilinear import BilinearProjections
from fewbits.learners.unsupervised.structured._cbe import CBE
from fewbits.learners.unsupervised.structured._hadamard import Hadamard

__all__ = ["CBE", "BilinearProjections", "Hadamard"]
