"""Rows of a collection that lie in one part of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._live import LiveRows
from fewbits._typing import CodeArray, IdArray
from fewbits.index import Int8Vectors, VectorPart


class Run(Immutable):
    """One part of a collection, and the row at which it begins.

    Parameters
    ----------
    part : TablePart or fewbits.store.Part
    start : int
        The first row.
    """

    def __init__(self, part: Any, start: int) -> None:
        self.part, self.start = part, start
        self.stop = start + int(part.n_live)

    @cached_property
    def live_rows(self) -> LiveRows:
        return LiveRows(self.part.live)

    @cached_property
    def table(self) -> Any:
        """The user's columns, those of deleted rows included."""
        return self.part.table()

    @property
    def live_table(self) -> Any:
        """The user's columns; a copy where rows are deleted."""
        return self.only(self.table)

    @property
    def codes(self) -> CodeArray:
        """Codes; a copy where rows are deleted."""
        return self.only_rows(self.part.codes)

    def only_rows(self, matrix: CodeArray) -> CodeArray:
        """Return the rows of a matrix that are not deleted."""
        live = self.part.live
        return matrix if live is None else frozen_array(matrix[live])

    @property
    def vectors(self) -> VectorPart:
        part = self.part
        vectors, check = part.vectors, getattr(part, "check_vectors", None)
        if isinstance(vectors, tuple):
            vectors = Int8Vectors(*vectors)
        return VectorPart(vectors, part.live, check)

    @cached_property
    def is_numbered(self) -> bool:
        """True if the sequence numbers are the rows."""
        if self.part.live is not None:
            return False
        numbers = self.part.sequence
        return not len(numbers) or (
            (numbers[0], numbers[-1] + 1) == (self.start, self.stop)
        )

    def only(self, columns: Any) -> Any:
        """Return the rows of an array, column or table that are not deleted."""
        import pyarrow as pa

        live = self.part.live
        return columns if live is None else columns.filter(pa.array(live))

    def holds(self, rows: IdArray) -> NDArray[np.bool_]:
        """Return which rows of the collection lie here."""
        return (rows >= self.start) & (rows < self.stop)

    def places(self, rows: IdArray) -> IdArray:
        """Return the places of rows that lie here."""
        return self.live_rows.places(rows - self.start)

    def rows(self, places: IdArray) -> IdArray:
        """Return the rows of places, -1 of deleted ones; -1 stays."""
        rows = self.live_rows.rows(places)
        return np.where(rows < 0, -1, rows + self.start)

    def numbered(self, sequence: IdArray) -> IdArray:
        """Return the rows with these sequence numbers, -1 where they are elsewhere."""
        own = self.part.sequence
        if not len(own):
            return np.full(sequence.shape, -1, np.int64)
        places = np.minimum(np.searchsorted(own, sequence), len(own) - 1)
        return self.rows(np.where(own[places] == sequence, places, -1))


def taken(runs: tuple[Run, ...], rows: IdArray, names: Sequence[str]) -> Any:
    """Return the rows, which may repeat, of some columns, in this order.

    Parameters
    ----------
    runs : tuple of Run
    rows : ndarray of shape (n,)
    names : sequence of str
        The user's columns, or that of ids.
    """
    import pyarrow as pa

    inside = [run.holds(rows) for run in runs]
    pieces = [
        run.part.take(names, run.places(rows[here]))
        for run, here in zip(runs, inside, strict=True)
        if here.any()
    ]
    if not pieces:
        return runs[0].part.take(names, np.empty(0, np.int64))
    if len(pieces) == 1:
        return pieces[0]
    order = np.concatenate([np.flatnonzero(here) for here in inside])
    return pa.concat_tables(pieces).take(np.argsort(order))
