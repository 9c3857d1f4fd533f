"""One function that reads items from files of all formats, and from Python."""

from __future__ import annotations

import glob
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from fewbits._arrow import (
    MisfitError,
    by_name,
    converted,
    is_number,
    is_text,
    known_names,
    typed_column,
)
from fewbits._checks import check_choice
from fewbits._ids import new_ids
from fewbits._labels import as_label_names
from fewbits._lazy import pa, pc
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs._arrays import (
    BESIDE,
    BINARY,
    array_input,
    is_sparse,
    load_array,
    read_archive,
    read_binary,
    read_id_file,
    read_npy,
    read_sparse,
    read_texmex,
    read_values,
    text_lines,
)
from fewbits.inputs._columns import column_index, read_table
from fewbits.inputs._csv import has_names, read_csv, table_width
from fewbits.inputs._folders import (
    find_images,
    is_image,
    table_files,
    unreadable_named,
    without_unreadable,
)
from fewbits.inputs._input import Input, Options
from fewbits.inputs._objects import read_object
from fewbits.inputs._streams import (
    HEAD,
    is_compressed,
    kind_of,
    open_bytes,
    plain_bytes,
    refuse_other_formats,
    standard_input,
)
from fewbits.inputs._tables import (
    ARROW,
    PARQUET,
    Table,
    check_one_file,
    damage_as_error,
    open_tables,
    read_ipc,
)
from fewbits.inputs._text_files import (
    RowsByNames,
    has_word_vectors,
    read_json,
    read_json_lines,
    read_lines,
    word_vectors,
)
from fewbits.inputs._text_kinds import FILES, IMAGES, PLAIN_NUMBER


