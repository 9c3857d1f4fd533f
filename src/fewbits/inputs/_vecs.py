"""The vector files of the ANN field: ``.fvecs``, ``.bvecs`` and ``.ivecs``.

Each row is its length as a 32-bit integer, and then so many numbers (corpus-texmex).
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError

KINDS = {".fvecs": "<f4", ".bvecs": "u1", ".ivecs": "<i4"}
_LARGEST = 1 << 20  # numbers in a row that nobody exceeds


def read_vecs(path: Path) -> NDArray[Any]:
    """Return a read-only memory map of the vectors, of shape (n, n_features)."""
    dtype = np.dtype(KINDS[path.suffix.lower()])
    size = path.stat().st_size
    if not size:
        return np.empty((0, 0), dtype)
    content = np.memmap(path, np.uint8, mode="r")
    width = int(content[:4].view("<i4")[0]) if size >= 4 else -1
    row = 4 + width * dtype.itemsize
    if not 0 < width <= _LARGEST or size % row:
        raise ArtefactError(
            f"{path} is no {path.suffix[1:]} file: {size:,} bytes are no whole number "
            f"of rows of {width:,} numbers"
        )
    rows = content.reshape(-1, row)
    widths = np.ascontiguousarray(rows[:, :4]).view("<i4")[:, 0]
    if (widths != width).any():
        other = int(np.argmax(widths != width))
        raise ArtefactError(
            f"{path} has vectors of several lengths: {width} numbers in row 0, "
            f"{widths[other]} in row {other}"
        )
    return rows[:, 4:].view(dtype)
