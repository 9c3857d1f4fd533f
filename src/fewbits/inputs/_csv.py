"""CSV files as people save them: with commas, semicolons or tabs between columns."""

import codecs
import re
from pathlib import Path
from typing import Any, BinaryIO

from fewbits.errors import ArtefactError
from fewbits.inputs._columns import reads_as_number

_HEAD = 1 << 16  # bytes that tell what a file is
_DELIMITERS = (",", ";", "\t")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_csv(path: Path, label_column: str | None = None) -> Any:
    """Return the Arrow table of a .csv or .tsv file, labels as they are written.

    As numbers ``01`` and ``1`` would be the same class, and so would long ids.
    """
    import pyarrow as pa
    from pyarrow import csv

    # Opened once if it is a pipe, which can be read only once.
    with path.open("rb", buffering=_HEAD) as file:
        head: bytes = file.peek(_HEAD)  # type: ignore[attr-defined]
        _check_text(head, path)
        delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(head, path)
        options = csv.ParseOptions(delimiter=delimiter)
        source, threads = _opened(path, file)
        reading = csv.ReadOptions(use_threads=threads)
        types = {} if label_column is None else {label_column: pa.string()}
        table = csv.read_csv(
            source,
            read_options=reading,
            parse_options=options,
            convert_options=csv.ConvertOptions(column_types=types),
        )
    _check_columns(table, path)
    if table.column_names.count(label_column) == 1:
        place = table.column_names.index(label_column)
        labels = pa.array(_without_gaps(table.column(place).to_pylist()), pa.string())
        table = table.set_column(place, label_column, labels)
    return table


def _without_gaps(labels: list[str]) -> list[str | None]:
    """Return labels with None for gaps: what is no number among numbers, as ``NA``."""
    from pyarrow import csv

    gaps = {*csv.ConvertOptions().null_values, ""}
    if all(label in gaps or reads_as_number(label) for label in labels):
        return [None if label in gaps else label.strip() for label in labels]
    return list(labels)


def _opened(path: Path, file: BinaryIO) -> tuple[Any, bool]:
    """Return what Arrow shall read, and whether by several threads.

    A thread of Arrow's that still holds a Python file when Python ends aborts it.
    """
    from pyarrow import OSFile

    try:
        return (OSFile(str(path)), True) if path.is_file() else (file, False)
    except UnicodeEncodeError:  # a name of other bytes than text
        return file, False


def _check_text(head: bytes, path: Path) -> None:
    if head.startswith(b"PAR1"):
        raise ArtefactError(f"{path} is a Parquet file; name it .parquet")
    if head.startswith(_UTF_16):
        raise ArtefactError(f"{path} is UTF-16, not UTF-8; save it as UTF-8")
    if b"\0" in head:
        raise ArtefactError(f"{path} is no text, so no {path.suffix[1:]} file")


def _delimiter(head: bytes, path: Path) -> str:
    """Return what separates the names of the columns; commas where nothing does."""
    first, second, *_ = [*head.splitlines(keepends=True)[:2], b"", b""]
    # The head of a file may end within a letter, a line must not.
    whole = first.endswith((b"\n", b"\r"))
    try:
        header = codecs.getincrementaldecoder("utf-8")().decode(first, final=whole)
    except UnicodeDecodeError:
        raise ArtefactError(
            f"{path} is not UTF-8 in its first line; save it as UTF-8"
        ) from None
    names, values = (
        re.sub('"[^"]*"', "", line)
        for line in (header, second.decode("utf-8", "replace"))
    )
    # What separates values separates names as often; of several, the most frequent.
    agreeing = [d for d in _DELIMITERS if 0 < names.count(d) == values.count(d)]
    return max(agreeing or _DELIMITERS, key=names.count)


def _check_columns(table: Any, path: Path) -> None:
    import pyarrow.types as types

    # What cannot be decoded comes as bytes.
    for field in table.schema:
        if types.is_binary(field.type):
            raise ArtefactError(
                f"{path} is not UTF-8 in column {field.name!r}; save it as UTF-8"
            )
