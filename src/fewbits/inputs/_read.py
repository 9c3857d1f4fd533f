"""One function that reads items from files of all formats, and from Python."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fewbits._arrow import known_names
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.inputs._file_names import as_paths
from fewbits.inputs._formats import READERS, SHARDS, STREAMED
from fewbits.inputs._image_folder import find_images, is_image
from fewbits.inputs._input import Input
from fewbits.inputs._objects import read_object
from fewbits.inputs._partitions import is_partition, open_partitioned
from fewbits.inputs._pipes import read_pipe
from fewbits.inputs._shards import ARROW, PARQUET
from fewbits.inputs._streams import is_compressed, kind_of, standard_input
from fewbits.inputs._tables import read_table
from fewbits.inputs._wanted import NOTHING, Wanted

_FOLDER_HINT = "; the labels of images are the names of the subfolders they lie in"


def read(
    source: Any,
    *,
    column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    keep: bool | Sequence[str] = False,
    names: Sequence[str] = (),
    skip_blank: bool = False,
    as_text: Sequence[str] = (),
    kind: str | None = None,
) -> Input:
    """Read items from files, standard input, or Python objects.

    Parameters
    ----------
    source : str, Path, data frame, array or list
        Also a dict of columns, a list of dicts or of paths, a RecordBatchReader, a
        dataset of pyarrow. Named levels of a pandas index are columns. A path is read
        by its ending:

        - ``.npy``, ``.npz``, ``.fvecs``, ``.bvecs``, ``.ivecs``, ``.hdf5`` (extra
          ``hdf5``): vectors;
        - ``.parquet``, ``.arrow``, ``.feather`` (files and streams), ``.csv``,
          ``.tsv``, ``.jsonl``: a table, with a column of vectors or texts, or nothing
          but columns of numbers;
        - ``.txt``: a text, or a vector in brackets, per line; or word vectors as of
          GloVe (also ``.vec``), a table of ``word`` and ``vector``;
        - an image, or a folder of images, whose labels are the folders they lie in;
        - a folder or a pattern such as ``shards/*.parquet``: Parquet or Arrow files of
          the same columns, in the order of their names; folders named ``year=2020``
          give a column ``year``;
        - ``-``: standard input; the format is recognised by its first bytes.

        ``.csv``, ``.jsonl`` and ``.txt`` may be compressed (``.gz``, ``.zst``,
        ``.bz2``).
    column : str or sequence of str, default=None
        The column of vectors or texts of a table, or several columns of numbers, or the
        array of a .npz or .hdf5 file. Without it, the only one that fits is taken, or
        the numbers of each row where all other columns hold numbers.
    label_column : str, default=None
        Column or array of labels; those of a .npy or .txt file may be in another file
        of these kinds.
    id_column : str, default=None
        Column of unique ids, integers from 0 on or texts; or the array of a .npz file.
    keep : bool or sequence of str, default=False
        Other columns to store with the items: these, all, or none.
    names : sequence of str, default=()
        Feature columns of a table, one number each, in this order; or its column of
        texts. Ignored where a table has none of them.
    skip_blank : bool, default=False
        Leave out rows whose text or label is blank or missing, with a warning, instead
        of refusing them.
    as_text : sequence of str, default=()
        Columns of a CSV file that stay texts where all of their cells are numbers or
        dates.
    kind : str, default=None
        ``"vectors"`` or ``"texts"``, where only these are of use: columns of a table
        that hold the other are not taken for the items.

    Returns
    -------
    Input

    Warns
    -----
    UserWarning
        When columns or rows of a table or files of a folder are left out, or blank
        lines, so that ids are not line numbers.

    Raises
    ------
    ArtefactError
        When a file is not what its name says, or not UTF-8.
    ArgumentError
        When there is nothing to read, two readings are possible, numbers are written
        as texts (``1_000``, ``5%``, dates), a text is blank, a value is missing, a
        vector not finite, or an id repeats.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"sku": ["a1", "b2"], "text": ["red shoe", "blue hat"]})
    >>> found = read(table, column="text", id_column="sku")
    >>> found, found.ids.to_pylist()
    (Input(2 texts of the data frame), ['a1', 'b2'])
    """
    wanted = Wanted(
        (column,) if isinstance(column, str) else tuple(column or ()),
        label_column,
        id_column,
        keep if isinstance(keep, bool) else tuple(keep),
        tuple(names),
        skip_blank,
        tuple(as_text),
        kind,
    )
    found = _read(source, wanted)
    if skip_blank and found.kind != "texts" and label_column is None:
        raise ArgumentError(
            f"{found.source} holds {found.kind}, of which none is blank: leave out "
            "skip_blank (on the command line --skip-blank)"
        )
    if len(found) == 0:
        raise ArgumentError(f"{found.source} holds no items")
    if found.labels is not None and len(found.labels) != len(found):
        raise ArgumentError(
            f"{found.source} holds {len(found)} items and {len(found.labels)} labels"
        )
    return found


def _read(source: Any, wanted: Wanted) -> Input:
    if isinstance(source, Input):
        if wanted != NOTHING:
            raise ArgumentError("items that were read bring their own columns and ids")
        return source
    if (paths := as_paths(source)) is not None:
        for path in paths:
            _check_readable(path)
        return _read_several(paths, wanted, "the list of files")
    if not isinstance(source, str | Path):
        return read_object(source, wanted)
    if not str(source).strip():
        raise ArgumentError("give the path of a file or folder, got an empty one")
    if str(source) == "-":
        return read_pipe(standard_input(), wanted, "standard input")
    path = Path(source)
    if not path.exists() and any(letter in str(source) for letter in "*?["):
        return _read_several(_matching(str(source)), wanted, str(source))
    _check_readable(path)
    if path.is_dir():
        return _read_folder(path, wanted)
    reader = READERS.get(kind_of(path))
    streamed = kind_of(path) in STREAMED
    if is_compressed(path) and not streamed:
        reader = None
    nameless = not kind_of(path) or not path.is_file()  # /dev/stdin may be a file
    if nameless and not streamed:
        with path.open("rb") as file:
            return read_pipe(file, wanted, str(path))
    if reader is None:
        raise ArgumentError(
            f"cannot tell what {path} holds; known are a folder of images or of "
            f"Parquet files and {', '.join(sorted(READERS))}"
        )
    return reader(path, wanted)


def _check_readable(path: Path) -> None:
    """Raise the system's error: a reader would report damage."""
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    if path.is_dir():
        os.listdir(path)
    elif path.is_file():  # a pipe can be opened only once
        path.open("rb").close()


def _matching(pattern: str) -> list[Path]:
    found = sorted(Path(name) for name in glob.glob(pattern, recursive=True))
    if not found:
        raise FileNotFoundError(f"no file matches {pattern}")
    return found


def _read_several(paths: list[Path], wanted: Wanted, source: str) -> Input:
    """Read files that follow one another: tables of the same columns, or images."""
    kinds = {path.suffix.lower() for path in paths}
    if all(map(is_image, paths)):
        wanted.refuse(source)
        return Input("images", paths, None, source)
    if not (kinds <= PARQUET or kinds <= ARROW):
        raise ArgumentError(
            f"{source} holds {', '.join(sorted(kinds))} files; several are read "
            "together if all are Parquet, all Arrow, or all images"
        )
    return read_table(open_partitioned(paths), wanted, source)


def _read_folder(path: Path, wanted: Wanted) -> Input:
    """Read a folder of shards, or of images."""
    there = sorted(each for each in path.iterdir() if not _is_hidden(each))
    shards = [each for each in there if _is_shard(each)]
    if shards:
        others = [repr(each.name) for each in there if each not in shards]
        if others:
            warn_user(f"{path}: tables taken, left out: {known_names(others)}")
        return _read_several(shards, wanted, str(path))
    if parts := _partition_files(path, there):
        return _read_several(parts, wanted, str(path))
    wanted.refuse(str(path), _FOLDER_HINT)
    _check_no_tables(path)
    files, labels = find_images(path)
    return Input("images", files, labels, str(path))


def _partition_files(path: Path, there: Sequence[Path]) -> list[Path]:
    """Return the shards in folders named ``column=value``, if all folders are such."""
    folders = [each for each in there if each.is_dir()]
    if not folders or not all(map(is_partition, folders)):
        return []
    return sorted(each for each in path.rglob("*") if _is_visible_shard(each, path))


def _is_visible_shard(file: Path, root: Path) -> bool:
    parts = [Path(part) for part in file.relative_to(root).parts]
    return _is_shard(file) and not any(map(_is_hidden, parts))


def _is_hidden(path: Path) -> bool:
    """Return whether a file is a by-product: ``_SUCCESS``, ``.x.parquet.crc``."""
    return path.name.startswith((".", "_"))


def _check_no_tables(path: Path) -> None:
    """Refuse tables that are not shards; warn of images beside them."""
    kinds = set()
    for each in path.rglob("*"):
        if is_image(each):
            return
        kinds.add(kind_of(each))
    if kinds & SHARDS:
        raise ArgumentError(
            f"{path} holds shards in subfolders; name them by a pattern, such as "
            f"'{path}/**/*{sorted(kinds & SHARDS)[0]}'"
        )
    if kinds & STREAMED:
        raise ArgumentError(
            f"{path} holds {', '.join(sorted(kinds & STREAMED))} files, which are "
            "read one at a time; Parquet and Arrow files are read together"
        )


def _is_shard(path: Path) -> bool:
    return path.suffix.lower() in SHARDS and path.is_file()
