"""Texts of table cells that stand for numbers or vectors.

Numbers taken for words would be embedded silently, so they are recognised here, for
files and for data frames alike.
"""

import base64
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError

#: What numbers are made of, in any script, and what is written around them: signs,
#: exponents, units of money, and the letters of ISO dates and of complex numbers.
_AROUND = r"[\s\p{Z}\p{Nd}\p{Sc}\p{No}%‰+\-−–±.,:;_'’/×*^()|dDeETZij]*"
_DIGITS_ONLY = rf"^{_AROUND}\p{{Nd}}{_AROUND}$|^\s*[+-]?0[xXbBoO][\da-fA-F]+\s*$"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?i:nan|inf|infinity)"
PLAIN_NUMBER = rf"^\s*(?:{_NUMBER})\s*$"
#: ``[1, 2]``, ``{1,2}`` or ``(1 2)``: numbers in brackets, as JSON, PostgreSQL, NumPy
#: and Python write vectors.
_VECTOR = (
    rf"^\s*[\[({{]\s*(?:{_NUMBER})(?:(?:\s*,\s*(?:{_NUMBER}))*\s*,?"
    rf"|(?:\s*;\s*(?:{_NUMBER}))*\s*;?|(?:\s+(?:{_NUMBER}))*)\s*[\])}}]\s*$"
)
#: How texts begin that stand for vectors, well written or not: ``[[1``, ``[null``,
#: ``array([1``, ``[np.float32(1)``.
_LIKE_VECTOR = (
    r"^\s*(?:(?:np\.|numpy\.|torch\.)?(?:array|tensor)\s*)?[\[({]+\s*"
    r"(?:(?:np\.)?float\d*\s*\(\s*)?"
    r"(?:[+-]?\.?\d|nan\b|null\b|None\b|(?i:true|false)\s*[,\])]|\])"
)
_BEHIND_WORD = (
    rf"^\s*[^\s\d]\S*(?:\s+(?:{_NUMBER}))+\s+[+-]?\d*\.\d+(?:[eE][+-]?\d+)?"
    rf"(?:\s+(?:{_NUMBER}))*\s*$"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")
_SHORTEST = 24  # letters: fewer may be a word whose bytes happen to be such numbers
_ENCODED = "vectors of floats written as base64"
_SHOWN = 40  # characters of a text in a message
_SEPARATORS = str.maketrans(dict.fromkeys(",;[](){}", " "))


def matches(column: Any, pattern: str) -> Any:
    """Return for each text of a column whether it matches; None where it is missing."""
    import pyarrow.compute as pc

    return pc.match_substring_regex(column, pattern)


def are_vectors(column: Any) -> bool:
    """Return whether every text of a column is a vector in brackets."""
    return _all(matches(_head(column), _VECTOR)) and _all(matches(column, _VECTOR))


def broken_vector(column: Any) -> str | None:
    """Return a text that is not a vector, if most of a column begin as vectors do."""
    import pyarrow.compute as pc

    like = matches(column, _LIKE_VECTOR)
    if 2 * (pc.sum(like).as_py() or 0) <= len(column):
        return None
    others = column.filter(pc.invert(matches(column, _VECTOR)))
    return str(others[0].as_py()) if len(others) else None


def are_digits(column: Any) -> bool:
    """Return whether every text of a column has digits, and none has a word.

    So do numbers with separators, currencies or percentages, dates, and vectors
    without brackets.
    """
    return _all(matches(_head(column), _DIGITS_ONLY)) and _all(
        matches(column, _DIGITS_ONLY)
    )


def mostly_digits(column: Any) -> str | None:
    """Return the first text with a word, if more than half are as `are_digits` says."""
    import pyarrow.compute as pc

    digits = matches(column, _DIGITS_ONLY)
    if not len(column) < 2 * (pc.sum(digits).as_py() or 0) < 2 * len(column):
        return None
    return str(column.filter(pc.invert(digits))[0].as_py())


def are_numbers(column: Any) -> bool:
    """Return whether every text of a column is a plain number."""
    return _all(matches(_head(column), PLAIN_NUMBER)) and _all(
        matches(column, PLAIN_NUMBER)
    )


def are_behind_words(column: Any) -> bool:
    """Return whether every text is a word and the numbers of its vector, as in GloVe's.

    One number at least has a decimal point: "Boeing 737 800" is a text.
    """
    return _all(matches(_head(column), _BEHIND_WORD)) and _all(
        matches(column, _BEHIND_WORD)
    )


def are_encoded(column: Any) -> bool:
    """Return whether texts are vectors of floats as base64, by the first of them."""
    texts = [text for text in _head(column).to_pylist() if text is not None]
    return bool(texts) and all(map(_is_encoded, texts))


def _is_encoded(text: str) -> bool:
    if len(text) < _SHORTEST or len(text) % 4 or not _BASE64.fullmatch(text):
        return False
    data = base64.b64decode(text.translate(_URL_SAFE))
    for dtype in ("<f4", "<f8"):
        if len(data) % int(dtype[-1]) == 0:
            sizes = np.abs(np.frombuffer(data, dtype))
            with np.errstate(invalid="ignore"):
                usual = (sizes == 0) | ((sizes > 1e-9) & (sizes < 1e6))
            if usual.all():
                return True
    return False


def told_of_numbers(column: Any, *, are_meant: bool) -> str | None:
    """Describe texts that are written numbers; return None for words.

    They would be embedded as words. Plain numbers are texts only if the caller says so
    (`are_meant`); vectors, dates and numbers with units are none.
    """
    broken = broken_vector(column)
    if broken is not None:
        return _told_of_broken(broken)
    if are_encoded(column):
        return f"{_ENCODED} such as {column.drop_null()[0].as_py()[:_SHOWN]!r}"
    if are_behind_words(column):
        shown = column.drop_null()[0].as_py()[:_SHOWN]
        return f"{shown!r} and the like, words with numbers behind them"
    if are_digits(column) and not (are_meant and are_numbers(column)):
        shown = column.drop_null()[0].as_py()[:_SHOWN]
        return f"{shown!r} and the like, numbers written as text"
    return None


def check_words(column: Any, what: str, advice: str) -> None:
    """Refuse texts that `told_of_numbers` knows, where texts were asked for."""
    if found_numbers := told_of_numbers(column, are_meant=True):
        raise ArgumentError(f"{what} holds {found_numbers}; {advice}")


def check_no_vectors(column: Any, what: str) -> None:
    """Refuse vectors written as text of which some cannot be read."""
    broken = broken_vector(column)
    if broken is not None:
        raise ArgumentError(f"{what} holds {_told_of_broken(broken)}")


def _told_of_broken(text: str) -> str:
    return (
        f"vectors written as text, but {text[:_SHOWN]!r} is none; write each as "
        "[0.1, 0.2]"
    )


def stray(column: Any) -> tuple[int, str, int] | None:
    """Return the exceptions if most texts are numbers: first row, its text, count.

    Blank texts do not count.
    """
    import pyarrow.compute as pc

    number = matches(column, PLAIN_NUMBER).combine_chunks()
    blank = matches(column, r"^\s*$").combine_chunks()
    other = pc.and_(pc.invert(number), pc.invert(blank)).fill_null(False)
    n_numbers, n_other = (pc.sum(each).as_py() or 0 for each in (number, other))
    if not n_other or n_other >= n_numbers:
        return None
    row = pc.index(other, True).as_py()
    return row, column[row].as_py(), n_other


def parse_vectors(column: Any, what: str) -> NDArray[np.float64]:
    """Return the vectors that texts such as ``[0.1, 0.2]`` stand for.

    Raises
    ------
    ArgumentError
        When lengths differ.
    """
    matrix = np.empty((0, 0))
    for row, text in enumerate(_each(column)):
        numbers = [*map(float, text.translate(_SEPARATORS).split())]
        if not row:
            matrix = np.empty((len(column), len(numbers)))
        if len(numbers) != matrix.shape[1]:
            raise ArgumentError(
                f"{what} has vectors of several lengths: {matrix.shape[1]} numbers in "
                f"row 0, {len(numbers)} in row {row}"
            )
        matrix[row] = numbers
    return matrix


def _each(column: Any) -> Any:
    for chunk in column.chunks:
        for start in range(0, len(chunk), 1024):
            yield from chunk[start : start + 1024].to_pylist()


def _head(column: Any) -> Any:
    """Return a few texts, of which one that does not match spares reading the rest."""
    return column[:100]


def _all(matched: Any) -> bool:
    import pyarrow.compute as pc

    return len(matched) > 0 and bool(pc.all(matched, skip_nulls=True).as_py())
