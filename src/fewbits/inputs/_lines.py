"""A text per line, from a file or from standard input."""

import sys
from pathlib import Path

from fewbits._warnings import warn_user
from fewbits.errors import ArtefactError
from fewbits.inputs._input import Input


def read_lines(path: Path) -> Input:
    """Read the lines of a .txt file."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{path} is no UTF-8 text: {error}") from error
    return _input(text, str(path))


def read_standard_input() -> Input:
    """Read the lines that are typed or piped in."""
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ArtefactError(f"standard input is no UTF-8 text: {error}") from error
    return _input(text, "standard input")


def _input(text: str, source: str) -> Input:
    # Windows marks UTF-8 by a character at the start that is no part of the text. Blank
    # lines at the end shift no ids. A line ends where an editor ends it, not at every
    # separator that str.splitlines knows.
    lines = text.removeprefix("\ufeff").rstrip().split("\n")
    texts = [line.strip() for line in lines if line.strip()]
    skipped = len(lines) - len(texts)
    if texts and skipped:
        plural = "s" if skipped > 1 else ""
        warn_user(
            f"{source}: {skipped} blank line{plural} left out; ids count the others"
        )
    return Input("texts", texts, None, source)
