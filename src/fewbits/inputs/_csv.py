"""CSV files as people save them, read as Python's `csv` does.

Every cell is first a text. A column becomes numbers where each of its cells is one and
nothing is lost by it: ``007`` and what no 64 bits hold stay texts. Files without a
quote are read by Arrow, which reads them alike and much faster.
"""

import csv
import io
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable
from decimal import Decimal
from itertools import islice, takewhile
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any

from fewbits._arrow import is_text, known_names
from fewbits._lazy import pa, pc
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._input import Options
from fewbits.inputs._streams import (
    HEAD,
    is_compressed,
    kind_of,
    peekable,
    refuse_other_formats,
    warn_of_blank_lines,
)
from fewbits.inputs._text_kinds import PLAIN_NUMBER, all_match

_DELIMITERS = (",", ";", "\t", "|")
_N_SAMPLE_ROWS = 50  # rows examined to find the delimiter, or to recognise words
_BATCH = 4096  # rows
_MAX_SHOWN = 30  # characters in a message
_LONG_NAME = 60  # characters of a name that may be a text instead


def read_csv(
    raw: IO[bytes], source: str, options: Options, path: Path | None = None
) -> Any:
    """Return the Arrow table of CSV, whose bytes are those of `path`, if given."""
    before = csv.field_size_limit(sys.maxsize)  # cells of over 131,072 characters
    try:
        with peekable(raw) as file:
            head = file.peek(HEAD)
            refuse_other_formats(head, source)
            if head.startswith(b"PAR1"):
                raise ArtefactError(f"{source} is a Parquet file; name it .parquet")
            if b"\0" in head:
                raise ArtefactError(f"{source} is not text, so it is not a csv file")
            is_tsv = kind_of(Path(source)) == ".tsv"
            delimiter = "\t" if is_tsv else _delimiter(head, source, options)
            table = None if path is None else _read_unquoted(path, delimiter)
            if table is None:
                table = _read_quoted(file, delimiter, source)
    finally:
        csv.field_size_limit(before)
    _check_names(table.column_names, source)
    columns = table.columns
    commas: dict[str, Any] = {}  # columns whose commas are decimal
    if delimiter == ";":
        typed = [not options.stays_text(name) for name in table.column_names]
        others = [x for x, is_typed in zip(columns, typed, strict=True) if is_typed]
        are_decimal = any(map(_has_sure_commas, others))  # then they are in all columns
        for name, column, is_typed in zip(
            table.column_names, columns, typed, strict=True
        ):
            numbers = _of_commas(column) if are_decimal and is_typed else None
            if numbers is not None:
                commas[name] = numbers
    dots = []  # columns whose dots may be those of thousands
    for i, name in enumerate(table.column_names):
        if options.stays_text(name):  # as numbers 01 and 1 would be the same label
            columns[i] = _without_gaps(columns[i])
        elif name in commas:
            columns[i] = commas[name]
        elif commas and _has_dots(columns[i]):
            dots.append(name)
            columns[i] = _without_empty(columns[i])
        else:
            columns[i] = as_typed(
                columns[i],
                dates=name != options.id,
                are_numbers=options.are_numbers(name),
            )
    if commas:
        note = f"commas are decimal in {known_names(commas)}: 1,5 is read as 1.5"
        if dots:
            note += f"; {known_names(dots)} stays as written: 1.234 may be 1234"
        warn_user(f"{source}: {note}")
    return table.from_arrays(columns, names=table.column_names)


# The first rows


def _delimiter(head: bytes, source: str, options: Options) -> str:
    """Return what cuts the first rows into equally many columns, those required."""
    names = {*(options.named() or options.names)}
    fitting = _fitting(head)
    fitting = {x: rows for x, rows in fitting.items() if names <= {*rows[0]}} or fitting
    if len(fitting) > 1:
        choices = " or ".join(f"{x!r} ({len(rows[0])})" for x, rows in fitting.items())
        raise ArgumentError(
            f"{source} may be cut into columns by {choices}: name a column that only "
            "one of these gives by column= (on the command line --column), or put "
            "values that hold the other into quotes"
        )
    return next(iter(fitting), ",")


def has_names(head: bytes, names: Iterable[str]) -> bool:
    """Return whether the first line of CSV names one of these columns."""
    return any(not {*names}.isdisjoint(rows[0]) for rows in _fitting(head).values())


