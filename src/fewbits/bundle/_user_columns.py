"""The user's columns of the items of a collection."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import known_names, python_values
from fewbits._frozen import Immutable, read_only
from fewbits._labels import as_label_rows
from fewbits._typing import IdArray
from fewbits.bundle._group_numbers import numbers_of
from fewbits.bundle._runs import Run, taken
from fewbits.bundle._table_part import ID, RESERVED
from fewbits.errors import ArgumentError

#: Where ``fewbits build`` keeps labels that are not a column of a table.
LABEL_COLUMN = "label"


class UserColumns(Immutable):
    """Columns that lie in runs of rows, read as far as they are asked for."""

    _parts: tuple[Any, ...]
    _runs: tuple[Run, ...]

    @property
    @abstractmethod
    def schema(self) -> Any:
        """Arrow's schema of all columns, for which no file of items is read."""

    @property
    @abstractmethod
    def id_column(self) -> Any:
        """Ids of the items as an Arrow column."""

    @cached_property
    def columns(self) -> list[str]:
        """Names of the user's columns."""
        return [name for name in self.schema.names if name not in RESERVED]

    def records(
        self, rows: IdArray, names: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the user's columns at some places, a dict for each.

        Parameters
        ----------
        rows : ndarray of int
            Places of items, in any order; may repeat.
        names : sequence of str, default=None
            Of the columns; None for all.

        Raises
        ------
        ArgumentError
            When there is no such column.
        """
        names = self.checked_columns(names)
        if not names:
            return [{} for _ in range(len(rows))]
        table = self.table_at(rows, names)
        columns = [python_values(column) for column in table.columns]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        ]

    def table_at(self, rows: IdArray, names: Sequence[str] | None = None) -> Any:
        """Return the user's columns at some places as an Arrow table, see `records`."""
        chosen = self.checked_columns(names)
        return taken(self._runs, rows, chosen)

    def checked_columns(self, names: Sequence[str] | None) -> list[str]:
        """Return names of columns, all of them for None.

        Raises
        ------
        ArgumentError
            When there is no such column.
        """
        if names is None:
            return self.columns
        for name in names:
            self._check_column(name)
        return list(dict.fromkeys(names))

    def user_table(self) -> Any:
        """Return the table of the user's columns alone."""
        return self._user_table

    @cached_property
    def _user_table(self) -> Any:
        import pyarrow as pa

        if not self.columns:
            # A table without columns has rows only where it comes from one with some.
            return pa.table({ID: self.id_column}).select([])
        return pa.concat_tables([run.live_table for run in self._runs])

    def column(self, name: str, rows: IdArray | None = None) -> NDArray[Any]:
        """Return a user column, or some of its rows, as an array of objects."""
        self._check_column(name)
        runs = self._runs
        table = self.user_table() if rows is None else taken(runs, rows, [name])
        values = python_values(table[name])
        # May be lists: an array of these has one axis.
        return np.fromiter(values, dtype=object, count=len(values))

    def group_numbers(self, name: str, rows: IdArray) -> IdArray:
        """Return a number for the value in a column of each of some rows.

        Equal values of these rows have equal numbers; null is a value, too.
        """
        self._check_column(name)
        column = taken(self._runs, rows, [name])[name]
        return _grouped(name, column).astype(np.int64)

    def numbered_groups(self, name: str) -> NDArray[np.int32]:
        """Return a number for the value in a column of each item.

        The column is read once, and four bytes an item are kept.
        """
        self._check_column(name)
        if name not in self._numbered:
            import pyarrow as pa

            parts = [run.only(run.part.table([name])[name]) for run in self._runs]
            chunks = [chunk for part in parts for chunk in part.chunks]
            column = pa.chunked_array(chunks, self.schema.field(name).type)
            self._numbered[name] = read_only(_grouped(name, column))
        return self._numbered[name]

    @cached_property
    def _numbered(self) -> dict[str, NDArray[np.int32]]:
        return {}

    def classes(self, name: str) -> NDArray[Any]:
        """Return a column of classes, or a row for each item that has several labels.

        Raises
        ------
        ArgumentError
            When there is no such column, or it holds no labels.
        """
        if name not in self.columns and LABEL_COLUMN in self.columns:
            raise ArgumentError(
                f"the items have no column {name!r}: labels that were not a column are "
                f"kept as {LABEL_COLUMN!r}; they have {', '.join(self.columns)}"
            )
        return as_label_rows(self.column(name).tolist(), f"column {name!r}")

    def _check_column(self, name: str) -> None:
        if name not in self.columns:
            raise ArgumentError(
                f"the items have no column {name!r}; they have "
                f"{known_names(self.columns) or 'none'}"
            )


def _grouped(name: str, column: Any) -> NDArray[np.int32]:
    try:
        return numbers_of(column)
    except (NotImplementedError, ValueError) as error:
        raise ArgumentError(
            f"items cannot be grouped by {name!r}, which is {column.type}"
        ) from error
