"""The user's own ids: whole numbers or texts, unique in a collection."""

from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    as_column,
    check_no_blank,
    is_column,
    is_integer,
    is_text,
    repeated,
)
from fewbits._frozen import frozen_array, read_only
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError

_SHOWN = 60  # characters of an id in a message


def checked_ids(ids: Any, n: int) -> Any:
    """Return ids as an Arrow column of int64 or large_string, each only once.

    Parameters
    ----------
    ids : array-like, Series or Arrow column
        Whole numbers from 0 on, or texts that are not blank (a UUID is its text); None
        numbers the rows.
    n : int
        How many rows there are.

    Raises
    ------
    ArgumentError
        When an id repeats, is missing, negative, or neither number nor text.
    """
    import pyarrow as pa

    if ids is None:
        return pa.array(frozen_array(np.arange(n, dtype=np.int64)))
    column = _column(ids)
    if is_text(column.type):
        check_no_blank(column, "the list of ids")
        _check_unique(column)
        return column
    if not len(column):
        return pa.array([], pa.int64())
    numbers = _whole_numbers(column)
    _check_unique(pa.chunked_array([pa.array(numbers)]))
    return pa.array(frozen_array(numbers))


def ids_of(column: Any) -> NDArray[Any]:
    """Return a column of ids as a read-only array."""
    if is_text(column.type):
        texts = np.fromiter(column.to_pylist(), dtype=object, count=len(column))
        return read_only(texts)
    return frozen_array(column.to_numpy())


def id_column(ids: Any, texts: bool) -> Any:
    """Return ids to look for as a column of the kind that a collection has.

    Raises
    ------
    ArgumentError
        When they are of another kind, or missing.
    """
    import pyarrow as pa

    column = _column(ids)
    if not len(column):
        return pa.array([], pa.large_string() if texts else pa.int64())
    if texts != is_text(column.type):
        kinds = ("whole numbers", "texts")
        raise ArgumentError(
            f"the ids of this collection are {kinds[texts]}, got {column[0].as_py()!r}"
        )
    if not texts:
        return pa.array(_whole_numbers(column))
    whole = column.cast(pa.large_string())
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def check_found(column: Any, rows: IdArray) -> None:
    """Refuse ids that are not there, whose rows are -1."""
    if (rows < 0).any():
        unknown = column[int(np.argmax(rows < 0))].as_py()
        raise ArgumentError(f"there is no item with id {shown_id(unknown)}")


class Lookup:
    """Row in a table of each id."""

    def __init__(self, column: Any) -> None:
        self._texts = is_text(column.type)
        self._column = column
        if not self._texts:
            self._ids = column.to_numpy()
            self._order = np.argsort(self._ids, kind="stable")

    def rows(self, column: Any) -> IdArray:
        """Return the rows of ids of the same kind, -1 where there is none."""
        if not len(column):
            return np.empty(0, np.int64)
        return self._text_rows(column) if self._texts else self._number_rows(column)

    def _text_rows(self, column: Any) -> IdArray:
        import pyarrow.compute as pc

        found = pc.index_in(column.cast(self._column.type), value_set=self._column)
        rows: IdArray = found.fill_null(-1).to_numpy().astype(np.int64)
        return rows

    def _number_rows(self, column: Any) -> IdArray:
        wanted = column.to_numpy()
        ranks = np.searchsorted(self._ids, wanted, sorter=self._order)
        rows = np.full(len(wanted), -1, np.int64)
        inside = np.flatnonzero(ranks < len(self._ids))
        places = self._order[ranks[inside]]
        same = self._ids[places] == wanted[inside]
        rows[inside[same]] = places[same]
        return rows


def _column(ids: Any) -> Any:
    if isinstance(ids, np.ma.MaskedArray):
        raise ArgumentError("ids are a masked array; leave out the rows of its gaps")
    if not is_column(ids):
        array = np.asarray(ids)
        if array.ndim != 1:
            raise ArgumentError(
                f"ids must be a list of whole numbers or texts, got shape {array.shape}"
            )
        some = isinstance(ids, list | tuple)
        if some and array.dtype.kind in "iu" and any(isinstance(i, bool) for i in ids):
            raise ArgumentError("ids must be whole numbers or texts, got a truth value")
        if some and array.dtype.kind == "U":
            array = np.array(ids, dtype=object)  # of [1, "a"] NumPy makes two texts
        ids = array.tolist() if array.dtype.kind in "OUT" else array
        if isinstance(ids, list):
            ids = [str(each) if isinstance(each, UUID) else each for each in ids]
    try:
        column = as_column(ids)
    except ArgumentError:
        raise ArgumentError("ids must be all whole numbers or all texts") from None
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ArgumentError(f"an id is missing in row {row}")
    if len(column) and not (is_integer(column.type) or is_text(column.type)):
        raise ArgumentError(
            f"ids must be a list of whole numbers, or of texts, got {column.type}"
        )
    return column


def _whole_numbers(column: Any) -> IdArray:
    numbers = np.asarray(column.to_numpy())
    low, high = numbers.min(), numbers.max()
    if low < 0 or high > np.iinfo(np.int64).max:
        wrong = low if low < 0 else high
        raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {wrong}")
    return numbers.astype(np.int64)


def _check_unique(column: Any) -> None:
    if (found := repeated(column)) is not None:
        value, count = found
        raise ArgumentError(
            f"id {shown_id(value)} is given more than once, {count} times"
        )


def shown_id(value: Any) -> str:
    """Return an id for a message, long ones cut."""
    return repr(value[:_SHOWN]) if isinstance(value, str) else str(value)
