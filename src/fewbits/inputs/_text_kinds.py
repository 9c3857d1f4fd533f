"""Texts that stand for numbers, vectors, codes or files.

Taken for words, they would be embedded in silence, so they are recognised here, for
files and for data frames alike.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import is_list, list_matrix
from fewbits._lazy import pa, pc
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError, CodeError
from fewbits.inputs._input import Texts, check_full
from fewbits.inputs._streams import kind_of

#: What numbers are made of, in any script, and what is written around them: signs,
#: exponents, units of money, and the letters of ISO dates and of complex numbers.
_AROUND = r"[\s\p{Z}\p{Nd}\p{Sc}\p{No}%‰+\-−–±.,:;_'’/×*^()|dDeETZij]*"
DIGITS = rf"^{_AROUND}\p{{Nd}}{_AROUND}$|^\s*[+-]?0[xXbBoO][\da-fA-F]+\s*$"
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
#: A word and the numbers of its vector, as in files of GloVe. One number has a decimal
#: point: "Boeing 737 800" is a text.
_BEHIND_WORD = (
    rf"^\s*[^\s\d]\S*(?:\s+(?:{_NUMBER}))+\s+[+-]?\d*\.\d+(?:[eE][+-]?\d+)?"
    rf"(?:\s+(?:{_NUMBER}))*\s*$"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")
_HEX_CODE = r"^(?:0x|\\x)?[\da-fA-F]{8,}$"
_BIT_CODE = r"^[01]{8,}$"
_UUID = r"^\{?[\da-fA-F]{8}(?:-?[\da-fA-F]{4}){3}-?[\da-fA-F]{12}\}?$"
_SHORTEST_CODE = 11  # letters of base64: 64 bits
_SHORTEST = 24  # letters: fewer may be a word whose bytes happen to be such numbers
_HEAD = 100  # texts, of which one that does not match spares reading the rest
_MAX_SHOWN = 40  # characters of a text in a message
_SEPARATORS = str.maketrans(dict.fromkeys(",;[](){}", " "))

#: Endings of files that are read, but for images and texts.
FILES = {".npy", ".npz", ".fvecs", ".bvecs", ".ivecs", ".hdf5", ".h5", ".csv", ".tsv"}
FILES |= {".fbin", ".u8bin", ".i8bin", ".safetensors"}
FILES |= {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"}
FILES |= {".json", ".jsonl", ".ndjson"}
#: Endings of the formats of images that Pillow reads wherever it is installed.
IMAGES = {".apng", ".bmp", ".gif", ".jfif", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm"}
IMAGES |= {".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}

TextKind = Literal["words", "numbers", "data", "vectors", "broken", "codes"]


def text_kind(column: Any) -> tuple[TextKind, str]:
    """Return what the texts of a column are, and one of them.

    ``"vectors"`` where each is a vector in brackets; ``"broken"`` where more than half
    begin as vectors do, with one that cannot be read; ``"numbers"`` where each is a
    plain number; ``"data"`` where each has digits and no word (numbers with separators,
    units or percentages, dates, vectors without brackets), or is a vector of floats as
    base64 or behind a word; ``"codes"`` where all are hexadecimal digits, bits, UUIDs
    or base64 of one length; else ``"words"``.
    """
    head = [text for text in column[:_HEAD].to_pylist() if text is not None]
    first = head[0] if head else ""
    if all_match(column, _VECTOR):
        return "vectors", first
    if 2 * (pc.sum(_matches(column, _LIKE_VECTOR)).as_py() or 0) > len(column):
        others = column.filter(pc.invert(_matches(column, _VECTOR)))
        if len(others):
            return "broken", others[0].as_py()
    if _are_codes(column, head):
        return "codes", first
    if all_match(column, DIGITS):
        return "numbers" if all_match(column, PLAIN_NUMBER) else "data", first
    encoded = bool(head) and all(map(_is_encoded, head))
    if encoded or all_match(column, _BEHIND_WORD):
        return "data", first
    return "words", first


def check_words(column: Any, what: str, advice: str, *, numbers: bool = True) -> None:
    """Refuse texts that stand for numbers or vectors, where words are meant."""
    kind, text = text_kind(column)
    shown = repr(text[:_MAX_SHOWN])
    problems = {
        "broken": f"vectors written as text, but {shown} is none; write each as "
        "[0.1, 0.2]",
        "vectors": f"vectors written as text such as {shown}; {advice}",
        "codes": f"codes written out such as {shown}, no words: name the column by "
        "codes= (on the command line --codes), which reads hexadecimal digits, 0 and "
        "1, and bytes; base64 and UUIDs are to be made such first",
        "data": f"{shown} and the like, numbers written as text; {advice}",
    }
    problem = problems.get("data" if kind == "numbers" and not numbers else kind)
    if problem is not None:
        raise ArgumentError(f"{what} holds {problem}")


def _are_codes(column: Any, head: list[str]) -> bool:
    """Return whether texts, two or more of one length, are codes written out."""
    if len(head) < 2 or len({*map(len, head)}) > 1:
        return False
    if all_match(column, _BIT_CODE) or all_match(column, _UUID):
        return True
    digits = sum(any(letter.isdigit() for letter in text) for text in head)
    if 2 * digits > len(head) and all_match(column, _HEX_CODE):
        return any(re.search("[a-fA-F]", text) for text in head)
    if len(head[0]) < _SHORTEST_CODE or not all(map(_BASE64.fullmatch, head)):
        return False
    kinds = "[a-z]", "[A-Z]", "[0-9+/_=-]"
    mixed = [all(re.search(kind, text) for kind in kinds) for text in head]
    return 2 * sum(mixed) > len(head)


def exceptions(column: Any, pattern: str) -> tuple[int, str] | None:
    """Return row and text of the first that does not match, if most of a column do."""
    matching = _matches(column, pattern).combine_chunks()
    blank = _matches(column, r"^\s*$").combine_chunks()
    other = pc.and_(pc.invert(matching), pc.invert(blank)).fill_null(False)
    n_matching, n_other = (pc.sum(rows).as_py() or 0 for rows in (matching, other))
    if not n_other or n_other >= n_matching:
        return None
    row = pc.index(other, True).as_py()
    return row, column[row].as_py()


def all_match(column: Any, pattern: str) -> bool:
    """Return whether every text of a column matches, missing ones aside."""
    for texts in (column[:_HEAD], column):
        if (every := pc.all(_matches(texts, pattern)).as_py()) is False:
            return False
    return bool(every)


def _matches(column: Any, pattern: str) -> Any:
    return pc.match_substring_regex(column, pattern)


def _is_encoded(text: str) -> bool:
    """Return whether a text is a vector of floats as base64."""
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


def parse_vectors(column: Any, what: str) -> NDArray[np.float64]:
    """Return the vectors that texts such as ``[0.1, 0.2]`` stand for."""
    check_full(column, what)
    matrix = np.empty((0, 0))
    for row, text in enumerate(Texts(column)):
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


# Codes

_BITS = r"^[01]+$"
_HEX = r"^(?:0x|\\x)?[\da-fA-F]+$"
_VALUES = np.full(256, 255, np.uint8)  # of the digits of hexadecimal numbers
for _digit in "0123456789abcdefABCDEF":
    _VALUES[ord(_digit)] = int(_digit, 16)


def packed_codes(column: Any, what: str) -> tuple[NDArray[np.uint8], int]:
    r"""Return the packed codes of a column, and their number of bits.

    It holds bytes, lists of uint8, or texts, all of one length: hexadecimal digits,
    ``0x`` or ``\x`` before them or not; or, where all hold nothing else, 0 and 1. The
    codes are uint8 of shape (n, n_bytes), the first bit highest.
    """
    check_full(column, what)
    kind = column.type
    if is_list(kind) and kind.value_type == pa.uint8():
        return checked_codes(list_matrix(column.chunks, len(column), what), what)
    binary = (
        pa.types.is_fixed_size_binary,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    if any(is_one(kind) for is_one in binary):
        return checked_codes(_letters(column, what), what)
    if not pa.types.is_large_string(kind):
        raise ArgumentError(f"{what} holds {kind}; {_CODES_ARE}")
    if all_match(column, _BITS):
        bits = _letters(column, what) == ord("1")
        return np.packbits(bits, axis=1), bits.shape[1]
    if not all_match(column, _HEX):
        text = next(text for text in column.to_pylist() if not re.match(_HEX, text))
        raise ArgumentError(f"{what} holds {text[:_MAX_SHOWN]!r}; {_CODES_ARE}")
    letters = _letters(column, what)
    if all_match(column, r"^[0\\]x"):
        letters = letters[:, 2:]
    digits = _VALUES[letters]
    if (digits == 255).any():
        row = int((digits == 255).any(axis=1).argmax())
        raise ArgumentError(f"{what} holds {column[row].as_py()!r}; {_CODES_ARE}")
    n_bits = 4 * digits.shape[1]
    if digits.shape[1] % 2:
        digits = np.pad(digits, ((0, 0), (0, 1)))
    codes: NDArray[np.uint8] = digits[:, ::2] << np.uint8(4) | digits[:, 1::2]
    return codes, n_bits


def hex_codes(texts: Iterable[str], n_bits: int) -> NDArray[np.uint8]:
    """Return the packed codes that hexadecimal digits stand for."""
    size = n_bytes(n_bits)
    codes = []
    for text in texts:
        digits = str(text).removeprefix("0x").removeprefix("\\x")
        if not re.fullmatch(rf"[\da-fA-F]{{{2 * size}}}", digits, re.ASCII):
            raise CodeError(
                f"a code of {n_bits} bits has {2 * size} hexadecimal digits, got "
                f"{str(text)[:_MAX_SHOWN]!r}"
            )
        codes.append(bytes.fromhex(digits))
    return np.frombuffer(b"".join(codes), np.uint8).reshape(-1, size)


def checked_codes(codes: NDArray[Any], what: str) -> tuple[NDArray[np.uint8], int]:
    """Return an array of packed codes, if it is one, and their number of bits."""
    if codes.ndim != 2 or codes.dtype != np.uint8 or not codes.shape[1]:
        raise ArgumentError(
            f"{what} holds an array of {codes.dtype} and shape {codes.shape}; packed "
            "codes are uint8 of shape (n, n_bytes)"
        )
    if codes.size >= _MANY and codes.shape[1] >= 8 and codes.max() == 1:
        raise ArgumentError(
            f"{what} holds nothing but 0 and 1; if these are bits, pack them by "
            "numpy.packbits(bits, axis=1)"
        )
    return codes, 8 * codes.shape[1]


_MANY = 256  # bytes: packed codes that are all 0 and 1 are next to impossible
_CODES_ARE = "codes are bytes, hexadecimal digits, or 0 and 1, all of one length"


def _letters(column: Any, what: str) -> NDArray[np.uint8]:
    """Return the bytes of a column, a row for each value."""
    lengths = pc.min_max(pc.binary_length(column))
    shortest, longest = lengths["min"].as_py(), lengths["max"].as_py()
    if shortest != longest:
        raise ArgumentError(
            f"{what} has codes of several lengths, of {shortest} to {longest} letters "
            "or bytes"
        )
    if not longest:
        raise ArgumentError(f"{what} has empty codes")
    matrix, start = np.empty((len(column), longest), np.uint8), 0
    for chunk in column.cast(pa.large_binary()).chunks:
        _, offsets, values = chunk.buffers()
        first = np.frombuffer(offsets, np.int64)[chunk.offset]
        size = len(chunk) * matrix.shape[1]
        letters = np.frombuffer(values or b"", np.uint8)[first : first + size]
        matrix[start : start + len(chunk)] = letters.reshape(-1, matrix.shape[1])
        start += len(chunk)
    return matrix


# Names of files


def check_no_file_names(texts: Sequence[str], advice: str) -> None:
    """Refuse names of files, by these alone: a service must not say which it has."""
    head = texts[:_HEAD]
    short = [text for text in head if len(text) <= 4096 and len(text.split()) == 1]
    names = [text for text in short if kind_of(Path(text)) in IMAGES | FILES]
    if 2 * len(names) > len(head):
        raise ArgumentError(
            f"expected texts, got names of files such as {names[0][:60]!r}; {advice}"
        )
