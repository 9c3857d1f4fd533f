"""Rows of a table whose text is blank or missing are left out, with all they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import list_matrix
from fewbits._warnings import warn_user
from fewbits.inputs._checks import blank_rows
from fewbits.inputs._shards import Table
from fewbits.inputs._texts import Texts

_TOLD = 5  # rows


class SelectedRows(Table):
    """Some rows of a table.

    Parameters
    ----------
    table : Table
    mask : pyarrow.Array of bool
        Which rows stay.
    """

    def __init__(self, table: Table, mask: Any) -> None:
        self.fields, self.auxiliary = table.fields, table.auxiliary
        self._table, self._mask = table, mask

    def __len__(self) -> int:
        return int(self._mask.true_count)

    def column(self, place: int) -> Any:
        return self._table.column(place).filter(self._mask)

    def kept(self, place: int) -> Any:
        return self._table.kept(place).filter(self._mask)

    def vectors(self, place: int, what: str) -> NDArray[Any]:
        return list_matrix(self.column(place), what)


def without_blank(table: Table, place: int, source: str, *, has_ids: bool) -> Table:
    """Return the rows that have a text in the column at `place`, and warn of others."""
    import pyarrow as pa

    rows = blank_rows(Texts(table.column(place)))
    if not rows:
        return table
    there = np.ones(len(table), np.bool_)
    there[rows] = False
    shown = ", ".join(map(str, rows[:_TOLD]))
    more = f" and {len(rows) - _TOLD:,} more" * (len(rows) > _TOLD)
    warn_user(
        f"{source}: {len(rows):,} of {len(table):,} rows left out, as column "
        f"{table.names[place]!r} has no text there: {shown}{more}"
        + ("" if has_ids else "; ids count the others")
    )
    return SelectedRows(table, pa.array(there))
