"""Options and helpers that several commands share."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from fewbits.cli._printing import clean
from fewbits.cli._printing import print_hits as print_hits
from fewbits.cli._printing import print_json as print_json
from fewbits.cli._printing import print_results as print_results
from fewbits.cli._printing import print_table as print_table
from fewbits.cli._printing import say as say
from fewbits.errors import ArgumentError

#: Words that are values in any case; messages of learners spell them as Python does.
_WORDS = {"true": True, "false": False, "none": None, "null": None}

InputPath: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="Vectors (.npy, .npz, .fvecs, .hdf5), a table (.parquet, .arrow, .csv, "
        ".tsv, .jsonl), texts (.txt), an image, a folder of images or of Parquet "
        "files, a pattern in quotes ('shards/*.parquet'), or - for standard input.",
    ),
]
BundlePath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="BUNDLE", help="A folder made by 'fewbits fit'.")
]
Column: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Column of a table with texts or vectors, or array of a .npz or .hdf5 "
        "file. Repeat it for vectors with one component per column.",
    ),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Column or array with the labels; for a .npy or .txt file, another such "
        "file with a label per item. Images in subfolders are labelled by the names "
        "of the subfolders.",
    ),
]
SkipBlank: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-blank",
        help="Leave out rows of a table whose text or label is blank or missing, "
        "instead of refusing the table.",
    ),
]
Filter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--filter",
        help="Search only items that meet an SQL-like condition, such as "
        '"category = \'x\' and year > 2020", or "bit(12) = 1" for a bit of the code.',
    ),
]
RowColumn: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Column of a table with texts or vectors, or array of a .npz or .hdf5 "
        "file. Repeat it for vectors with one component per column. Default: the one "
        "with texts that `build` was given, or the only one with vectors.",
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of a table with the ids. Default: the one that `build` was given.",
    ),
]
NoFeature: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", help="Column of a table with the ids; not a feature."),
]
Wait: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--wait",
        min=0,
        help="Seconds to wait while another process writes to BUNDLE. Default: as long "
        "as it takes.",
    ),
]


def json_option(help: str) -> Any:
    """Return the option ``--json`` of a command, which says what it prints."""
    return typer.Option("--json", help=help)


def check_unread(
    source: str | None, column: Sequence[str] | None, skip_blank: bool
) -> None:
    """Refuse options about a file where items are typed."""
    if source is None:
        options = {"--column": column or None, "--skip-blank": skip_blank or None}
        check_unused(options, "--input, it is about a file")


def read_for(
    bundle: Any,
    path: str,
    column: Sequence[str] | None = None,
    labels: str | None = None,
    **options: Any,
) -> Any:
    """Read items and check that they are of the kind that the bundle takes.

    From a table with one component per column, read the columns that the bundle was
    fitted to; from one with texts, the column that its collection is from. For
    `options` see `fewbits.inputs.read`.
    """
    from fewbits import inputs

    known = bundle.metadata
    names = known.feature_names or ()
    if bundle.item_kind == "texts" and known.raw_column is not None:
        names = (known.raw_column,)
    source = inputs.read(
        path,
        column=column,
        label=labels,
        names=names,
        kind=None if bundle.item_kind == "codes" else bundle.item_kind,
        **{"columns": (), **options},
    )
    return bundle.checked_kind(source)


def read_rows(
    bundle: Any,
    path: str,
    column: Sequence[str] | None,
    labels: str | None,
    id_column: str | None,
    skip_blank: bool,
) -> Any:
    """Read new rows of a collection, whose columns are named as those it has."""
    from fewbits._arrow import is_text

    known, items = bundle.metadata, bundle.collection
    if column is None and known.raw_column in items.columns:
        column = [known.raw_column]
    id_column = id_column or known.id_column
    # A few rows of a CSV file may hold numbers alone where the collection has texts.
    texts = [each.name for each in items.schema if is_text(each.type)]
    if id_column is not None and items.has_text_ids:
        texts.append(id_column)
    return read_for(
        bundle,
        path,
        column,
        labels,
        id=id_column,
        columns=None,
        skip_blank=skip_blank,
        as_text=texts,
    )


def typed_items(bundle: Any, path: Path, typed: Sequence[str]) -> list[Any]:
    """Return items from the command line: texts, or paths of images."""
    if typed and bundle.backbone is None:
        raise ArgumentError(
            f"{path} takes vectors, which cannot be typed: use --input FILE.npy, or "
            "an id where the command takes one"
        )
    if bundle.item_kind != "images":
        from fewbits.inputs import check_texts

        _check_unicode(typed)
        check_texts(typed, "the command line")
        for text in filter(os.path.isfile, typed):
            typer.echo(
                f"note: {text!r} is taken as a text; to read the file, use --input",
                err=True,
            )
        return list(typed)
    for name in typed:
        if Path(name).is_dir():
            raise ArgumentError(f"{name} is a folder: use --input {shlex.quote(name)}")
        if not Path(name).is_file():
            raise FileNotFoundError(f"there is no file {name!r}")
    return [Path(name) for name in typed]


def typed_ids(bundle: Any, typed: Sequence[str]) -> list[Any]:
    """Return ids from the command line, as integers if the collection's are."""
    if bundle.collection.has_text_ids:
        return list(typed)
    for text in typed:
        if not text.isascii() or not text.isdecimal():
            raise ArgumentError(f"ids of this collection are integers, got {text!r}")
    return [int(text) for text in typed]


