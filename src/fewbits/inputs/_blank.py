"""Rows of a table whose text or label is missing are left out, with all they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import is_text, list_matrix
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


def blank_cells(column: Any) -> list[int]:
    """Return the rows of a column that hold nothing, NaN, or white space alone."""
    if is_text(column.type):
        return blank_rows(Texts(column))
    missing = column.is_null(nan_is_null=True).to_numpy()
    found: list[int] = np.flatnonzero(missing).tolist()
    return found


def without_blank(
    table: Table, needed: dict[int, str], source: str, *, has_ids: bool
) -> Table:
    """Return the rows that have what is needed, and warn of the rest.

    Parameters
    ----------
    table : Table
    needed : dict of int to str
        What the columns at these places hold: a text, or a label.
    source : str
    has_ids : bool
    """
    import pyarrow as pa

    there = np.ones(len(table), np.bool_)
    for place, what in needed.items():
        rows = [row for row in blank_cells(table.column(place)) if there[row]]
        there[rows] = False
        if rows:
            shown = ", ".join(map(str, rows[:_TOLD]))
            more = f" and {len(rows) - _TOLD:,} more" * (len(rows) > _TOLD)
            warn_user(
                f"{source}: {len(rows):,} of {len(table):,} rows left out, as column "
                f"{table.names[place]!r} has no {what} there: {shown}{more}"
                + ("" if has_ids else "; ids count the others")
            )
    return table if there.all() else SelectedRows(table, pa.array(there))