def read(
    source: Any,
    *,
    column: str | Sequence[str] | None = None,
    images: str | None = None,
    codes: str | None = None,
    label: str | None = None,
    id: str | None = None,
    ids: Any = None,
    columns: Sequence[str] | Mapping[str, Any] | None = None,
    names: Sequence[str] = (),
    skip_blank: bool = False,
    as_text: Sequence[str] = (),
    kind: str | None = None,
    types: Any = None,
    skip_unreadable: bool = False,
    default_id: str | None = None,
    as_numbers: Sequence[str] = (),
) -> Input:
    """Read items from files, standard input, or Python objects.

    Parameters
    ----------
    source : str, Path, data frame, array or list
        Also a dict of columns, a list of dicts or of paths, a RecordBatchReader, a
        dataset of pyarrow. Named levels of a pandas index are columns. A path is read
        by its ending:

        - ``.npy``, ``.npz`` (also a sparse matrix), ``.safetensors``, ``.fvecs``,
          ``.bvecs``, ``.ivecs``, ``.fbin``, ``.u8bin``, ``.i8bin``, ``.hdf5`` (extra
          ``hdf5``): vectors;
        - ``.parquet``, ``.arrow``, ``.feather``, ``.csv``, ``.tsv``, ``.jsonl``,
          ``.json`` (a list of objects): a table;
        - ``.txt``: a text, or a vector in brackets, per line; or word vectors as of
          GloVe (also ``.vec``), a table of ``word`` and ``vector``;
        - an image, or a folder of images, whose labels are the folders they lie in;
        - a folder or a pattern such as ``shards/*.parquet``: Parquet or Arrow files of
          the same columns; folders named ``year=2020`` give a column ``year``;
        - ``-``: standard input; the format is recognised by its first bytes.

        ``.csv``, ``.jsonl`` and ``.txt`` may be compressed (``.gz``, ``.zst``,
        ``.bz2``, ``.xz``), and in UTF-16 where they begin with its mark.
    column : str or sequence of str, default=None
        The column of vectors or texts of a table, or several columns of numbers, or the
        array of an archive. Without it, the only one that can be the items is taken, or
        all columns where these are numbers. A field of a struct is ``"place.city"``,
        here and below.
    images : str, default=None
        The column of paths of images, from the folder of the table's file on.
    codes : str, default=None
        The column or array of codes of one length: bytes, lists or rows of uint8,
        hexadecimal digits, or texts of 0 and 1.
    label, id : str, default=None
        Columns or arrays of labels, and of unique ids, integers from 0 on or texts;
        those of a .npy or .txt file may be in another such file.
    ids : array-like of int or str, default=None
        Ids of items that are not a table.
    columns : sequence of str, mapping or data frame, default=None
        Other columns of a table to keep with the items; None keeps all. Or columns
        beside items that are not a table, of which `label` may be one.
    names : sequence of str, default=()
        Feature columns of a table, one number each, in this order; or its column of
        texts. Ignored where a table has none of them.
    skip_blank, skip_unreadable : bool, default=False
        Leave out rows whose text or label is blank, or images that cannot be read, with
        a warning, instead of refusing them.
    as_text : sequence of str, default=()
        Columns of a CSV file that stay texts, whatever their cells are.
    kind : {"vectors", "texts", "images", "codes"}, default=None
        Where only these are of use.
    types : dict of str to str, or pyarrow.Schema, default=None
        Types of other columns, or of the ids, by the names of Arrow, such as
        ``{"zip": "string", "seen": "timestamp[us, tz=UTC]"}``.
    default_id : str, default=None
        The column of ids of a table that has it, where neither `id` nor `ids` is given.
    as_numbers : sequence of str, default=()
        Columns of a CSV file that are numbers, also where all cells are as ``1e5``.

    Returns
    -------
    Input

    Warns
    -----
    UserWarning
        When columns, rows, files or blank lines are left out.

    Raises
    ------
    ArtefactError
        When a file is not what its name says, or not UTF-8.
    ArgumentError
        When there is nothing to read, two readings are possible, numbers are written
        as texts (``1_000``, ``5%``, dates), a text is blank, a value is missing or not
        of its type, a vector not finite, an id repeats, or codes differ in length.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"sku": ["a1", "b2"], "text": ["red shoe", "blue hat"]})
    >>> items = read(table, column="text", id="sku")
    >>> items, items.ids.to_pylist()
    (Input(2 texts of the data frame), ['a1', 'b2'])
    >>> read([[1.0, 2.0]], columns={"n": [7]}).columns
    {'n': [7]}
    >>> hashes = pa.table({"hash": ["00ff", "a0a1"]})
    >>> read(hashes, codes="hash").values
    array([[  0, 255],
           [160, 161]], dtype=uint8)
    """
    if kind is not None:
        check_choice(kind, "the kind", ("vectors", "texts", "images", "codes"))
    named = {"column": column, "images": images, "codes": codes}
    if len(several := [name for name, value in named.items() if value]) > 1:
        raise ArgumentError(f"name the items once, got {'= and '.join(several)}=")
    beside = by_name(columns)
    if is_beside := isinstance(beside, Mapping):
        columns = None
    options = Options(
        (column,) if isinstance(column, str) else tuple(column or ()),
        images,
        codes,
        None if is_beside else label,
        id,
        None if columns is None else tuple(columns),
        tuple(names),
        skip_blank,
        tuple(as_text),
        kind,
        {} if types is None else _as_types(types),
        default_id if ids is None else None,
        tuple(as_numbers),
    )
    items = with_beside(
        _read(source, options),
        ids=ids,
        columns=beside if is_beside else None,
        label=label if is_beside else None,
        types=types,
        skip_unreadable=skip_unreadable,
    )
    if items.kind == "images" and items.column and not skip_unreadable:
        with unreadable_named(items):
            for path in items.values:
                if isinstance(path, str | Path) and not os.path.isfile(path):
                    raise FeatureError(f"there is no file {path}")
    may_be_blank = items.kind == "texts" or images or codes or label is not None
    if skip_blank and not may_be_blank:
        raise ArgumentError(
            f"{items.source} holds {items.kind}, of which none is blank: leave out "
            "skip_blank (on the command line --skip-blank)"
        )
    if len(items) == 0:
        raise ArgumentError(f"{items.source} holds no items")
    shape = getattr(items.labels, "shape", None)  # others are checked when learnt from
    if shape is not None and shape[0] != len(items):
        raise ArgumentError(
            f"{items.source} holds {len(items)} items and {shape[0]} labels"
        )
    return items


