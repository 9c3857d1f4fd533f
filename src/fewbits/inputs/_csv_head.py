"""The delimiter and the column names of CSV, from its first rows."""

import csv
import io
from collections.abc import Iterable
from itertools import chain, islice

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._streams import HEAD

_LOOKED_AT = 50  # rows examined to find the delimiter
_DELIMITERS = (",", ";", "\t", "|", " ")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: What files begin with that are often saved as .csv or .txt by mistake.
_OTHERS = {
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
    b"version https://git-lfs": "a pointer of git-lfs: fetch it by 'git lfs pull'",
    b"%pdf-": "a PDF file",
    b"pk\x03\x04": "a zip archive",
}
_SHOWN = 30  # characters in a message
_LONG_NAME = 60  # letters of a name that may be a text instead


def check_known(head: bytes, source: str) -> None:
    """Refuse what is stored under the name of a text, but is something else."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:100].lower()
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise ArtefactError(f"{source} is {what}")


def table_width(head: bytes) -> int:
    """Return the number of columns if text is surely CSV, else 0.

    All of the first rows, two or more, have as many values, and no separator has a
    blank behind it, as it would in a sentence.
    """
    text = head.decode("utf-8-sig", "replace")
    if len(text.splitlines()) < 2:
        return 0
    for delimiter in _DELIMITERS[:-1]:
        rows = _rows(text, delimiter, len(head) >= HEAD - 4)
        if rows and len(rows[0]) > 1 and f"{delimiter} " not in text:
            return len(rows[0])
    return 0


def check_head(head: bytes, source: str) -> None:
    check_known(head, source)
    if head.startswith(b"PAR1"):
        raise ArtefactError(f"{source} is a Parquet file; name it .parquet")
    if head.startswith(_UTF_16):
        raise ArtefactError(f"{source} is UTF-16, not UTF-8; save it as UTF-8")
    if b"\0" in head:
        raise ArtefactError(f"{source} is not text, so it is not a csv file")


def find_delimiter(head: bytes, source: str, named: Iterable[str] = ()) -> str:
    """Return the delimiter that cuts the first rows into equally many columns.

    A blank does only where it separates nothing but numbers; commas where nothing does.

    Parameters
    ----------
    head : bytes
    source : str
        For messages.
    named : iterable of str, default=()
        Columns that must exist, which decides between two delimiters.

    Raises
    ------
    ArgumentError
        When more than one fits.
    """
    able = _fitting(head)
    known = {each: rows for each, rows in able.items() if {*named} <= {*rows[0]}}
    able = known or able
    if len(able) > 1:
        choices = " or ".join(f"{x!r} ({len(rows[0])})" for x, rows in able.items())
        raise ArgumentError(
            f"{source} may be cut into columns by {choices}: name a column that only "
            "one of these gives (on the command line by --column), or put values that "
            "hold the other into quotes"
        )
    return next(iter(able), ",")


def has_names(head: bytes, names: Iterable[str]) -> bool:
    """Return whether the first line of CSV names one of these columns."""
    return any(not {*names}.isdisjoint(rows[0]) for rows in _fitting(head).values())


def _fitting(head: bytes) -> dict[str, list[list[str]]]:
    """Return possible delimiters, and the first rows that each gives."""
    text = head.decode("utf-8-sig", "replace")
    cut = len(head) >= HEAD - 4  # the last row of a longer file is not whole
    able = {each: rows for each in _DELIMITERS if (rows := _rows(text, each, cut))}
    able = {each: rows for each, rows in able.items() if len(rows[0]) > 1}
    if not able:  # one column, or rows that differ: the reader says which
        header = ",".join(_first_row(text, ","))
        most = max(_DELIMITERS[:-1], key=header.count)
        first = _first_row(text, most)
        return {most: [first]} if first else {}
    whole = {each: rows for each, rows in able.items() if not _cuts_quotes(rows)}
    return whole or able


def _rows(text: str, delimiter: str, cut: bool) -> list[list[str]]:
    """Return the first rows if they have as many columns, else none."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [row for row in islice(reader, _LOOKED_AT) if row]
        ended = next(reader, None) is None
    except csv.Error:
        return []
    if cut and ended:
        rows = rows[:-1]
    if len({len(row) for row in rows}) != 1:
        return []
    if delimiter == " " and not all(map(_is_number, chain.from_iterable(rows))):
        return []
    return rows


def _first_row(text: str, delimiter: str) -> list[str]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return next((row for row in reader if row), [])
    except csv.Error:
        return []


def _cuts_quotes(rows: list[list[str]]) -> bool:
    """Return whether cells hold one quote of a pair: quoted text was cut."""
    return any(cell.count('"') % 2 for cell in chain.from_iterable(rows))


def check_names(names: list[str], source: str) -> None:
    """Refuse a first row of numbers, and warn of a value, in the place of names."""
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
