"""CSV without quotes, which Arrow reads as Python's `csv` does, and much faster.

Where it may not, None is returned, and Python reads the file.
"""

from codecs import BOM_UTF8
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._arrow import is_number
from fewbits.inputs._csv_cells import MISSING
from fewbits.inputs._streams import is_compressed
from fewbits.inputs._wanted import Wanted

_BLOCK = 1 << 24  # bytes
_HEAD = 1 << 18  # bytes examined to recognise columns of numbers
#: What only Python's `csv` reads, or reads as it is meant.
_FOR_PYTHON = (b'"', b"\0", b"\n\n", b"\n\r", b"\r\r")
#: Floats below it are written by fewer digits than may be lost.
_LARGE = 1e15


def read_unquoted(path: Path, delimiter: str, wanted: Wanted) -> Any:
    """Return the table of a file without any quote, columns of texts or of numbers.

    None for any other, and for whatever Arrow refuses: Python's reader says why.
    """
    import pyarrow as pa

    if not path.is_file() or is_compressed(path) or not path.stat().st_size:
        return None
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        # Of blank lines, the two make different things.
        if content[:4].removeprefix(BOM_UTF8)[:1] in (b"", b"\r", b"\n"):
            return None
        if any(content.find(each) != -1 for each in _FOR_PYTHON):
            return None
        head = content[:_HEAD]
    try:
        types = _types(head, delimiter, wanted)
        found = _numbers(path, delimiter, types)
        if found is None:
            texts = dict.fromkeys(types, pa.large_string())
            found = _read(str(path), delimiter, texts)
        return found
    except (pa.ArrowException, UnicodeError, OSError):
        return None


def _types(head: bytes, delimiter: str, wanted: Wanted) -> dict[str, Any]:
    """Return the types of columns by their first rows: texts, unless they are numbers.

    Labels stay as they are written, and so do columns of one name.
    """
    import pyarrow as pa

    rows = pa.py_buffer(head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head)
    schema = _read(rows, delimiter, {}).schema
    types = dict.fromkeys(schema.names, pa.large_string())
    if len(types) == len(schema):
        for name, kind in zip(schema.names, schema.types, strict=True):
            if is_number(kind) and not wanted.stays_text(name):
                types[name] = kind
    return types


def _numbers(path: Path, delimiter: str, types: dict[str, Any]) -> Any:
    """Return the table with numbers, if it surely is what `as_typed` makes of texts.

    Arrow parses numbers in CSV and in texts alike. What `as_typed` leaves as a text
    because it is written in a way that numbers lose is looked for here.
    """
    import pyarrow as pa

    if not any(map(is_number, types.values())) or _has_leading_zeros(path):
        return None
    try:
        found = _read(str(path), delimiter, types)
    except pa.ArrowInvalid:
        return None
    floats = (each for each in found.columns if pa.types.is_floating(each.type))
    return None if any(map(_may_have_lost, floats)) else found


def _may_have_lost(column: Any) -> bool:
    """Return whether digits may be lost: infinity, or 16 digits or more."""
    import pyarrow.compute as pc

    ends = pc.min_max(column)  # which leaves out NaN
    return not -_LARGE < ends["min"].as_py() <= ends["max"].as_py() < _LARGE


def _has_leading_zeros(path: Path) -> bool:
    """Return whether a number may begin with ``0x`` or a needless zero."""
    content = np.memmap(path, np.uint8, mode="r")
    start = _first_line(content)
    for at in range(start, len(content), _BLOCK):
        if _zero_begins(content[max(0, at - 2) : at + _BLOCK + 1]):
            return True
    return False


def _first_line(content: Any) -> int:
    """Return where the first line ends."""
    for at in range(0, len(content), 1 << 16):
        part = content[at : at + (1 << 16)]
        ends = np.flatnonzero((part == ord("\n")) | (part == ord("\r")))
        if len(ends):
            return at + int(ends[0])
    return len(content)


def _zero_begins(part: Any) -> bool:
    before, here, behind = part[:-2], part[1:-1], part[2:]
    # Differences of bytes below zero wrap around, and are not digits.
    digits = (behind - ord("0") < 10) | (behind | 0x20 == ord("x"))
    within = (before - ord("0") < 10) | (before == ord("."))
    found = np.flatnonzero((here == ord("0")) & digits & ~within)
    last, other = before[found], part[np.maximum(found - 1, 0)]
    exponent = ord("e")
    is_exponent = (last | 0x20 == exponent) | (
        ((last == ord("-")) | (last == ord("+"))) & (other | 0x20 == exponent)
    )
    return not is_exponent.all()


def _read(source: Any, delimiter: str, types: dict[str, Any]) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        source,
        read_options=csv.ReadOptions(block_size=_BLOCK),
        parse_options=csv.ParseOptions(
            delimiter=delimiter, quote_char=False, ignore_empty_lines=False
        ),
        convert_options=csv.ConvertOptions(
            column_types=types,
            check_utf8=True,
            null_values=MISSING,
            strings_can_be_null=False,
        ),
    )
