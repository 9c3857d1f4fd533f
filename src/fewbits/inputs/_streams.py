"""Bytes of files, compressed ones too, of pipes and of standard input."""

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from fewbits._lazy import pa
from fewbits._warnings import warn_user
from fewbits.errors import ArtefactError, MissingExtraError

HEAD = 1 << 16  #: Bytes by which a format is recognised.
#: Endings of compressed files, which follow that of the format, and their first bytes.
COMPRESSED = {
    ".gz": rb"\x1f\x8b",
    ".zst": rb"\x28\xb5\x2f\xfd",
    ".bz2": rb"BZh[1-9]1AY",
    ".xz": rb"\xfd7zXZ\0",
}
_UTF_16 = b"\xff\xfe", b"\xfe\xff"
#: What files begin with that are often saved as .csv or .txt by mistake.
_OTHERS = {
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
    b"version https://git-lfs": "a pointer of git-lfs: fetch it by 'git lfs pull'",
    b"%pdf-": "a PDF file",
    b"pk\x03\x04": "a zip archive",
}


def kind_of(path: Path) -> str:
    """Return the ending of a file's format, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed, by its ending."""
    return path.suffix.lower() in COMPRESSED


@contextmanager
def open_bytes(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file of text, decompressed by its ending; UTF-16 becomes UTF-8."""
    with (
        path.open("rb") as file,
        plain_bytes(file, str(path), path.suffix.lower()) as plain,
    ):
        yield plain


@contextmanager
def plain_bytes(
    raw: IO[bytes], source: str, ending: str | None = None
) -> Iterator[io.BufferedReader]:
    """Decompress by the ending, or the first bytes for None; UTF-16 becomes UTF-8."""
    with peekable(raw) as file:
        head = file.peek(HEAD)
        if ending is None:
            kinds = (x for x, first in COMPRESSED.items() if re.match(first, head))
            ending = next(kinds, "")
        try:
            if ending in COMPRESSED:
                with plain_bytes(_decompressed(file, ending), source, "") as plain:
                    yield plain
            elif head.startswith(_UTF_16):
                try:
                    content = file.read().decode("utf-16").encode()
                except UnicodeError as error:
                    raise ArtefactError(f"{source} is not UTF-16: {error}") from None
                with peekable(io.BytesIO(content)) as text:
                    yield text
            else:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
            raise ArtefactError(f"{source} is damaged: {error}") from error
        except OSError as error:
            # Arrow says of a damaged zstd stream no more than that.
            if error.errno is None and ending in COMPRESSED:
                raise ArtefactError(f"{source} is damaged: {error}") from error
            raise


@contextmanager
def peekable(raw: IO[bytes]) -> Iterator[io.BufferedReader]:
    """Let the first `HEAD` bytes be looked at; `raw` stays open afterwards."""
    stream: Any = raw
    file: Any = io.BufferedReader(stream, HEAD)
    try:
        yield file
    finally:
        file.detach()


def standard_input() -> IO[bytes]:
    """Return the bytes that are typed or piped in."""
    # Tests and notebooks put a text in the place of standard input.
    buffer = getattr(sys.stdin, "buffer", None)
    return cast(IO[bytes], buffer) or io.BytesIO(
        sys.stdin.read().encode("utf-8", "surrogateescape")
    )


def refuse_other_formats(head: bytes, source: str) -> None:
    """Refuse what is stored under the name of a text, but is something else."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:100].lower()
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise ArtefactError(f"{source} is {what}")


def warn_of_blank_lines(skipped: int, source: str) -> None:
    """Warn of blank lines between others; at the end they shift no ids."""
    if skipped:
        plural = "s" if skipped > 1 else ""
        warn_user(
            f"{source}: {skipped} blank line{plural} left out; ids count the others"
        )


def _decompressed(file: IO[bytes], ending: str) -> IO[bytes]:
    if ending == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if ending == ".bz2":
        return cast(IO[bytes], bz2.BZ2File(file))
    if ending == ".xz":
        return cast(IO[bytes], lzma.LZMAFile(file))
    if not pa.Codec.is_available("zstd"):
        raise MissingExtraError("this pyarrow was built without zstd")
    borrowed = pa.PythonFile(_Borrowed(file), mode="r")
    opened: Any = pa.CompressedInputStream(borrowed, "zstd")
    return opened  # type: ignore[no-any-return]


class _Borrowed:
    """A file that stays open when Arrow is done with it."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.read = file.read

    def close(self) -> None:
        self.closed = True
