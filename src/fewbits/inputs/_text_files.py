"""Files of lines: texts, word vectors, and JSON objects."""

import codecs
import io
import json
import math
import re
from array import array
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import IO, Any

import numpy as np

from fewbits._arrow import array_of, plain_table
from fewbits._lazy import pa
from fewbits.errors import ArgumentError, ArtefactError, a_kind, one_line
from fewbits.inputs._input import Input, Texts, checked_vectors
from fewbits.inputs._streams import HEAD, warn_of_blank_lines
from fewbits.inputs._tables import Table
from fewbits.inputs._text_kinds import (
    DIGITS,
    check_words,
    exceptions,
    packed_codes,
    parse_vectors,
    text_kind,
)

_BATCH = 4096  # lines
_MAX_SHOWN = 30  # characters of a line in a message

# A text on each line


def read_lines(file: IO[bytes], source: str, kind: str | None = None) -> Input:
    """Return the lines that are not blank: texts, or codes if that is the kind.

    Where each is a vector in brackets, they are vectors; other numbers are refused. A
    line ends at a line feed, a carriage return or both.
    """
    batches: list[Any] = []
    last = count = 0  # line, and texts
    full = ((n, line) for n, line in enumerate(_lines(file, source), 1) if line)
    while texts := [*islice(full, _BATCH)]:
        batches.append(pa.array([line for _, line in texts], pa.large_string()))
        last, count = texts[-1][0], count + len(texts)
    warn_of_blank_lines(last - count, source)
    column = pa.chunked_array(batches, pa.large_string())
    if kind == "codes":
        codes, n_bits = packed_codes(column, source)
        return Input("codes", codes, None, source, n_bits=n_bits)
    if (form := text_kind(column)[0]) == "vectors":
        vectors = checked_vectors(parse_vectors(column, source), source)
        return Input("vectors", vectors, None, source)
    advice = (
        "save them as .npy, or as .csv with a first line of names (or, if they are "
        "piped in, name columns)"
    )
    # The first line may hold names.
    check_words(column if form == "broken" else column[1:], source, advice)
    if odd := exceptions(column, DIGITS):
        raise ArgumentError(
            f"{source} holds numbers but for {odd[1][:_MAX_SHOWN]!r} and the like: "
            "mend that, or, if texts are meant, save them as .csv with a first line of "
            "names and name their column"
        )
    return Input("texts", Texts(column), None, source)


def _lines(file: IO[bytes], source: str) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
        except UnicodeDecodeError as error:
            raise ArtefactError(
                f"{source} is not UTF-8 text: {error.reason} in line {number}"
            ) from None
        if "\0" in text:
            raise ArtefactError(f"{source} is not text: line {number} holds a NUL")
        yield from (part.strip() for part in text.strip().split("\r"))


# A word and its vector on each line

_HEADER = re.compile(rb"^\s*(\d{1,12})\s+(\d{1,6})\s*$")
_FLOAT = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$")


def has_word_vectors(head: bytes) -> bool:
    """Return whether a text begins as word vectors of word2vec, GloVe and fastText do.

    On most lines a word, and behind it as many numbers as on the first, some with a
    decimal point. word2vec and fastText begin with a line of two numbers.
    """
    lines = [line for line in head.splitlines() if line.strip()]
    if len(head) >= HEAD - 4:
        lines = lines[:-1]  # may be cut
    header = _HEADER.match(lines[0]) if lines else None
    lines = lines[1:] if header else lines
    if not lines:
        return False
    width = int(header[2]) if header else len(lines[0].split()) - 1
    rows = [_cut(line, width) for line in lines]
    fitting = [row for row in rows if row[0] and all(map(_FLOAT.match, row[1]))]
    return (
        width > 1
        and 2 * len(fitting) > len(rows)  # any other line is named by the reader
        and not all(_FLOAT.match(word) for word, _ in fitting)
        and any(b"." in number for _, numbers in fitting for number in numbers)
    )


def word_vectors(file: IO[bytes], source: str) -> Table:
    """Return the table of word vectors: a column of words, one of vectors."""
    words: list[str] = []
    numbers = array("f")
    width, announced = 0, None
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        if number == 1 and (header := _HEADER.match(line)):
            announced, width = int(header[1]), int(header[2])
            continue
        width = width or len(line.split()) - 1
        word, values = _cut(line, width)
        try:
            if not word:
                raise ValueError
            numbers.extend([*map(float, values)])
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"{source} holds words and {width} numbers for each, but not in line "
                f"{number}: {line.decode('utf-8', 'replace').strip()[:_MAX_SHOWN]!r}"
            ) from None
        try:
            words.append(word.decode())
        except UnicodeDecodeError as error:
            raise ArtefactError(
                f"{source} is not UTF-8 text: {error.reason} in line {number}"
            ) from None
    if announced not in (None, len(words)):
        raise ArgumentError(
            f"{source} announces {announced:,} words, but holds {len(words):,}"
        )
    flat = pa.array(np.frombuffer(numbers, np.float32))
    vectors = pa.FixedSizeListArray.from_arrays(flat, max(1, width))
    columns = {"word": pa.array(words, pa.large_string()), "vector": vectors}
    return Table.of(pa.table(columns), auxiliary=("word",))


