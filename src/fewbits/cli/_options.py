"""Options that several commands share, and how they print."""

import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from fewbits.cli._printing import clean
from fewbits.cli._printing import print_hits as print_hits
from fewbits.cli._printing import print_json as print_json
from fewbits.cli._printing import print_table as print_table
from fewbits.cli._printing import say as say
from fewbits.errors import ArgumentError

#: What Python prints, and JSON spells otherwise.
_PYTHONS = {"True": True, "False": False, "None": None}

PAUSE = 60.0  #: Seconds between lines on progress where there is no terminal.

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
        help="Column of texts or vectors in a table, or array of a .npz or .hdf5 file; "
        "several times for columns that hold a number of each vector.",
    ),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Column or array that holds the labels; for a .npy or .txt file, another "
        "one with a label for each item. Images in subfolders need none: the names of "
        "these are their labels.",
    ),
]
SkipBlank: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-blank",
        help="Leave out rows of a table whose text is blank or missing; they are "
        "refused when not given.",
    ),
]
Filter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--filter",
        help="Which items may be found, as in SQL: \"category = 'x' and year > 2020\", "
        '"bit(12) = 1" for a bit (see inspect).',
    ),
]
AsJson: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print JSON for programs: one document, or one on a line for each item.",
    ),
]


def read_for(
    bundle: Any,
    path: str,
    column: Sequence[str] | None = None,
    labels: str | None = None,
    **options: Any,
) -> Any:
    """Read items and check that they are of the kind that the bundle takes.

    Of a table whose numbers lie side by side those columns that it was fitted to. For
    `options` see `fewbits.inputs.read`.
    """
    from fewbits import inputs

    names = bundle.metadata.feature_names or ()
    source = inputs.read(
        path, column=column, label_column=labels, names=names, **options
    )
    return bundle.checked_kind(source)


def typed_items(bundle: Any, path: Path, typed: Sequence[str]) -> list[Any]:
    """Return items that were typed: texts, or paths of images."""
    if typed and bundle.backbone is None:
        raise ArgumentError(
            f"{path} searches vectors, which cannot be typed: use --input FILE.npy, or "
            "an id where the command takes one"
        )
    if bundle.item_kind != "images":
        from fewbits.inputs import check_texts

        _check_unicode(typed)
        check_texts(typed, "the command line")
        for text in filter(os.path.isfile, typed):
            typer.echo(f"note: {text!r} is taken as a text; --input reads it", err=True)
        return list(typed)
    for name in typed:
        if Path(name).is_dir():
            raise ArgumentError(f"{name} is a folder: use --input {shlex.quote(name)}")
        if not Path(name).is_file():
            raise FileNotFoundError(f"there is no file {name!r}")
    return [Path(name) for name in typed]


def typed_ids(bundle: Any, typed: Sequence[str]) -> list[Any]:
    """Return ids of the collection that were typed: numbers, where its ids are."""
    if bundle.collection.ids.dtype == object:
        return list(typed)
    for text in typed:
        if not text.isascii() or not text.isdecimal():
            raise ArgumentError(
                f"ids of this collection are whole numbers, got {text!r}"
            )
    return [int(text) for text in typed]


def _check_unicode(typed: Sequence[str]) -> None:
    """Refuse texts whose bytes are no UTF-8: Python hides them in half characters."""
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
    """Refuse a file that cannot be written, or whose loss nobody wants.

    One that is there is replaced if `is_one` says that it is of the same kind.
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
    """Return a command to type next, called as this one was.

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
        if each is not None
    ]
    parts = [called if by_path else "fewbits", *words, *chain.from_iterable(given)]
    return shlex.join(map(str, parts))


def comparison_table(rows: Sequence[Any], k: int) -> tuple[list[str], list[list[str]]]:
    """Return header and cells of a table of `fewbits.evaluation.Comparison`."""
    header = ["kept as", "bytes each", f"recall@{k}", "re-ranked", "queries/s"]
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


@contextmanager
def progress_bar(label: str, *, foretell: bool = True) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error while ``update(done, total, note="")`` is called.

    Where that is no terminal, a line once a minute. Steps that take now this and now
    that long tell nothing of the time that is left: without `foretell` the time that
    has gone is shown, and the note behind it, as far as there is room.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column as Cells

    columns = [
        TextColumn("{task.description}"),
        BarColumn(40 if foretell else 10),
        MofNCompleteColumn(),
        TimeRemainingColumn() if foretell else TimeElapsedColumn(),
    ]
    if not foretell:
        rest = Cells(ratio=1, no_wrap=True)
        note = TextColumn("{task.fields[note]}", markup=False, table_column=rest)
        columns.append(note)
    console = Console(stderr=True)
    if not console.is_terminal:  # a bar in a log file is noise
        yield _now_and_then(label)
        return
    shown = Progress(*columns, console=console, transient=True, expand=not foretell)
    with shown as bar:
        task = bar.add_task(label, total=None, note="")

        def update(done: int, total: int, note: str = "") -> None:
            text = f"{label}, {note}" if note and foretell else label
            bar.update(task, completed=done, total=total, description=text, note=note)

        yield update


def _now_and_then(label: str) -> Callable[..., None]:
    due = time.monotonic() + PAUSE

    def update(done: int, total: int, note: str = "") -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + PAUSE
            text = f"{label}, {note}" if note else label
            typer.echo(f"fewbits: {text}: {done:,} of {total:,}", err=True)

    return update


def annotated(
    progress: Callable[..., None],
) -> tuple[Callable[[int, int], None], Callable[[str], None]]:
    """Return what tells a bar how far something is, and what gives it the note."""
    note = ""

    def keep(text: str) -> None:
        nonlocal note
        note = text

    return lambda done, total: progress(done, total, note), keep


@contextmanager
def learning_reports_to(progress: Callable[..., None]) -> Iterator[None]:
    """Drive a progress bar by the iterations of whatever is fitted in the block."""
    from fewbits.learners import on_progress

    tell, notes = annotated(progress)
    with on_progress(lambda done, total, _: tell(done, total), notes):
        yield


def place_of(
    device: str | None, methods: Sequence[str]
) -> AbstractContextManager[None]:
    """Return where torch computes, if any of the methods has use for it.

    No methods are all of them; what is none is told elsewhere.
    """
    from fewbits import learners
    from fewbits.training import DEVICE_METHODS, METHODS

    if device is None:
        return nullcontext()
    if methods and {*methods} <= {*METHODS}.difference(DEVICE_METHODS):
        needed = f"{', '.join(DEVICE_METHODS)} or a deep method"
        check_unused({"--device": device}, f"{needed}, not {', '.join(methods)}")
    return learners.on_device(device)


def check_unused(options: Mapping[str, Any], needed: str) -> None:
    """Refuse options that nothing would use: whoever gave them expects something."""
    for option, value in options.items():
        if value is not None:
            raise ArgumentError(f"{option} needs {needed}")


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Turn ``["density=0.05", "solver=iterative"]`` into parameters.

    Examples
    --------
    >>> parse_settings(["density=.05", "solver=iterative", "verbose=True"])
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
    if text in _PYTHONS:  # as the messages of learners have it
        return _PYTHONS[text]
    for read in (json.loads, float):  # JSON has no .5
        with suppress(ValueError):
            return read(text)
    return text
