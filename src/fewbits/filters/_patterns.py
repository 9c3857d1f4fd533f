"""LIKE and ILIKE."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Pattern
from fewbits.filters._literals import shorten


def pattern(text: str, escape: str | None) -> Pattern:
    """Return the pieces of a pattern; no character escapes unless ESCAPE names it."""
    if escape is not None and len(escape) != 1:
        raise ArgumentError(f"ESCAPE takes one character, got {shorten(escape)}")
    pieces: list[Any] = []
    characters = iter(text)
    for each in characters:
        if each == escape:
            each = next(characters, "")
            if each not in ("%", "_", escape):
                raise ArgumentError(
                    f"the escape {escape!r} in the pattern {shorten(text)} must stand"
                    f" before %, _ or {escape!r}"
                )
        elif each in ("%", "_"):
            if not (each == "%" and pieces and pieces[-1] == ("%", "%")):
                pieces.append((each, each))
            continue
        if pieces and pieces[-1][0] == "text":
            each = pieces.pop()[1] + each
        pieces.append(("text", each))
    return Pattern(tuple(pieces))


def like(strings: Any, pattern: Pattern, ignore_case: bool) -> Any:
    """Return which of `strings` have the form of `pattern`."""
    pieces = pattern.pieces
    if ignore_case:
        strings = pc.utf8_lower(strings)
        pieces = tuple((kind, _lower(text)) for kind, text in pieces)
    kinds = "".join(kind[0] for kind, _ in pieces)
    text = next((text for kind, text in pieces if kind == "text"), "")
    if kinds in ("", "t"):
        return pc.equal(strings, pa.scalar(text, strings.type))
    if kinds == "t%":
        return pc.starts_with(strings, pattern=text)
    if kinds == "%t":
        return pc.ends_with(strings, pattern=text)
    if kinds == "%t%":
        return pc.match_substring(strings, pattern=text)
    return pc.match_substring_regex(strings, pattern=_regex(pieces))


def _lower(text: str) -> str:
    return str(pc.utf8_lower(pa.scalar(text)).as_py())


def _regex(pieces: tuple[tuple[str, str], ...]) -> str:
    """Return the pattern in the syntax of RE2."""
    wild = {"%": ".*", "_": "."}
    parts = (wild[kind] if kind in wild else _quoted(text) for kind, text in pieces)
    return r"(?s)\A" + "".join(parts) + r"\z"


def _quoted(text: str) -> str:
    """Return the text with what means something in a pattern as a code point."""
    return re.sub(r"[^\w ]", lambda sign: rf"\x{{{ord(sign[0]):x}}}", text)