def with_beside(
    items: Input,
    *,
    ids: Any,
    columns: Any,
    label: str | None,
    types: Any,
    skip_unreadable: bool,
) -> Input:
    """Return items with the ids and columns that were given beside them, see `read`."""
    columns = by_name(columns)
    if ids is not None or isinstance(columns, Mapping):
        if items.ids is not None or items.columns:
            raise ArgumentError(
                "a table brings its own ids and columns: name them by id= and columns="
            )
        ids = None if ids is None else new_ids(ids)
        items = replace(items, ids=ids, columns=columns or {})
    elif columns:
        raise ArgumentError("columns beside items are a mapping of names to values")
    if label is not None:
        if label not in items.columns:
            raise ArgumentError(
                f"there is no column {label!r} beside the items: give it, as "
                f"columns={{{label!r}: [...]}}"
            )
        labels = as_label_names(items.columns[label], label)
        items = replace(items, labels=labels, label=label)
    beside = {f"entries in {name!r}": values for name, values in items.columns.items()}
    for what, values in {"ids": items.ids, **beside}.items():
        has_length = hasattr(values, "__len__") and getattr(values, "ndim", None) != 0
        if has_length and len(values) != len(items):
            raise ArgumentError(f"{len(items)} items, but {len(values)} {what}")
    if skip_unreadable:
        items = without_unreadable(items)
    return items if types is None else _with_types(items, _as_types(types))


def _read(source: Any, options: Options) -> Input:
    if isinstance(source, Input):
        plain = replace(
            options,
            columns=options.columns or None,
            types={},
            default_id=None,
            as_numbers=(),
        )
        if plain != Options():
            raise ArgumentError("items that were read bring their own columns and ids")
        return (
            source if source.ids is None else replace(source, ids=new_ids(source.ids))
        )
    is_list = isinstance(source, list | tuple)
    are_paths = is_list and all(isinstance(item, Path) for item in source)
    if are_paths and any(kind_of(path) in FILES for path in source):
        for path in source:
            _check_readable(path)
        return _read_several(list(source), options, "the list of files")
    if not isinstance(source, str | Path):
        return read_object(source, options)
    if not str(source).strip():
        raise ArgumentError("give the path of a file or folder, got an empty one")
    if str(source) == "-":
        return _read_pipe(standard_input(), options, "standard input")
    path = Path(source)
    if not path.exists() and any(letter in str(source) for letter in "*?["):
        paths = sorted(Path(name) for name in glob.glob(str(source), recursive=True))
        if not paths:
            raise FileNotFoundError(f"no file matches {source}")
        return _read_several(paths, options, str(source))
    _check_readable(path)
    if path.is_dir():
        if tables := table_files(path):
            return _read_several(tables, options, str(path))
        hint = "; the labels of images are the names of the subfolders they lie in"
        options.refuse_columns(str(path), hint)
        return Input("images", *find_images(path), str(path))
    kind = kind_of(path)
    nameless = not kind or not path.is_file()  # /dev/stdin may be a file
    if nameless and kind not in _STREAMED:
        with path.open("rb") as file:
            return _read_pipe(file, options, str(path))
    endings = FILES | IMAGES | _STREAMED
    if kind not in (_STREAMED if is_compressed(path) else endings):
        raise ArgumentError(
            f"cannot tell what {path} holds; known: a folder of images or of "
            f"Parquet files and {', '.join(sorted(endings))}"
        )
    return _read_file(path, options)


