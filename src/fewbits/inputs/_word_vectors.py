"""Word vectors as text, as word2vec, GloVe and fastText write them.

A word and its numbers on each line, separated by blanks; word2vec and fastText begin
with a line of two numbers: how many words, and how many numbers each has.
"""

import re
from array import array
from typing import IO

import numpy as np

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs._shards import Loaded, Table
from fewbits.inputs._streams import HEAD

WORD, VECTOR = "word", "vector"  #: Columns of the table.
_HEADER = re.compile(rb"^\s*(\d{1,12})\s+(\d{1,6})\s*$")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$")
_SHOWN = 30  # characters of a line in a message


def has_word_vectors(head: bytes) -> bool:
    r"""Return whether a text begins as word vectors do.

    On most lines a word, and behind it as many numbers as on the first, two or more, of
    which some have a decimal point.

    Examples
    --------
    >>> has_word_vectors(b"king 0.1 -2.5\nqueen 1e-3 .7\n")
    True
    >>> has_word_vectors(b"Boeing 737 800\nAirbus 320 200\n")
    False
    """
    lines = [line for line in head.splitlines() if line.strip()]
    if len(head) >= HEAD - 4:
        lines = lines[:-1]  # may be cut
    header = _HEADER.match(lines[0]) if lines else None
    lines = lines[1:] if header else lines
    if not lines:
        return False
    width = int(header[2]) if header else len(lines[0].split()) - 1
    found = [_cut(line, width) for line in lines]
    fitting = [row for row in found if row[0] and all(map(_NUMBER.match, row[1]))]
    return (
        width > 1
        and 2 * len(fitting) > len(found)  # any other line is named by the reader
        and not all(_NUMBER.match(word) for word, _ in fitting)
        and any(b"." in number for _, row in fitting for number in row)
    )


def word_vectors(file: IO[bytes], source: str) -> Table:
    """Return the table of word vectors: a column of words, one of vectors.

    Raises
    ------
    ArgumentError
        When a line has no word, or not as many numbers as the first one; when there
        are not as many words as the first line says.
    ArtefactError
        When a word is not UTF-8.
    """
    import pyarrow as pa

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
        if not word or not _added(values, numbers):
            raise ArgumentError(
                f"{source} holds words and {width} numbers for each, but not in line "
                f"{number}: {line.decode('utf-8', 'replace').strip()[:_SHOWN]!r}"
            )
        words.append(_decoded(word, number, source))
    if announced not in (None, len(words)):
        raise ArgumentError(
            f"{source} announces {announced:,} words, but holds {len(words):,}"
        )
    flat = pa.array(np.frombuffer(numbers, np.float32))
    vectors = pa.FixedSizeListArray.from_arrays(flat, max(1, width))
    table = pa.table({WORD: pa.array(words, pa.large_string()), VECTOR: vectors})
    return Loaded(table, auxiliary=(WORD,))


def _added(values: list[bytes], numbers: "array[float]") -> bool:
    """Append numbers, unless one is none."""
    try:
        numbers.extend([*map(float, values)])
    except (ValueError, OverflowError):
        return False
    return True


def _cut(line: bytes, width: int) -> tuple[bytes, list[bytes]]:
    """Return the word of a line, which may hold blanks, and the numbers behind it."""
    parts = line.rsplit(None, width)
    whole = len(parts) == width + 1
    return (parts[0].strip(), parts[1:]) if whole else (b"", parts)


def _decoded(word: bytes, number: int, source: str) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise ArtefactError(
            f"{source} is not UTF-8 text: {error.reason} in line {number}"
        ) from None
