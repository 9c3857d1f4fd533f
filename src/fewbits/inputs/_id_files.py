"""Ids in a file of their own: lines, an array, or a column of a table."""

from pathlib import Path
from typing import Any

import numpy as np

from fewbits.errors import ArgumentError, ArtefactError, one_line
from fewbits.inputs._arrays import load_array
from fewbits.inputs._choose import place_of
from fewbits.inputs._csv import read_csv
from fewbits.inputs._formats import SHARDS
from fewbits.inputs._json_lines import read_json_lines
from fewbits.inputs._shards import Loaded, Table, open_tables
from fewbits.inputs._streams import kind_of, open_bytes, standard_input
from fewbits.inputs._wanted import Wanted

_KNOWN = ".txt, .npy, .csv, .tsv, .jsonl, .parquet, .arrow"


def read_ids(source: str, column: str | None, *, texts: bool) -> list[Any]:
    """Read ids from a file, in its order.

    Parameters
    ----------
    source : str
        A ``.txt`` file or ``-``, standard input, with an id on each line; a ``.npy``
        file; or a table, as `read` takes them.
    column : str or None
        Of a table.
    texts : bool
        Whether ids are texts. Lines are whole numbers otherwise.

    Raises
    ------
    ArgumentError
        When the file is of another kind, holds nothing, or a line is no whole number.
    ArtefactError
        When the file is not what its name says.
    """
    path = Path(source)
    kind = ".txt" if source == "-" else kind_of(path)
    if kind in ("", ".txt"):
        found = _lines(source, texts)
    elif kind == ".npy":
        found = _array(path)
    else:
        found = _column(path, kind, column, texts)
    if not found:
        raise ArgumentError(f"{source} holds no ids")
    return found


def _lines(source: str, texts: bool) -> list[Any]:
    if source == "-":
        content = standard_input().read()
    else:
        with open_bytes(Path(source)) as file:
            content = file.read()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{source} holds no ids: {one_line(error)}") from error
    ids = [line.strip() for line in lines if line.strip()]
    if texts:
        return ids
    for text in ids:
        if not (text.isascii() and text.isdecimal()):
            raise ArgumentError(
                f"{source}: ids of this collection are integers, got {text!r}"
            )
    return [int(text) for text in ids]


def _array(path: Path) -> list[Any]:
    found = load_array(path, f"{path} holds no ids")
    if not isinstance(found, np.ndarray) or found.ndim != 1:
        raise ArgumentError(f"{path} must hold a list of ids")
    ids: list[Any] = found.tolist()
    return ids


def _column(path: Path, kind: str, column: str | None, texts: bool) -> list[Any]:
    if column is None:
        raise ArgumentError(f"name the column of {path} with the ids by --column")
    as_text = (column,) if texts else ()
    table = _table(path, kind, Wanted(id_column=column, as_text=as_text))
    ids: list[Any] = table.column(place_of(table, column, str(path))).to_pylist()
    return ids


def _table(path: Path, kind: str, wanted: Wanted) -> Table:
    if kind in SHARDS:
        return open_tables([path])
    if kind not in (".csv", ".tsv", ".jsonl"):
        raise ArgumentError(f"cannot read ids from {path}; known are {_KNOWN}")
    with open_bytes(path) as file:
        if kind == ".jsonl":
            return Loaded(read_json_lines(file, str(path)))
        return Loaded(read_csv(file, str(path), wanted, path))
