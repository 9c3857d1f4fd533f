"""The files that hold items, each by its ending, and how it is read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fewbits._arrow import as_column
from fewbits._labels import as_label_names
from fewbits.inputs._arrays import read_npy, read_npz
from fewbits.inputs._checks import check_ids, checked_vectors
from fewbits.inputs._csv import read_csv
from fewbits.inputs._hdf5 import read_hdf5
from fewbits.inputs._image_walk import IMAGES
from fewbits.inputs._input import Input
from fewbits.inputs._json_lines import read_json_lines
from fewbits.inputs._label_files import SUFFIXES, read_labels
from fewbits.inputs._lines import read_lines
from fewbits.inputs._partitions import open_partitioned
from fewbits.inputs._shards import ARROW, PARQUET, Loaded
from fewbits.inputs._streams import HEAD, open_bytes, peekable
from fewbits.inputs._tables import read_table
from fewbits.inputs._vecs import read_vecs
from fewbits.inputs._wanted import Wanted
from fewbits.inputs._word_vectors import has_word_vectors, word_vectors

SHARDS = PARQUET | ARROW


def _table_file(path: Path, wanted: Wanted) -> Input:
    return read_table(open_partitioned([path]), wanted, str(path))


def _csv_file(path: Path, wanted: Wanted) -> Input:
    with open_bytes(path) as file:
        table = Loaded(read_csv(file, str(path), wanted, path))
    return read_table(table, wanted, str(path))


def _json_file(path: Path, wanted: Wanted) -> Input:
    with open_bytes(path) as file:
        table = Loaded(read_json_lines(file, str(path)))
    return read_table(table, wanted, str(path))


def _npz_file(path: Path, wanted: Wanted) -> Input:
    replace(wanted, id_column=None).refuse_beside(str(path))
    found, ids = read_npz(
        path, wanted.only_column(str(path)), wanted.label_column, wanted.id_column
    )
    if ids is None:
        return found
    ids = as_column(ids)
    check_ids(ids, f"array {wanted.id_column!r} of {path}")
    return replace(found, ids=ids, id_column=wanted.id_column)


def _hdf5_file(path: Path, wanted: Wanted) -> Input:
    wanted.refuse_beside(str(path))
    name = wanted.label_column
    values, found = read_hdf5(path, wanted.only_column(str(path)), name)
    labels = (
        None if name is None else as_label_names(found, f"labels {name!r} of {path}")
    )
    return Input("vectors", checked_vectors(values, str(path)), labels, str(path))


def _npy_file(path: Path, wanted: Wanted) -> Input:
    return _with_label_file(path, wanted, read_npy)


def _lines_file(path: Path, wanted: Wanted) -> Input:
    with open_bytes(path) as file, peekable(file) as lines:
        if has_word_vectors(lines.peek(HEAD)):
            table = word_vectors(lines, str(path))
            return read_table(table, wanted, str(path))

    def reader(path: Path) -> Input:
        with open_bytes(path) as file:
            return read_lines(file, str(path))

    return _with_label_file(path, wanted, reader)


def _vecs_file(path: Path, wanted: Wanted) -> Input:
    def reader(path: Path) -> Input:
        array = checked_vectors(read_vecs(path), str(path))
        return Input("vectors", array, None, str(path))

    return _with_label_file(path, wanted, reader)


def _image_file(path: Path, wanted: Wanted) -> Input:
    wanted.refuse(str(path))
    return Input("images", [path], None, str(path))


def _with_label_file(
    path: Path, wanted: Wanted, reader: Callable[[Path], Input]
) -> Input:
    """Read a file without columns, and its labels from another one."""
    name = wanted.label_column
    labels = None if name is None else Path(name)
    if labels is not None and labels.suffix in SUFFIXES and not labels.exists():
        raise FileNotFoundError(f"there is no {labels}")
    if labels is None or not labels.is_file():
        hint = f"; labels may lie in a file of their own, {' or '.join(SUFFIXES)}"
        wanted.refuse(str(path), hint)
        return reader(path)
    replace(wanted, label_column=None).refuse(str(path))
    return replace(reader(path), labels=read_labels(labels, str(path)))


#: Kinds that can be read from a stream, and so from a compressed file.
STREAMED = {".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".vec"}
READERS: dict[str, Callable[[Path, Wanted], Input]] = {
    ".npy": _npy_file,
    ".npz": _npz_file,
    ".fvecs": _vecs_file,
    ".bvecs": _vecs_file,
    ".ivecs": _vecs_file,
    ".hdf5": _hdf5_file,
    ".h5": _hdf5_file,
    ".txt": _lines_file,
    ".vec": _lines_file,
    ".csv": _csv_file,
    ".tsv": _csv_file,
    ".jsonl": _json_file,
    ".ndjson": _json_file,
    **dict.fromkeys(SHARDS, _table_file),
    **dict.fromkeys(IMAGES, _image_file),
}