def table_width(head: bytes) -> int:
    """Return the number of columns if text is surely CSV, else 0."""
    text = head.decode("utf-8-sig", "replace")
    for delimiter in _DELIMITERS if len(text.splitlines()) > 1 else ():
        rows, are_even = _first_rows(head, delimiter)
        # In a sentence a space follows.
        if are_even and len(rows[0]) > 1 and f"{delimiter} " not in text:
            return len(rows[0])
    return 0


def _fitting(head: bytes) -> dict[str, list[list[str]]]:
    """Return possible delimiters, and the first rows that each gives."""
    rows_by_delimiter = {x: _first_rows(head, x) for x in _DELIMITERS}
    fitting = {
        x: rows
        for x, (rows, even) in rows_by_delimiter.items()
        if even and len(rows[0]) > 1
    }
    if not fitting:  # one column, or rows that differ: the reader says which
        rows, _ = rows_by_delimiter[","]
        names = ",".join(cell for row in rows[:1] for cell in row)
        most = max(_DELIMITERS, key=names.count)
        rows, _ = rows_by_delimiter[most]
        return {most: rows[:1]} if rows else {}
    whole = {
        delimiter: rows
        for delimiter, rows in fitting.items()
        # One quote of a pair in a cell: quoted text was cut.
        if not any(cell.count('"') % 2 for row in rows for cell in row)
    }
    return whole or fitting


def _first_rows(head: bytes, delimiter: str) -> tuple[list[list[str]], bool]:
    """Return the first rows that are not blank, and whether they are equally long."""
    text = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
    reader = csv.reader(text, delimiter=delimiter)
    try:
        rows = [row for row in islice(reader, _N_SAMPLE_ROWS) if row]
        # The last row of a longer file is not whole.
        is_cut = len(head) >= HEAD - 4 and next(reader, None) is None
    except csv.Error:
        return [], False
    whole = rows[:-1] if is_cut else rows
    are_even = len({*map(len, whole)}) == 1
    return whole if are_even else rows, are_even


