"""CSV files as people save them, read as Python's `csv` does.

Every cell is first a text. A column becomes numbers where each of its cells is one and
nothing is lost by it: ``007`` and what no 64 bits hold stay texts.
"""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, Any

from fewbits._arrow import is_text
from fewbits.errors import ArtefactError
from fewbits.inputs._csv_arrow import read_unquoted
from fewbits.inputs._csv_cells import as_typed, without_gaps
from fewbits.inputs._csv_head import check_head, check_names, find_delimiter
from fewbits.inputs._lines import warn_of_blank_lines
from fewbits.inputs._streams import HEAD, kind_of, peekable
from fewbits.inputs._wanted import NOTHING, Wanted

_BATCH = 4096  # rows
_SHOWN = 30  # characters in a message


def read_csv(
    raw: IO[bytes],
    source: str,
    wanted: Wanted = NOTHING,
    path: Path | None = None,
) -> Any:
    """Return the Arrow table of CSV.

    Parameters
    ----------
    raw : binary file
    source : str
        Names it in messages; ends in ``.tsv`` where tabs separate columns.
    wanted : Wanted
        Labels stay as they are written: as numbers ``01`` and ``1`` would be the same
        class. So do columns that are wanted as texts. Ids become numbers, but no dates.
    path : Path, default=None
        Of the same bytes, if they are a file.
    """
    with _long_cells(), peekable(raw) as file:
        head = file.peek(HEAD)
        check_head(head, source)
        tabs = kind_of(Path(source)) == ".tsv"
        delimiter = "\t" if tabs else find_delimiter(head, source, wanted.columns())
        table = None if path is None else read_unquoted(path, delimiter, wanted)
        if table is None:
            table = _quoted(file, delimiter, source)
    check_names(table.column_names, source)
    columns = [
        without_gaps(column)
        if wanted.stays_text(name)
        else _typed(column, dates=name != wanted.id_column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return table.from_arrays(columns, names=table.column_names)


def _typed(column: Any, *, dates: bool) -> Any:
    return as_typed(column, dates=dates) if is_text(column.type) else column


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be longer than 131,072 letters, the limit of Python's `csv`."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _quoted(file: IO[bytes], delimiter: str, source: str) -> Any:
    """Return the table that Python's `csv` reads, every column of texts."""
    import pyarrow as pa

    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    blank = ended = 0  # blank lines, and those of them behind the last row
    try:
        names = next((row for row in reader if row), None)
        if names is None:
            return pa.table({})
        batches = []
        while rows := list(islice(reader, _BATCH)):
            full = [row for row in rows if row]
            blank += len(rows) - len(full)
            ended = _blank_at_the_end(rows) + (0 if full else ended)
            _check_widths(full, names, reader.line_num, source)
            columns: Any = zip(*full, strict=True) if full else ([] for _ in names)
            batches.append([pa.array(each, pa.large_string()) for each in columns])
    except csv.Error as error:
        raise ArtefactError(
            f"{source} is not a csv file: {error}, in line {reader.line_num}"
        ) from None
    except UnicodeDecodeError as error:
        raise ArtefactError(
            f"{source} is not UTF-8 behind {_before(error)!r}; save it as UTF-8"
        ) from None
    finally:
        text.detach()
    warn_of_blank_lines(blank - ended, source)
    columns = [
        pa.chunked_array([batch[i] for batch in batches], pa.large_string())
        for i in range(len(names))
    ]
    return pa.table(columns, names=names)


def _blank_at_the_end(rows: list[list[str]]) -> int:
    return sum(1 for _ in takewhile(lambda row: not row, reversed(rows)))


def _before(error: UnicodeDecodeError) -> str:
    """Return the last letters before what cannot be decoded."""
    start = max(0, error.start - _SHOWN)
    text = error.object[start : error.start].decode("utf-8", "ignore")
    return (text.splitlines() or [""])[-1]


def _check_widths(
    rows: list[list[str]], names: list[str], line: int, source: str
) -> None:
    for row in rows:
        if len(row) != len(names):
            shown = "".join(c if c.isprintable() else "?" for c in row[0][:_SHOWN])
            raise ArtefactError(
                f"{source} is not a csv file: its first line names {len(names)} "
                "columns, "
                f"but a row up to line {line} has {len(row)} values, it begins with "
                f"{shown!r}"
            )
