"""A text per line, from a file, a pipe or standard input."""

import codecs
from collections.abc import Iterator
from typing import IO, Any

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._cells import (
    are_vectors,
    check_no_vectors,
    check_words,
    mostly_digits,
    parse_vectors,
)
from fewbits.inputs._checks import checked_vectors
from fewbits.inputs._input import Input
from fewbits.inputs._texts import Texts

_BATCH = 4096  # lines
_SHOWN = 30  # characters of a line in a message
_ADVICE = (
    "save them as .npy, or as .csv with a first line of names (or, if they are piped "
    "in, name columns)"
)


def read_lines(file: IO[bytes], source: str) -> Input:
    """Return the lines that are not blank.

    Where each is a vector in brackets, they are vectors; other numbers are refused, as
    they would be embedded as words. A line ends at a line feed, a carriage return or
    both, not at every separator that Python knows; blanks around a text are not
    part of it.
    """
    import pyarrow as pa

    batches: list[Any] = []
    texts: list[str] = []
    last = count = 0  # line, and texts
    for number, line in enumerate(_decoded(file, source), 1):
        if line:
            texts.append(line)
            last, count = number, count + 1
        if len(texts) == _BATCH:
            batches.append(pa.array(texts, pa.large_string()))
            texts = []
    batches.append(pa.array(texts, pa.large_string()))
    warn_of_blank_lines(last - count, source)
    column = pa.chunked_array(batches)
    if are_vectors(column):
        vectors = checked_vectors(parse_vectors(column, source), source)
        return Input("vectors", vectors, None, source)
    check_no_vectors(column, source)
    check_words(column[1:], source, _ADVICE)  # the first line may hold names
    _check_few_numbers(column, source)
    return Input("texts", Texts(column), None, source)


def _check_few_numbers(column: Any, source: str) -> None:
    """Refuse lines of which most are numbers: these would be embedded as words."""
    if found := mostly_digits(column):
        raise ArgumentError(
            f"{source} holds numbers but for {found[:_SHOWN]!r} and the like: mend "
            "that, or, if texts are meant, save them as .csv with a first line of "
            "names and name their column"
        )


def warn_of_blank_lines(skipped: int, source: str) -> None:
    """Warn of blank lines between others; at the end they shift no ids."""
    if skipped:
        plural = "s" if skipped > 1 else ""
        warn_user(
            f"{source}: {skipped} blank line{plural} left out; ids count the others"
        )


def _decoded(file: IO[bytes], source: str) -> Iterator[str]:
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