def _check_readable(path: Path) -> None:
    """Raise the system's error: a reader would report damage."""
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    if path.is_dir():
        os.listdir(path)
    elif path.is_file():  # a pipe can be opened only once
        path.open("rb").close()


def _read_several(paths: list[Path], options: Options, source: str) -> Input:
    """Read files that follow one another: tables of the same columns, or images."""
    kinds = {path.suffix.lower() for path in paths}
    if all(map(is_image, paths)):
        options.refuse_columns(source)
        return Input("images", paths, None, source)
    if not (kinds <= PARQUET or kinds <= ARROW):
        raise ArgumentError(
            f"{source} holds {', '.join(sorted(kinds))} files; several are read "
            "together if all are Parquet, all Arrow, or all images"
        )
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    return read_table(open_tables(paths), options, source, folder)


# Files, each by its ending


def _open_table(
    path: Path, options: Options, by_names: RowsByNames | None = None
) -> Table:
    kind = kind_of(path)
    if kind in PARQUET | ARROW:
        return open_tables([path])
    with open_bytes(path) as file:
        if kind in (".csv", ".tsv"):
            return Table.of(read_csv(file, str(path), options, path))
        read_rows = read_json if kind == ".json" else read_json_lines
        return Table.of(read_rows(file, str(path), by_names))


def _read_file(path: Path, options: Options) -> Input:
    kind, source = kind_of(path), str(path)
    if kind in IMAGES:
        options.refuse_columns(source)
        return Input("images", [path], None, source)
    if kind in _TABLES:
        return read_table(_open_table(path, options), options, source, path.parent)
    if kind in _ARCHIVES and not is_sparse(path):
        return read_archive(path, options)
    if kind in _LINES:
        with open_bytes(path) as lines:
            if has_word_vectors(lines.peek(HEAD)):
                return read_table(word_vectors(lines, source), options, source)
            label, id_ = _files_beside(path, options)
            items = read_lines(lines, source, options.kind)
    else:
        label, id_ = _files_beside(path, options)
        if kind in _ARCHIVES:
            items = read_sparse(path, options.kind)
        else:
            read_array = read_npy if kind == ".npy" else read_texmex
            array = (read_binary if kind in BINARY else read_array)(path)
            items = array_input(array, source, options.kind)
    if label is not None:
        labels = read_values(label, "label", BESIDE)
        what = f"labels {label.name!r} of {source}"
        items = replace(items, labels=as_label_names(labels, what))
    if id_ is not None:
        as_text = options.stays_text(str(options.id))
        items = replace(items, ids=read_id_file(id_, source, as_text))
    return items


def _files_beside(path: Path, options: Options) -> list[Path | None]:
    """Return the files of labels and of ids beside one that has no columns."""
    files = [None if x is None else Path(x) for x in (options.label, options.id)]
    for file in files:
        if file is not None and file.suffix in BESIDE and not file.exists():
            raise FileNotFoundError(f"there is no {file}")
    files = [file if file is not None and file.is_file() else None for file in files]
    hint = f"; labels and ids may lie in a file of their own, {' or '.join(BESIDE)}"
    label, id_ = (
        None if file is not None else name
        for file, name in zip(files, (options.label, options.id), strict=True)
    )
    replace(options, label=label, id=id_).refuse_columns(str(path), hint)
    return files


_LINES = {".txt", ".vec"}
_TABLES = PARQUET | ARROW | {".csv", ".tsv", ".jsonl", ".ndjson", ".json"}
_ARCHIVES = {".npz", ".hdf5", ".h5", ".safetensors"}
#: Kinds that can be read from a stream, and so from a compressed file.
_STREAMED = _LINES | {".csv", ".tsv", ".jsonl", ".ndjson", ".json"}


# Pipes, by their first bytes

_ARROW_STREAM = b"\xff\xff\xff\xff"
_JSON_ROWS = re.compile(rb"\s*\[\s*\{")


