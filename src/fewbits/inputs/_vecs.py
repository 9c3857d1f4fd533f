"""The vector files of the ANN field: ``.fvecs``, ``.bvecs`` and ``.ivecs``.

Each row is its length as a 32-bit integer, and then so many numbers (corpus-texmex).
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError

KINDS = {".fvecs": "<f4", ".bvecs": "u1", ".ivecs": "<i4"}
_LARGEST = 1 << 20  # largest plausible number of components
_LOOKED_AT = 1000  # rows examined to distinguish integers from floats
_SMALL = 1 << 27  # integers below it are floats below 1e-33
_USUAL = 1e-6, 1e6  # sizes of floats


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
            f"{path} is not a {path.suffix} file: {size:,} bytes are not a whole "
            f"number of rows of {width:,} numbers"
        )
    rows = content.reshape(-1, row)
    widths = np.ascontiguousarray(rows[:, :4]).view("<i4")[:, 0]
    if (widths != width).any():
        other = int(np.argmax(widths != width))
        raise ArtefactError(
            f"{path} has vectors of several lengths: {width} numbers in row 0, "
            f"{widths[other]} in row {other}"
        )
    vectors = rows[:, 4:]
    _check_kind(vectors[:_LOOKED_AT], path)
    return vectors.view(dtype)


def _check_kind(vectors: NDArray[np.uint8], path: Path) -> None:
    """Refuse integers under the name of floats, and floats under that of integers.

    Read as floats, integers are all next to nothing; floats read as integers are all
    huge, and as floats neither tiny nor huge.
    """
    if path.suffix.lower() == ".bvecs":
        return
    integers = np.ascontiguousarray(vectors).view("<i4")
    there = integers[integers != 0]
    floats = there.view("<f4")
    if not len(there):
        return
    if path.suffix.lower() == ".fvecs":
        is_wrong = (np.abs(there.astype(np.int64)) < _SMALL).all()
        held, right = f"integers such as {there[0]}", ".ivecs"
    else:
        size = np.abs(floats)
        is_wrong = ((size > _USUAL[0]) & (size < _USUAL[1])).all()
        held, right = f"floats such as {floats[0]:g}", ".fvecs"
    if is_wrong:
        raise ArtefactError(f"{path} holds {held}; name it {right}")
