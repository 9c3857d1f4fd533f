"""A binary code for each class, to train towards: arrays of -1 and 1, without torch."""

from fewbits.learners.deep.centres._hadamard import (
    balanced_centres,
    hadamard_centres,
)
from fewbits.learners.deep.centres._predictable import predictable_centres
from fewbits.learners.deep.centres._semantic import hierarchy_vectors, semantic_centres
from fewbits.learners.deep.centres._separated import separated_centres

__all__ = [
    "balanced_centres",
    "hadamard_centres",
    "hierarchy_vectors",
    "predictable_centres",
    "semantic_centres",
    "separated_centres",
]