def _read_pipe(raw: IO[bytes], options: Options, source: str) -> Input:
    """Read NumPy's format, Parquet, Arrow, JSON, CSV, or a text per line.

    Text that is not JSON is CSV if a column is asked for, or if its first line names
    one that the collection was learnt from.
    """
    with plain_bytes(raw, source) as file:
        head = file.peek(HEAD)
        if head.startswith(b"\x93NUMPY"):
            options.refuse_columns(source)
            content = io.BytesIO(file.read())
            array = load_array(content, f"{source} is not an array of numbers")
            return array_input(array, source, options.kind)
        table = _piped_table(file, source)
        if table is None and has_word_vectors(head):
            table = word_vectors(file, source)
        if table is None and (options.named() or has_names(head, options.names)):
            table = Table.of(read_csv(file, source, options))
        if table is not None:
            return read_table(table, options, source)
        refuse_other_formats(head, source)
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if first.startswith((b'{"', b"{\n", b"{\r")):
            raise ArgumentError(
                f"{source} begins as JSON, but its first line is not an object: write "
                "one object on each line"
            )
        if (n_columns := table_width(head)) > 1:
            raise ArgumentError(
                f"{source} looks like a table of {n_columns} columns: name that of the "
                "items by column= (on the command line --column), or save it as .csv"
            )
        return read_lines(file, source, options.kind)


def _piped_table(
    file: io.BufferedReader, source: str, by_names: RowsByNames | None = None
) -> Table | None:
    """Return the table of Parquet, Arrow or JSON; None of what may be CSV."""
    head = file.peek(HEAD)
    if head.startswith((b"PAR1", b"ARROW1", _ARROW_STREAM)):
        from pyarrow import parquet

        content = file.read()
        with damage_as_error(source, "Parquet or Arrow"):
            check_one_file(content)
            buffer = pa.BufferReader(content)
            if not content.startswith(b"PAR1"):
                return Table.of(read_ipc(buffer, content[:6]))
            table = parquet.read_table(buffer)
            table.validate(full=True)
            return Table.of(table)
    if _JSON_ROWS.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Table.of(read_json(file, source, by_names))
    if not _is_json(head):
        return None
    return Table.of(read_json_lines(file, source, by_names))


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


# Types of columns, where the user says them

_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), *tz=(.+)\]")
_DECIMAL = re.compile(r"decimal(?:128|256)?\((\d+), *(-?\d+)\)")
_STRUCT = re.compile(r"struct<(.*)>")
_LIST = re.compile(r"(?:large_)?list<(?:item: )?(.+)>")
_EXAMPLES = (
    "string, int64, float64, bool, date32, timestamp[us, tz=UTC], decimal(10, 2)"
)


def _as_types(types: Any) -> dict[str, Any]:
    """Return types of columns by name, of a dict of names or a pyarrow.Schema."""
    if isinstance(types, pa.Schema):
        return {field.name: field.type for field in types}
    if not isinstance(types, Mapping):
        raise ArgumentError(
            "types are a mapping of columns to names of types, such as "
            f"{{'zip': 'string'}}, or a pyarrow.Schema, got {type(types).__name__}"
        )
    return {str(name): _type_of(name, kind) for name, kind in types.items()}


def _type_of(name: str, kind: Any) -> Any:
    if isinstance(kind, pa.DataType):
        return kind
    text = str(kind).strip()
    try:
        if match := _ZONED.fullmatch(text):
            return pa.timestamp(*match.groups())
        if match := _DECIMAL.fullmatch(text):
            digits, scale = map(int, match.groups())
            return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, scale)
        if match := _LIST.fullmatch(text):
            return pa.list_(_type_of(name, match[1]))
        if match := _STRUCT.fullmatch(text):
            parts = (part.partition(":") for part in split_types(match[1]))
            return pa.struct(
                [(x.strip(), _type_of(name, kind)) for x, _, kind in parts]
            )
        return pa.type_for_alias(text)
    except ValueError:
        raise ArgumentError(
            f"column {name!r} cannot be {text!r}; types have the names of Arrow, such "
            f"as {_EXAMPLES}"
        ) from None