def _cut(line: bytes, width: int) -> tuple[bytes, list[bytes]]:
    """Return the word of a line, which may hold blanks, and the numbers behind it."""
    parts = line.rsplit(None, width)
    whole = len(parts) == width + 1
    return (parts[0].strip(), parts[1:]) if whole else (b"", parts)


# A JSON object on each line

#: What a float may not hold, or not exactly: 1e400, 309 digits, 9007199254740993.0.
_LARGE = re.compile(r"[eE]\+?\d{3}|\d{300}|\d{16}\.0")
_WHOLE = re.compile(r"-?\d{16,}\.0+")

_Row = dict[str, Any]
#: Positions of rows by the names that they have.
RowsByNames = dict[frozenset[str], list[int]]


def read_json_lines(
    file: IO[bytes], source: str, by_names: RowsByNames | None = None
) -> Any:
    """Return the Arrow table of JSON lines, whose keys are the names of columns.

    Where `by_names` is given, it gets the rows by the keys that they have.
    """
    batches: list[Any] = []
    last = count = 0  # line, and objects
    full = (
        (number, line)
        for number, line in enumerate(file, 1)
        if line.removeprefix(codecs.BOM_UTF8).strip()
    )
    while rows := [(n, _object(x, n, source)) for n, x in islice(full, _BATCH)]:
        batches.append(_table_of(rows, source))
        _gather(by_names, count, rows)
        last, count = rows[-1][0], count + len(rows)
    warn_of_blank_lines(last - count, source)
    if not batches:
        return pa.table({})
    try:
        table = pa.concat_tables(batches, promote_options="permissive")
    except pa.ArrowException as error:
        raise ArgumentError(f"{source}: {one_line(error)}") from None
    return plain_table(table)


def _gather(
    by_names: RowsByNames | None, first: int, rows: list[tuple[int, _Row]]
) -> None:
    if by_names is not None:
        for i, (_, row) in enumerate(rows, first):
            by_names.setdefault(frozenset(row), []).append(i)


def read_json(file: IO[bytes], source: str, by_names: RowsByNames | None = None) -> Any:
    """Return the Arrow table of a list of objects in JSON, or of JSON lines."""
    content = file.read().removeprefix(codecs.BOM_UTF8)
    if not content.lstrip().startswith(b"["):
        return read_json_lines(io.BytesIO(content), source, by_names)
    try:
        rows = strict_json(content.decode())
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"{source} is not JSON: {one_line(error)}") from None
    for row, value in enumerate(rows):
        _check_row(value, f"item {row}", source)
    numbered = [*enumerate(rows)]
    _gather(by_names, 0, numbered)
    return plain_table(_table_of(numbered, source, "items")) if rows else pa.table({})


def _object(line: bytes, number: int, source: str) -> _Row:
    try:
        row = strict_json(line.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError) as error:
        hint = ""
        if number == 1 and line.lstrip().startswith(b"["):
            hint = "; a list of objects is not JSON lines, write one object on a line"
        raise ArtefactError(
            f"{source} is not JSON in line {number}: {one_line(error)}{hint}"
        ) from None
    return _check_row(row, f"line {number}", source)


def _check_row(row: Any, where: str, source: str) -> _Row:
    """Return an object that has keys: else it were a row of nothing."""
    if not isinstance(row, dict) or not row:
        raise ArgumentError(
            f"{source} needs objects with keys, such as {{'text': ...}}; {where} is "
            + ("empty" if row == {} else a_kind(row))
        )
    return row


def strict_json(text: str) -> Any:
    """Return the value of JSON; raise ValueError where Python would change it.

    It keeps the last of equal keys, and the nearest of numbers that no float holds.
    """
    exact = _exact if _LARGE.search(text) else None  # it is slower
    return json.loads(text, object_pairs_hook=_unique, parse_float=exact)


def _exact(text: str) -> float:
    """Return a number; refuse what would become infinity, or another whole number."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large for a float of 64 bits")
    if _WHOLE.fullmatch(text) and Decimal(text) != Decimal(number):
        raise ValueError(
            f"{text[:20]} is no float of 64 bits (the nearest is {number:.0f}): write "
            "it without a point, or as a text"
        )
    return number


def _unique(pairs: list[tuple[str, Any]]) -> _Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return row


def _table_of(rows: list[tuple[int, _Row]], source: str, what: str = "lines") -> Any:
    names = dict.fromkeys(name for _, row in rows for name in row)
    lines = f"in {what} {rows[0][0]} to {rows[-1][0]}"
    columns = {}
    for name in names:
        values = [row.get(name) for _, row in rows]
        try:
            columns[name] = array_of(values)
        except UnicodeEncodeError:
            raise ArtefactError(
                f"{source} holds half a surrogate pair as {name!r} {lines}, which is "
                "not text"
            ) from None
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise ArgumentError(
                f"{source} holds as {name!r} values of several types, or too large "
                f"ones, {lines}: {one_line(error)}"
            ) from None
    return pa.table(columns)
