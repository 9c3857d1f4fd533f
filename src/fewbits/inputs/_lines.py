"""A text per line, from a file, a pipe or standard input."""

import codecs
from collections.abc import Iterator
from typing import IO, Any

from fewbits._warnings import warn_user
from fewbits.errors import ArtefactError
from fewbits.inputs._input import Input
from fewbits.inputs._texts import Texts

_BATCH = 4096  # lines


def read_lines(file: IO[bytes], source: str) -> Input:
    """Return the lines that are not blank.

    A line ends where an editor ends it, not at every separator that Python knows;
    carriage returns and blanks around a text are no part of it.
    """
    import pyarrow as pa

    numbers: list[int] = []
    batches: list[Any] = []
    texts: list[str] = []
    count = 0
    for count, line in enumerate(_decoded(file, source), 1):
        if line:
            texts.append(line)
            numbers.append(count)
        if len(texts) == _BATCH:
            batches.append(pa.array(texts, pa.large_string()))
            texts = []
    batches.append(pa.array(texts, pa.large_string()))
    # Blank lines at the end shift no ids.
    skipped = numbers[-1] - len(numbers) if numbers else 0
    if skipped:
        plural = "s" if skipped > 1 else ""
        warn_user(
            f"{source}: {skipped} blank line{plural} left out; ids count the others"
        )
    return Input("texts", Texts(pa.chunked_array(batches)), None, source)


def _decoded(file: IO[bytes], source: str) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
        except UnicodeDecodeError as error:
            raise ArtefactError(
                f"{source} is no UTF-8 text: {error.reason} in line {number}"
            ) from None
        if "\0" in text:
            raise ArtefactError(f"{source} is no text: line {number} holds a NUL")
        yield text.strip()
