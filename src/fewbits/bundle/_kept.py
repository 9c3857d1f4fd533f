"""Vectors that are kept beside codes, to rank a shortlist again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import frozen_array
from fewbits.bundle._table_part import Vectors
from fewbits.errors import ArgumentError
from fewbits.index import Int8Vectors

#: Forms of kept vectors: bytes a number, and how exact.
KEPT = ("float16", "float32", "int8")


def kept_vectors(features: NDArray[Any], form: str | None) -> Vectors | None:
    """Return features in the form in which they are kept; None keeps none.

    Raises
    ------
    ArgumentError
        When a number is too large for float16.
    """
    if form is None:
        return None
    if form == "int8":
        return Int8Vectors.from_vectors(features)
    # No copy where the dtype is the same already: a memory map stays on the disk.
    with np.errstate(over="ignore"):
        kept: NDArray[Any] = np.asarray(features, dtype=form)
    if form == "float16" and np.isinf(kept).any():
        row = int(np.argmax(np.isinf(kept).any(axis=1)))
        raise ArgumentError(
            f"the features of row {row} are too large for float16: keep float32"
        )
    return frozen_array(kept, arrow=False)
