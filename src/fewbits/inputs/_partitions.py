"""Columns that stand in the names of folders, as Hive and Spark write partitions.

``sales/year=2020/part-0.parquet`` holds rows whose ``year`` is 2020.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.inputs._shards import Table, open_tables

#: What Hive writes for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")


def open_partitioned(paths: Sequence[Path]) -> Table:
    """Return the table of several files, with the columns in their folders' names."""
    table, columns = open_tables(paths), partitions(paths)
    return Partitioned(table, columns) if columns else table


def partitions(paths: Sequence[Path]) -> dict[str, Any]:
    """Return the columns in the names of folders, an Arrow array of a value per file.

    Raises
    ------
    ArgumentError
        When files lie in folders of different columns.

    Examples
    --------
    >>> found = partitions([Path("year=2020/a.parquet"), Path("year=2021/a.parquet")])
    >>> found["year"].to_pylist()
    [2020, 2021]
    """
    found = [dict(_columns(path)) for path in paths]
    for each, path in zip(found, paths, strict=True):
        if list(each) != list(found[0]):
            raise ArgumentError(
                f"{path} lies in folders of other columns than {paths[0]}: "
                f"{', '.join(each) or 'none'}, not {', '.join(found[0]) or 'none'}"
            )
    return {name: _typed([each[name] for each in found]) for name in found[0]}


class Partitioned(Table):
    """A table of several files, and the columns in the names of their folders.

    Parameters
    ----------
    table : Table
    columns : dict
        As `partitions` returns them.
    """

    def __init__(self, table: Table, columns: dict[str, Any]) -> None:
        import pyarrow as pa

        self._table, self.lengths = table, table.lengths
        # Some writers keep them in the files as well.
        self._columns = {x: columns[x] for x in columns if x not in table.names}
        self._own = len(table.fields)
        more = [pa.field(name, each.type) for name, each in self._columns.items()]
        self.fields = [*table.fields, *more]
        self.auxiliary = tuple(self._columns)

    def __len__(self) -> int:
        return len(self._table)

    def column(self, place: int) -> Any:
        import pyarrow as pa

        if place < self._own:
            return self._table.column(place)
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return pa.chunked_array([self._columns[self.names[place]].take(rows)])

    def kept(self, place: int) -> Any:
        return self._table.kept(place) if place < self._own else self.column(place)

    def vectors(self, place: int, what: str) -> NDArray[Any]:
        return self._table.vectors(place, what)


def is_partition(path: Path) -> bool:
    """Return whether a folder is named ``column=value``."""
    return bool(path.name.partition("=")[0] and "=" in path.name)


def _columns(path: Path) -> list[tuple[str, str | None]]:
    folders = [part for part in path.parts[:-1] if is_partition(Path(part))]
    pairs = [part.partition("=") for part in folders]
    return [
        (unquote(name), None if value == _MISSING else unquote(value))
        for name, _, value in pairs
    ]


def _typed(values: list[str | None]) -> Any:
    """Return whole numbers where all values are such, else texts."""
    import pyarrow as pa

    known = [value for value in values if value is not None]
    if known and all(map(_INTEGER.fullmatch, known)):
        return pa.array([None if x is None else int(x) for x in values], pa.int64())
    return pa.array(values, pa.large_string())
