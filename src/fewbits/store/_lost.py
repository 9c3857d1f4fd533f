"""Rows of an Arrow column whose values lie in damaged bytes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
#: Gives the damaged ranges of a buffer, in bytes from its start.
Damaged = Callable[[Any], list[tuple[int, int]]]


def lost_rows(array: Any, damaged: Damaged) -> Mask:
    """Return which rows of a column may differ from what was written.

    Parameters
    ----------
    array : pyarrow.Array
        Of any type; of one that is not known here all rows are lost if a byte is.
        Offsets may be damaged, too.
    damaged : callable
    """
    from pyarrow import types

    kind, buffers = array.type, array.buffers()
    if hasattr(array, "storage"):
        return lost_rows(array.storage, damaged)
    lost = np.zeros(len(array), np.bool_)
    if not any(damaged(buffer) for buffer in buffers if buffer is not None):
        return lost
    for start, stop in damaged(buffers[0]) if buffers[0] else []:
        lost[8 * start : 8 * stop] = True
    if types.is_struct(kind):
        for i in range(kind.num_fields):
            lost |= lost_rows(array.field(i), damaged)
        return lost
    if types.is_fixed_size_list(kind):
        inner = lost_rows(array.values, damaged)
        return lost | inner.reshape(len(array), kind.list_size).any(axis=1)
    if size := _size_of_offsets(kind):
        return lost | _of_offsets(array, size, damaged)
    if (n_bits := _bit_width(kind)) is not None:
        for start, stop in damaged(buffers[1]) if buffers[1] else []:
            lost[8 * start // n_bits : -(-8 * stop // n_bits)] = True
        return lost
    return np.ones(len(array), np.bool_)


def _of_offsets(array: Any, size: int, damaged: Damaged) -> Mask:
    """Return the lost rows of texts or lists, each between two offsets."""
    n, buffers = len(array), array.buffers()
    lost = np.zeros(n, np.bool_)
    offsets = np.frombuffer(buffers[1], f"<i{size}", n + 1, array.offset * size)
    for start, stop in damaged(buffers[1]):
        lost[max(0, start // size - 1) : -(-stop // size)] = True
    values = _values(array)
    if values is None:
        bad = np.zeros((buffers[2].size if buffers[2] else 0) + 1, np.bool_)
        for start, stop in damaged(buffers[2]) if buffers[2] else []:
            bad[start:stop] = True
        length = len(bad) - 1
    else:
        bad, length = np.append(lost_rows(values, damaged), False), len(values)
    sums = np.concatenate([[0], np.cumsum(bad)])
    first, last = offsets[:-1], offsets[1:]
    lost |= (first < 0) | (first > last) | (last > length)
    first, last = np.clip(first, 0, length), np.clip(last, 0, length)
    mask: Mask = lost | (sums[last] > sums[first])
    return mask


def _values(array: Any) -> Any:
    """Return what lists hold; None for texts and bytes."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_map(array.type):
        fields = [array.type.key_field, array.type.item_field]
        return pa.StructArray.from_arrays([array.keys, array.items], fields=fields)
    return getattr(array, "values", None)


def _size_of_offsets(kind: Any) -> int:
    from pyarrow import types

    if types.is_large_string(kind) or types.is_large_binary(kind):
        return 8
    if types.is_large_list(kind):
        return 8
    short = (types.is_string, types.is_binary, types.is_list, types.is_map)
    return 4 if any(is_one(kind) for is_one in short) else 0


def _bit_width(kind: Any) -> int | None:
    from pyarrow import types

    if types.is_dictionary(kind):
        return int(kind.index_type.bit_width)
    try:
        return int(kind.bit_width)
    except ValueError:
        return None
