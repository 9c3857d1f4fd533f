"""CSV files as people save them, read as Python's `csv` does.

Every cell is first a text. A column becomes numbers where each of its cells is one and
nothing is lost by it: ``007`` and what no 64 bits hold stay texts.
"""

import csv
import io
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice, takewhile
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any

from fewbits._arrow import is_text
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._cells import PLAIN_NUMBER, matches
from fewbits.inputs._lines import warn_of_blank_lines
from fewbits.inputs._streams import HEAD, is_compressed, peekable

_BATCH = 4096  # rows
_BLOCK = 1 << 24  # bytes
_LOOKED_AT = 50  # rows that tell what separates columns
_DELIMITERS = (",", ";", "\t", "|", " ")
#: What only Python's `csv` reads, or reads as it is meant.
_FOR_PYTHON = (b'"', b"\0", b"\n\n", b"\n\r", b"\r\r")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SHOWN = 30  # letters that are told
_LONG_NAME = 60  # letters of a name that may be a text instead
#: What stands for a missing number.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")


def read_csv(
    raw: IO[bytes],
    source: str,
    as_text: Iterable[str | None] = (),
    path: Path | None = None,
) -> Any:
    """Return the Arrow table of CSV.

    Parameters
    ----------
    raw : binary file
    source : str
        Names it in messages; ends in ``.tsv`` where tabs separate columns.
    as_text : iterable of str
        Columns that stay as they are written. As numbers ``01`` and ``1`` would be the
        same class.
    path : Path, default=None
        Of the same bytes, if they are a file.
    """
    with _long_cells(), peekable(raw) as file:
        head = file.peek(HEAD)
        _check_head(head, source)
        tabs = source.lower().removesuffix(".gz").removesuffix(".zst").endswith(".tsv")
        delimiter = "\t" if tabs else _delimiter(head)
        table = None if path is None else _unquoted(path, delimiter)
        if table is None:
            table = _quoted(file, delimiter, source)
    _check_names(table.column_names, source)
    kept = {*as_text}
    columns = [
        _without_gaps(column) if name in kept else as_typed(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return table.from_arrays(columns, names=table.column_names)


def _without_gaps(column: Any) -> Any:
    """Return labels as they are written, but for ``NA`` and the like among numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gap = _is_gap(column)
    if not pc.all(pc.or_(gap, matches(column, PLAIN_NUMBER))).as_py():
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    return pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed)


def _is_gap(column: Any) -> Any:
    """Tell for each cell of a column whether it stands for a missing number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gaps = pa.array(MISSING, pa.large_string())
    return pc.is_in(pc.ascii_trim_whitespace(column), value_set=gaps)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be longer than 131,072 letters, the limit of Python's `csv`."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _unquoted(path: Path, delimiter: str) -> Any:
    """Return the table of a file without any quote, which Arrow reads much faster.

    None for any other, and for whatever Arrow refuses: Python's reader says why.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    if not path.is_file() or is_compressed(path) or not path.stat().st_size:
        return None
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        # Of blank lines, the two make different things.
        if content[:4].removeprefix(BOM_UTF8)[:1] in (b"", b"\r", b"\n"):
            return None
        if any(content.find(each) != -1 for each in _FOR_PYTHON):
            return None
    options = arrow.ParseOptions(
        delimiter=delimiter, quote_char=False, ignore_empty_lines=False
    )
    try:
        with arrow.open_csv(str(path), parse_options=options) as opened:
            head = opened.schema.names
        return arrow.read_csv(
            str(path),
            read_options=arrow.ReadOptions(block_size=_BLOCK),
            parse_options=options,
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(head, pa.large_string()),
                check_utf8=True,
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, UnicodeError, OSError):
        return None


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
            f"{source} is no csv file: {error}, in line {reader.line_num}"
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
                f"{source} is no csv file: its first line names {len(names)} columns, "
                f"but a row up to line {line} has {len(row)} values, it begins with "
                f"{shown!r}"
            )


def _check_names(names: list[str], source: str) -> None:
    """Refuse a first row of numbers, and tell of a value, in the place of names."""
    if not names:
        return
    if names[0].lower().startswith("sep="):
        raise ArgumentError(
            f"{source} begins with {names[0]!r}, which only Excel reads; leave out "
            "that line"
        )
    if all(map(_is_number, names)):
        raise ArgumentError(
            f"{source} has numbers where the names of its columns should be: add a "
            "first line of names"
        )
    odd = next((name for name in names if len(name) > _LONG_NAME), None)
    if odd is None and names[0] != "" and any(map(_is_number, names)):
        odd = next(filter(_is_number, names))  # pandas leaves its index without a name
    if odd is not None:
        more = "..." * (len(odd) > _SHOWN)
        warn_user(
            f"{source}: {odd[:_SHOWN]!r}{more} in the first line is taken for the name "
            "of a column; if it is a value, add a first line of names"
        )


def _check_head(head: bytes, source: str) -> None:
    if head.startswith(b"PAR1"):
        raise ArtefactError(f"{source} is a Parquet file; name it .parquet")
    if head.startswith(_UTF_16):
        raise ArtefactError(f"{source} is UTF-16, not UTF-8; save it as UTF-8")
    if b"\0" in head:
        raise ArtefactError(f"{source} is no text, so no csv file")


def has_names(head: bytes, names: Iterable[str]) -> bool:
    """Tell whether the first line of CSV names one of these columns."""
    first = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
    reader = csv.reader(first, delimiter=_delimiter(head))
    try:
        found = next((row for row in reader if row), [])
    except csv.Error:
        return False
    return not set(names).isdisjoint(found)


def _delimiter(head: bytes) -> str:
    """Return what separates columns: what cuts the first rows into equally many.

    A blank does only where it separates nothing but numbers; commas where nothing
    does.
    """
    text = head.decode("utf-8-sig", "replace")
    cut = len(head) >= HEAD - 4  # the last row of a longer file is not whole
    widths = {each: _width(text, each, cut) for each in _DELIMITERS}
    first = csv.reader(io.StringIO(text, newline=""))
    header = ",".join(next((row for row in first if row), []))
    able = [each for each, width in widths.items() if width > 1]
    if not able:  # rows that differ: the reader says which
        able = [each for each in _DELIMITERS[:-1] if header.count(each)]
    return max(able or [","], key=lambda each: (widths[each], header.count(each)))


def _width(text: str, delimiter: str, cut: bool) -> int:
    """Return the number of columns if the first rows agree on it, else 0."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [row for row in islice(reader, _LOOKED_AT) if row]
        ended = next(reader, None) is None
    except csv.Error:
        return 0
    if cut and ended:
        rows = rows[:-1]
    counts = Counter(len(row) for row in rows)
    if len(counts) != 1:
        return 0
    if delimiter == " " and not all(map(_is_number, chain.from_iterable(rows))):
        return 0
    return next(iter(counts))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_typed(column: Any) -> Any:
    """Return a column of texts as truth values or numbers where nothing is lost by it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.chunked_array([["1", "2.5", "NA"]], pa.large_string())
    >>> as_typed(texts).to_pylist(), as_typed(pa.chunked_array([["007"]])).to_pylist()
    ([1.0, 2.5, None], ['007'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(column) or _begins_with_words(column):
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    gap = _is_gap(column)
    if pc.all(gap).as_py():
        return column
    known = pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed)
    if pc.all(matches(known, "^(true|false|True|False|TRUE|FALSE)$")).as_py():
        return known.cast(pa.bool_())
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = known.cast(kind)
        except pa.ArrowInvalid:
            continue
        return column if _changed(known, kind) else numbers
    return column


def _begins_with_words(column: Any) -> bool:
    """Tell a column of texts by the first of them, which spares reading all."""
    import pyarrow.compute as pc

    head = column[:_LOOKED_AT]
    if len(head) == len(column) or pc.all(_is_gap(head)).as_py():
        return False
    return is_text(as_typed(head).type)


def _changed(texts: Any, kind: Any) -> bool:
    """Tell whether numbers would lose what is written: leading zeros, or digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    led = pc.match_substring_regex(texts, r"^[+-]?0[\dxX]")
    if pc.any(led).as_py():
        return True
    if kind == pa.int64():
        return False
    whole = pc.match_substring_regex(texts, r"^[+-]?\d{16,}$")
    return bool(pc.any(whole).as_py())