def split_types(text: str) -> list[str]:
    """Cut ``a: int64, b: list<string>`` at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _with_types(source: Input, types: Mapping[str, Any]) -> Input:
    """Return items whose other columns, or ids, have these types."""
    columns = source.stored_columns()
    for name, kind in types.items():
        is_id = name == source.id
        if not is_id and name not in columns:
            raise ArgumentError(
                f"{source.source} has no column {name!r} that is kept, to be {kind}; "
                f"kept are {known_names(columns) or 'none'}"
            )
        column = source.ids if is_id else typed_column(columns[name])
        try:
            column = converted(column, kind)
        except MisfitError as misfit:
            value = misfit.value
            if is_text(column.type) and (is_number(kind) or pa.types.is_boolean(kind)):
                # Of texts, the first that keeps the others from being numbers.
                odd = column.filter(
                    pc.invert(pc.match_substring_regex(column, PLAIN_NUMBER))
                )
                value = odd[0].as_py() if len(odd) else value
            raise ArgumentError(
                f"column {name!r} of {source.source} holds {str(value)[:40]!r} "
                f"({column.type}), which is no {kind}"
                + f": {misfit.hint}"
                * bool(misfit.hint)
            ) from None
        if is_id:
            what = f"column {name!r} of {source.source}"
            source = replace(source, ids=new_ids(column, what))
        else:
            columns[name] = column
    typed = {name: columns[name] for name in types if name in columns}
    return replace(source, columns={**source.columns, **typed})


# Ids and columns in a file of their own


def read_columns(
    source: str | Path, as_text: Sequence[str] = (), as_numbers: Sequence[str] = ()
) -> tuple[Any, RowsByNames]:
    """Return a table that `read` takes, of a file or ``-``, as an Arrow table.

    And, of JSON, the positions of rows by the keys that they have.
    """
    path = Path(source)
    options = Options(as_text=tuple(as_text), as_numbers=tuple(as_numbers))
    by_names: RowsByNames = {}
    if str(source) == "-":
        what = "standard input"
        with plain_bytes(standard_input(), what) as file:
            table = _piped_table(file, what, by_names)
            if table is None:
                table = Table.of(read_csv(file, what, options))
    elif kind_of(path) not in _TABLES:
        raise ArgumentError(f"{path} is no table; known: {', '.join(sorted(_TABLES))}")
    else:
        table = _open_table(path, options, by_names)
    columns = {name: table.stored_column(i) for i, name in enumerate(table.names)}
    return pa.table(columns), by_names


def read_ids(source: str, column: str | None, *, texts: bool) -> list[Any]:
    """Return the ids in a file: a table, an array, or a text or ``-`` of lines."""
    path, damage = Path(source), f"{source} holds no ids"
    kind = ".txt" if source == "-" else kind_of(path)
    if kind in _TABLES:
        if column is None:
            raise ArgumentError(f"name the column of {path} with the ids by --column")
        options = Options(id=column, as_text=(column,) if texts else ())
        table = _open_table(path, options)
        ids: list[Any] = table.column(column_index(table, column, source)).to_pylist()
        if not ids:
            raise ArgumentError(damage)
        return ids
    if kind and source != "-":
        values = read_values(path, "id", (".txt", ".npy", *sorted(_TABLES)))
    else:
        file = standard_input().read() if kind else path.read_bytes()
        values = text_lines(file, damage)
    if values.ndim != 1:
        raise ArgumentError(f"{path} must hold a list of ids")
    ids = [value for value in values.tolist() if value != ""]
    if texts or kind == ".npy":
        return ids
    for text in ids:
        if not (text.isascii() and text.isdecimal()):
            raise ArgumentError(
                f"{source}: ids of this collection are integers, got {text!r}"
            )
    return [int(text) for text in ids]
