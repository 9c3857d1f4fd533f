"""Some rows of a column, of which only the blocks that they lie in are checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.errors import ArtefactError, one_line
from fewbits.store._blocks import BLOCK
from fewbits.store._segment import ArrowFile

_FEW = 32


def take_rows(file: ArrowFile, name: str, rows: IdArray) -> Any:
    """Return some rows of a column of a file, in any order; they may repeat.

    Of a nested type, or one of categories, all rows are checked.

    Raises
    ------
    ArtefactError
        When a block differs from what was written.
    """
    import pyarrow as pa

    column = file.unchecked(name)
    if not _check(file, column, rows):
        return _taken(file.column(name), rows)
    taken = _taken(column, rows)
    try:
        taken.validate(full=True)
    except pa.ArrowException as error:
        raise ArtefactError(f"{file.path} is damaged: {one_line(error)}") from error
    return taken


def _taken(column: Any, rows: IdArray) -> Any:
    """Return the rows; a few, as of one answer, without Arrow's functions.

    Their import costs more than a search.
    """
    import pyarrow as pa

    if not 0 < len(rows) <= _FEW:
        return column.take(pa.array(rows))
    return pa.concat_arrays([column.slice(row, 1) for row in rows.tolist()])


def _check(file: ArrowFile, column: Any, rows: IdArray) -> bool:
    """Check where rows lie; False where the type does not tell."""
    from pyarrow import types

    kind = column.type
    lengths = _offset_bytes(kind)
    is_fixed = types.is_primitive(kind) or types.is_decimal(kind)
    if not (lengths or is_fixed or types.is_fixed_size_binary(kind)):
        return False
    validity, *values = column.buffers()
    if validity is not None:
        _check_spans(file, validity, rows // 8, 1)
    if types.is_boolean(kind):
        _check_spans(file, values[0], rows // 8, 1)
    elif lengths:
        _check_spans(file, values[0], rows * lengths, 2 * lengths)
        _check_texts(file, values, rows, lengths)
    else:
        size = kind.bit_width // 8
        _check_spans(file, values[0], rows * size, size)
    return True


def _offset_bytes(kind: Any) -> int:
    """Return the bytes of an offset of texts, 0 for other types."""
    from pyarrow import types

    if types.is_string(kind) or types.is_binary(kind):
        return 4
    return 8 if types.is_large_string(kind) or types.is_large_binary(kind) else 0


def _check_texts(
    file: ArrowFile, values: list[Any], rows: IdArray, lengths: int
) -> None:
    offsets = np.frombuffer(values[0], np.int32 if lengths == 4 else np.int64)
    starts, stops = (offsets[rows + i].astype(np.int64) for i in (0, 1))
    size = 0 if values[1] is None else values[1].size
    # The sums can be forged: nothing is read from outside.
    if not ((starts >= 0) & (starts <= stops) & (stops <= size)).all():
        raise ArtefactError(f"{file.path} is damaged: a text lies outside of it")
    if values[1] is not None:
        _check_spans(file, values[1], starts, stops - starts)


def _check_spans(file: ArrowFile, buffer: Any, starts: IdArray, sizes: Any) -> None:
    """Check the blocks in which bytes of a buffer lie."""
    sizes = np.broadcast_to(sizes, starts.shape)
    starts = (starts + file.start_of(buffer))[sizes > 0]
    stops = starts + sizes[sizes > 0]
    file.checked.check_blocks(_blocks(starts, stops))


def _blocks(starts: IdArray, stops: IdArray) -> NDArray[np.int64]:
    """Return the blocks of spans, each once."""
    first, last = starts // BLOCK, (stops - 1) // BLOCK
    n = int(last.max(initial=-1)) + 2
    begun = np.bincount(first, minlength=n) - np.bincount(last + 1, minlength=n)
    return np.flatnonzero(np.cumsum(begun))


class SomeNumbers:
    """A column of int64 without nulls, of which only what is asked for is checked.

    Twenty times as fast as `take_rows` for the few rows of an answer.

    Parameters
    ----------
    file : ArrowFile
    name : str
    """

    def __init__(self, file: ArrowFile, name: str) -> None:
        self._checked = file.checked
        self._start = file.values_start(file.unchecked(name))
        stop = self._start + 8 * file.n_rows
        self._values = self._checked.bytes[self._start : stop].view("<i8")

    @classmethod
    def of(cls, file: ArrowFile, name: str) -> "SomeNumbers | None":
        """Return the column; None where it is of another kind."""
        column = file.unchecked(name)
        if column.type != "int64" or column.buffers()[0] is not None:
            return None
        return cls(file, name) if file.values_start(column) % 8 == 0 else None

    def take(self, rows: IdArray) -> IdArray:
        """Return some numbers, whose blocks are checked before.

        Raises
        ------
        ArtefactError
            When a block differs from what was written.
        """
        self._checked.check_at(self._start + 8 * rows)
        found: IdArray = self._values[rows]
        return found
