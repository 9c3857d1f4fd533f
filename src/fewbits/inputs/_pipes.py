"""Standard input, whose format is recognised by its first bytes."""

import io
import json
from typing import IO, Any

from fewbits.errors import ArgumentError
from fewbits.inputs._arrays import load_array
from fewbits.inputs._checks import checked_vectors
from fewbits.inputs._csv import read_csv
from fewbits.inputs._csv_head import check_known, has_names, table_width
from fewbits.inputs._input import Input
from fewbits.inputs._json_lines import read_json_lines
from fewbits.inputs._lines import read_lines
from fewbits.inputs._shards import Loaded, damage_told, read_ipc
from fewbits.inputs._streams import HEAD, decompressed, peekable
from fewbits.inputs._tables import read_table
from fewbits.inputs._wanted import Wanted
from fewbits.inputs._word_vectors import has_word_vectors, word_vectors

_COMPRESSED = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    **{f"BZh{level}1AY".encode(): ".bz2" for level in range(1, 10)},
}
_ARROW_STREAM = b"\xff\xff\xff\xff"


def read_pipe(raw: IO[bytes], wanted: Wanted, source: str) -> Input:
    """Read NumPy's format, Parquet, Arrow, JSON lines, CSV, or a text per line.

    JSON lines begin with an object. Of other text, CSV is what is asked for a column,
    or names one that a bundle was fitted to; anything else is a text per line.
    """
    with peekable(raw) as file:
        return _read(file, file.peek(HEAD), wanted, source)


def _read(file: IO[bytes], head: bytes, wanted: Wanted, source: str) -> Input:
    for magic, suffix in _COMPRESSED.items():
        if head.startswith(magic):
            with decompressed(file, suffix, source) as plain:
                return read_pipe(plain, wanted, source)
    if head.startswith(b"\x93NUMPY"):
        return _numpy(file.read(), wanted, source)
    if head.startswith((b"PAR1", b"ARROW1", _ARROW_STREAM)):
        return read_table(Loaded(_arrow(file.read(), source)), wanted, source)
    if _is_json(head):
        return read_table(Loaded(read_json_lines(file, source)), wanted, source)
    if has_word_vectors(head):
        return read_table(word_vectors(file, source), wanted, source)
    if wanted.named() or has_names(head, wanted.names):
        return read_table(Loaded(read_csv(file, source, wanted)), wanted, source)
    _check_lines(head, source)
    return read_lines(file, source)


def _check_lines(head: bytes, source: str) -> None:
    """Refuse what would lose its form as a text per line."""
    check_known(head, source)
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if first.startswith((b'{"', b"{\n", b"{\r", b"[{")):
        raise ArgumentError(
            f"{source} begins as JSON, but its first line is not an object: write one "
            "object on each line"
        )
    if (n_columns := table_width(head)) > 1:
        raise ArgumentError(
            f"{source} looks like a table of {n_columns} columns: name the one that "
            "holds the items (on the command line by --column), or save it as .csv"
        )


def _is_json(head: bytes) -> bool:
    """Return whether the first line that is not blank is a JSON object."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if not first.startswith(b"{"):
        return False
    if len(first) >= HEAD // 2:  # the head ends within it
        return b'":' in first or b'" :' in first
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _numpy(content: bytes, wanted: Wanted, source: str) -> Input:
    wanted.refuse(source)
    array = load_array(io.BytesIO(content), f"{source} is not an array of numbers")
    return Input("vectors", checked_vectors(array, source), None, source)


def _arrow(content: bytes, source: str) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = pa.BufferReader(content)
    with damage_told(source, "Parquet or Arrow"):
        if content.startswith(b"PAR1"):
            table = parquet.read_table(buffer)
            table.validate(full=True)
            return table
        return read_ipc(buffer, content[:6])