def _check_names(names: list[str], source: str) -> None:
    """Refuse a first row of numbers, and warn of a value, in the place of names."""
    if not names:
        return
    if names[0].lower().startswith("sep="):
        raise ArgumentError(
            f"{source} begins with {names[0]!r}, which only Excel reads; leave out "
            "that line"
        )
    if all(_is_number(part) for name in names for part in name.split() or [name]):
        raise ArgumentError(
            f"{source} has numbers where the names of its columns should be: add a "
            "first line of names"
        )
    odd = next((name for name in names if len(name) > _LONG_NAME), None)
    if odd is None and names[0] != "" and any(map(_is_number, names)):
        odd = next(filter(_is_number, names))  # pandas leaves its index without a name
    if odd is not None:
        more = "..." * (len(odd) > _MAX_SHOWN)
        warn_user(
            f"{source}: {odd[:_MAX_SHOWN]!r}{more} in the first line is taken for the "
            "name of a column; if it is a value, add a first line of names"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Files with quotes, by Python


def _read_quoted(file: IO[bytes], delimiter: str, source: str) -> Any:
    """Return the table that Python's `csv` reads, every column of texts."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    n_blank = n_trailing = 0  # blank lines, and those behind the last row
    try:
        names = next((row for row in reader if row), None)
        if names is None:
            return pa.table({})
        batches = []
        while rows := list(islice(reader, _BATCH)):
            full = [row for row in rows if row]
            n_blank += len(rows) - len(full)
            last = sum(1 for _ in takewhile(lambda row: not row, reversed(rows)))
            n_trailing = last + (0 if full else n_trailing)
            for row in full:
                if len(row) != len(names):
                    shown = "".join(c if c.isprintable() else "?" for c in row[0])
                    raise ArtefactError(
                        f"{source} is not a csv file: its first line names "
                        f"{len(names)} columns, but a row up to line {reader.line_num} "
                        f"has {len(row)} values, it begins with {shown[:_MAX_SHOWN]!r}"
                    )
            columns: Any = zip(*full, strict=True) if full else ([] for _ in names)
            batches.append([pa.array(cells, pa.large_string()) for cells in columns])
    except csv.Error as error:
        raise ArtefactError(
            f"{source} is not a csv file: {error}, in line {reader.line_num}"
        ) from None
    except UnicodeDecodeError as error:
        start = max(0, error.start - _MAX_SHOWN)
        text_before = error.object[start : error.start].decode("utf-8", "ignore")
        before = (text_before.splitlines() or [""])[-1]
        raise ArtefactError(
            f"{source} is not UTF-8 behind {before!r}; save it as UTF-8"
        ) from None
    finally:
        text.detach()
    warn_of_blank_lines(n_blank - n_trailing, source)
    columns = [
        pa.chunked_array([batch[i] for batch in batches], pa.large_string())
        for i in range(len(names))
    ]
    return pa.table(columns, names=names)


# Files without quotes, by Arrow

#: What only Python's `csv` reads, or reads as it is meant.
_FOR_PYTHON = (b'"', b"\0")
_BLANK_LINES = (b"\n\n", b"\n\r", b"\r\r")  # which Arrow reads as empty cells


def _read_unquoted(path: Path, delimiter: str) -> Any:
    """Return the table of a file without any quote, every column of texts.

    None for any other, and for whatever Arrow refuses: Python's reader says why.
    """
    from pyarrow import csv

    if not path.is_file() or is_compressed(path) or not path.stat().st_size:
        return None
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        if content[:4].removeprefix(BOM_UTF8)[:1] in (b"", b"\r", b"\n"):
            return None
        if any(content.find(mark) != -1 for mark in _FOR_PYTHON):
            return None
        names = re.split(rb"[\r\n]", content.readline(), maxsplit=1)[0]
        try:
            texts = dict.fromkeys(
                names.decode("utf-8-sig").split(delimiter), pa.large_string()
            )
            table = csv.read_csv(
                path,
                csv.ReadOptions(block_size=1 << 24),
                csv.ParseOptions(
                    delimiter=delimiter, quote_char=False, ignore_empty_lines=False
                ),
                csv.ConvertOptions(column_types=texts, strings_can_be_null=False),
            )
        except (pa.ArrowException, UnicodeError, OSError):
            return None
        empty = pc.equal(pc.binary_length(table.column(0)), 0)
        if pc.any(empty).as_py() and any(
            content.find(mark, 0) != -1 for mark in _BLANK_LINES
        ):
            return None
        return table


# Columns of texts as what all of their cells are

#: What stands for a missing number.
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
#: Numbers whose characters say more than their value does: ``007``, ``+4915112345``.
_NAME = r"^(?:[+-]?0[\dxX]|\+\d{7})"
#: Numbers that floats may round, or that were something else, as 12e5.
_LONG = r"^[+-]?\d{16,}(?:\.0*)?$|\d\.?[eE]"
#: ISO 8601 as Arrow reads it, to microseconds.
_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"
_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)"


def as_typed(column: Any, *, dates: bool = True, are_numbers: bool = False) -> Any:
    """Return a column of texts as what all of its cells are, if nothing is lost by it.

    Truth values, integers, floats, dates or timestamps; empty cells are missing. Where
    they surely `are_numbers`, all cells may be as 1e5, like the names of articles.
    """
    if len(column) and pc.all(pc.equal(pc.binary_length(column), 0)).as_py():
        return pa.chunked_array([pa.nulls(len(column))])  # of no type yet
    head = column[:_N_SAMPLE_ROWS]  # the first word spares reading all
    is_part = len(head) < len(column) and not pc.all(_is_gap(head)).as_py()
    options = {"dates": dates, "are_numbers": are_numbers}
    if not len(column) or (is_part and is_text(as_typed(head, **options).type)):
        return _without_empty(column)
    numbers = _as_numbers(column, are_numbers)
    if numbers is not None:
        return numbers
    texts = _without_empty(column)
    moments = _as_moments(texts) if dates else None
    return texts if moments is None else moments


#: Numbers as they are written where commas are decimal, perhaps 1.234.567,89.
_COMMAS = r"^\s*[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?(?:[eE][+-]?\d+)?\s*$"


#: What thousands are not: 1,5 or 1,2345 or 0,125 or 1234,567 or 1.234,567.
_NO_THOUSANDS = r",(?:\d{1,2}|\d{4,})(?:[eE]|\s*$)|^\s*[+-]?(?:0|\d{4}|.*\.)\d*,"


def _are_of_commas(column: Any) -> bool:
    is_number = pc.or_(pc.match_substring_regex(column, _COMMAS), _is_gap(column))
    return bool(pc.all(is_number).as_py())


def _has_sure_commas(column: Any) -> bool:
    """Return whether the commas in numbers of a column are surely decimal."""
    sure = pc.match_substring_regex(column, _NO_THOUSANDS)
    return bool(pc.any(sure).as_py()) and _are_of_commas(column)


def _of_commas(column: Any) -> Any:
    """Return numbers whose commas are decimal, None where there are none."""
    has_comma = pc.any(pc.match_substring(column, ",")).as_py()
    if not has_comma or not _are_of_commas(column):
        return None
    plain = pc.replace_substring(column, ".", "")
    return _as_numbers(pc.replace_substring(plain, ",", "."))


def _has_dots(column: Any) -> bool:
    """Return whether numbers of a column are as 12 and 1.234, some with dots."""
    grouped = pc.match_substring_regex(column, r"^\s*[+-]?\d{1,3}(?:\.\d{3})+\s*$")
    plain = pc.match_substring_regex(column, r"^\s*[+-]?\d+\s*$")
    rest = pc.or_(plain, _is_gap(column))
    return bool(pc.any(grouped).as_py() and pc.all(pc.or_(grouped, rest)).as_py())


def _as_numbers(column: Any, are_numbers: bool = False) -> Any:
    """Return truth values, integers or floats, if all cells are such or gaps."""
    cells = pc.ascii_trim_whitespace(column)
    gap = pc.is_in(cells, value_set=_gaps())
    if pc.all(gap).as_py():
        return None
    cells = pc.if_else(gap, _missing(), cells)
    if all_match(cells, "^(true|false|True|False|TRUE|FALSE)$"):
        return cells.cast(pa.bool_())
    for kind in (pa.int64(), pa.float64()):
        try:
            # The first fail at once; of many cells, Arrow writes an error for each.
            numbers = cells[:_N_SAMPLE_ROWS].cast(kind) and cells.cast(kind)
        except pa.ArrowInvalid:
            continue
        return None if _lose_letters(cells, numbers, are_numbers) else numbers
    return None


def _lose_letters(cells: Any, numbers: Any, are_numbers: bool) -> bool:
    """Return whether numbers lack zeros, digits or signs that their texts have."""

    def any_match(texts: Any, pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())

    if numbers.type != pa.float64():
        return any_match(cells, _NAME)
    if pc.any(pc.is_inf(numbers)).as_py():
        return True
    is_long = pc.match_substring_regex(cells, rf"{_NAME}|{_LONG}")
    if not pc.any(is_long).as_py():
        return False
    long = cells.filter(is_long)
    if any_match(long, _NAME):
        return True
    long = long.filter(pc.match_substring_regex(long, _LONG))
    if any_match(long, r"^[+-]?\d{16,}$"):
        return True
    are_names = not are_numbers and not any_match(cells, r"\.|[eE][+-]")
    if are_names and any_match(long, r"^\d+[eE]\d+$"):
        return True  # such as article numbers: who writes floats, writes 1e+05
    whole = long.filter(pc.match_substring_regex(long, r"^[+-]?\d{16,}\.0*$"))
    return any(Decimal(text) != int(float(text)) for text in whole.to_pylist())


def _as_moments(column: Any) -> Any:
    """Return dates or timestamps, if all texts are such in ISO 8601, to the last one.

    Those with an offset become UTC. Years are those that Python has, 1 to 9999.
    """
    for pattern, kind in (
        (f"^{_DATE}$", pa.date32()),
        (f"^{_DATE}{_TIME}$", pa.timestamp("us")),
        (f"^{_DATE}{_TIME}{_OFFSET}$", pa.timestamp("us", "UTC")),
    ):
        if not all_match(column, pattern):
            continue
        try:
            moments = column.cast(kind)
        except pa.ArrowInvalid:  # such as of February 30
            return None
        years = pc.min_max(pc.year(moments))
        is_known = 1 <= years["min"].as_py() <= years["max"].as_py() <= 9999
        return moments if is_known else None
    return None


def _without_empty(column: Any) -> Any:
    """Return a column of texts whose empty cells are missing, quoted or not."""
    empty = pc.equal(pc.binary_length(column), 0)
    return pc.if_else(empty, _missing(), column) if pc.any(empty).as_py() else column


def _without_gaps(column: Any) -> Any:
    """Return labels as they are written, but for ``NA`` and the like among numbers."""
    gap = _is_gap(column)
    number = pc.match_substring_regex(column, PLAIN_NUMBER)
    if not pc.all(pc.or_(gap, number)).as_py():
        return _without_empty(column)
    return pc.if_else(gap, _missing(), pc.ascii_trim_whitespace(column))


def _missing() -> Any:
    return pa.scalar(None, pa.large_string())


def _is_gap(column: Any) -> Any:
    """Return for each cell of a column whether it stands for a missing number."""
    return pc.is_in(pc.ascii_trim_whitespace(column), value_set=_gaps())


def _gaps() -> Any:
    return pa.array(_MISSING, pa.large_string())