def _check_unicode(typed: Sequence[str]) -> None:
    """Refuse texts that are not UTF-8, which Python reads as lone surrogates."""
    for text in typed:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ArgumentError(f"a text must be UTF-8, got {clean(text)}") from None


def check_output(
    output: Path,
    suffix: str,
    what: str,
    is_one: Callable[[Path], bool] = lambda _: True,
) -> None:
    """Refuse a file that cannot be written, or one of another kind.

    An existing file is replaced if `is_one` returns True for it.
    """
    folder = output.absolute().parent
    if not folder.is_dir():
        raise ArgumentError(f"there is no folder {output.parent} for {output.name}")
    if output.is_dir():
        raise ArgumentError(f"{output} is a folder; name a file")
    if output.exists() and not output.is_file():
        return  # a device or a pipe
    if output.suffix != suffix:
        raise ArgumentError(f"{what} are written to a {suffix} file, got {output}")
    if (folder / "bundle.json").exists():
        raise ArgumentError(f"{output.parent} is a bundle; write {what} elsewhere")
    if output.is_file() and output.stat().st_size and not is_one(output):
        raise ArgumentError(f"{output} exists and holds no {what}; name another file")


def command_line(*words: Any, **options: Any) -> str:
    """Return a command to run next, called as this one was.

    Options that are None or False are left out; True stands for a flag.

    Examples
    --------
    >>> command_line("build", "my b", "t.csv", **{"--column": "text", "--labels": None})
    "fewbits build 'my b' t.csv --column text"
    """
    called = Path(sys.argv[0])
    by_path = called.name == "fewbits" and shutil.which("fewbits") is None
    given = [
        (name, each)
        for name, value in options.items()
        for each in (value if isinstance(value, list) else [value])
        if each is not None and each is not False
    ]
    typed = [[name] if each is True else [name, each] for name, each in given]
    parts = [called if by_path else "fewbits", *words, *chain.from_iterable(typed)]
    return shlex.join(map(str, parts))


def comparison_table(rows: Sequence[Any], k: int) -> tuple[list[str], list[list[str]]]:
    """Return header and cells of a table of `fewbits.evaluation.Comparison`."""
    header = ["stored as", "bytes each", f"recall@{k}", "re-ranked", "queries/s"]
    cells = [
        [
            row.name,
            f"{row.bytes_per_item:,}",
            f"{row.recall:.3f}",
            "-" if row.recall_reranked is None else f"{row.recall_reranked:.3f}",
            f"{row.queries_per_second:,.0f}",
        ]
        for row in rows
    ]
    return header, cells


def place_of(
    device: str | None, methods: Sequence[str]
) -> AbstractContextManager[None]:
    """Return a context that sets the device of torch, if any of the methods uses it.

    No methods means all of them; unknown methods are refused elsewhere.
    """
    from fewbits import learners
    from fewbits.training import DEVICE_METHODS, METHODS

    if device is None:
        return nullcontext()
    if methods and {*methods} <= {*METHODS}.difference(DEVICE_METHODS):
        needed = f"{', '.join(DEVICE_METHODS)} or a deep method"
        check_unused({"--device": device}, f"{needed}, not {', '.join(methods)}")
    return learners.fitting.on_device(device)


def check_unused(options: Mapping[str, Any], needed: str) -> None:
    """Refuse options that would be ignored."""
    for option, value in options.items():
        if value is not None:
            raise ArgumentError(f"{option} needs {needed}")


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Turn ``["density=0.05", "solver=iterative"]`` into parameters.

    Examples
    --------
    >>> parse_settings(["density=.05", "solver=iterative", "verbose=TRUE"])
    {'density': 0.05, 'solver': 'iterative', 'verbose': True}
    """
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ArgumentError(f"settings look like name=value, got {setting!r}")
        if name.strip() in parsed:
            raise ArgumentError(f"{name.strip()} is set twice")
        parsed[name.strip()] = _value(value.strip())
    return parsed


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (json.loads, float):  # JSON has no .5
        with suppress(ValueError):
            return read(text)
    return text
