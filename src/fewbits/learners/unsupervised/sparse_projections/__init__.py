"""Sparse projections, and how their two steps are done at any size."""

from fewbits.learners.unsupervised.sparse_projections._config import SparseSolver
from fewbits.learners.unsupervised.sparse_projections._sparse_projections import (
    SparseProjections,
)

__all__ = ["SparseProjections", "SparseSolver"]
