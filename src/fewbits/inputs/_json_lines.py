"""JSON lines: one object on a line, its keys the names of columns."""

import codecs
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from fewbits._arrow import plain_table
from fewbits.errors import ArgumentError, ArtefactError, one_line
from fewbits.inputs._lines import warn_of_blank_lines

_BATCH = 4096  # lines
_SHOWN = 40  # characters of a line in a message

#: What a number too large for a float is written with: 1e400, or 309 digits.
_LONG_EXPONENT = re.compile(r"[eE]\+?\d{3}|\d{300}")

_Row = dict[str, Any]


def read_json_lines(file: IO[bytes], source: str) -> Any:
    """Return the Arrow table of JSON lines.

    A key that a line lacks is a missing value there. Numbers stay whole where all of a
    column are; what is of several types is refused.
    """
    import pyarrow as pa

    batches = [_batch(rows, source) for rows in _rows(file, source) if rows]
    if not batches:
        return pa.table({})
    try:
        table = pa.concat_tables(batches, promote_options="permissive")
    except pa.ArrowException as error:
        raise ArgumentError(f"{source}: {one_line(error)}") from None
    return plain_table(table)


def _rows(file: IO[bytes], source: str) -> Iterator[list[tuple[int, _Row]]]:
    rows: list[tuple[int, _Row]] = []
    last = count = 0  # line, and objects
    for number, line in enumerate(file, 1):
        if line.removeprefix(codecs.BOM_UTF8).strip():
            rows.append((number, _object(line, number, source)))
            last, count = number, count + 1
        if len(rows) == _BATCH:
            yield rows
            rows = []
    yield rows
    warn_of_blank_lines(last - count, source)


def _object(line: bytes, number: int, source: str) -> _Row:
    try:
        text = line.removeprefix(codecs.BOM_UTF8).decode()
        strict = _finite if _LONG_EXPONENT.search(text) else None  # it is slower
        found = json.loads(text, object_pairs_hook=_unique, parse_float=strict)
    except (ValueError, RecursionError) as error:
        hint = ""
        if number == 1 and line.lstrip().startswith(b"["):
            hint = "; a list of objects is not JSON lines, write one object on a line"
        raise ArtefactError(
            f"{source} is not JSON in line {number}: {one_line(error)}{hint}"
        ) from None
    if not isinstance(found, dict):
        shown = line.decode("utf-8", "replace").strip()[:_SHOWN]
        raise ArtefactError(
            f"{source} needs an object on each line, such as {{'text': ...}}; line "
            f"{number} holds {shown!r}"
        )
    return found


def _finite(text: str) -> float:
    """Return a number; what no float holds would become infinity."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large for a float of 64 bits")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> _Row:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found


_TYPES: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def _batch(rows: list[tuple[int, _Row]], source: str) -> Any:
    import pyarrow as pa

    _refuse_empty(rows, source)
    names = dict.fromkeys(name for _, row in rows for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for _, row in rows]
        try:
            columns[name] = _array(values)
        except UnicodeEncodeError:
            raise ArtefactError(
                f"{source} holds half a surrogate pair as {name!r} in lines "
                f"{rows[0][0]} to {rows[-1][0]}, which is not text"
            ) from None
        except (pa.ArrowException, TypeError, OverflowError) as error:
            found = _two_types(rows, name) or (
                f"values of several types, or too large ones, in lines {rows[0][0]} "
                f"to {rows[-1][0]}: {one_line(error)}"
            )
            raise ArgumentError(f"{source} holds as {name!r} {found}") from None
    return pa.table(columns)


def _two_types(rows: list[tuple[int, _Row]], name: str) -> str | None:
    """Return which types a key has in which lines, if it has several."""
    first: dict[str, int] = {}
    for line, row in rows:
        if (value := row.get(name)) is not None:
            first.setdefault(_TYPES[type(value)], line)
    if len(first) < 2:
        return None
    return " and ".join(f"{kind} in line {line}" for kind, line in first.items())


def _array(values: list[Any]) -> Any:
    """Return the Arrow array of values; Arrow takes ``true`` among ``1.5`` for 1."""
    import pyarrow as pa

    found = pa.array(values)
    if _hold_truth(values, found.type):
        raise TypeError("truth values among numbers")
    return found


def _hold_truth(values: Iterable[Any], kind: Any) -> bool:
    """Return whether booleans would become real numbers."""
    import pyarrow.types as types

    if types.is_floating(kind):
        return bool in set(map(type, values))
    known = [value for value in values if value] if types.is_nested(kind) else []
    if types.is_list(kind):
        return any(_hold_truth(value, kind.value_type) for value in known)
    return any(
        _hold_truth([row.get(field.name) for row in known], field.type)
        for field in (kind if known else ())
    )


def _refuse_empty(rows: list[tuple[int, _Row]], source: str) -> None:
    """Refuse an object without keys: it would be a row of nothing."""
    for number, row in rows:
        if not row:
            raise ArgumentError(f"{source} has an object without keys in line {number}")
