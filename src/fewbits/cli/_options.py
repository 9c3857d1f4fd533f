"""Options that several commands share, and what is read by them."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from fewbits.cli._printing import clean
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.collection import Collection

#: Words that are values in any case; messages of learners spell them as Python does.
_WORDS = {"true": True, "false": False, "none": None, "null": None}

Json = Annotated[bool, Option("--json", help="Print JSON.")]
JsonLines = Annotated[
    bool, Option("--json", help="Print a line of JSON for each query, item or group.")
]

# Collections and what is read into them.

CollectionPath = Annotated[
    Path,
    Argument(metavar="COLLECTION", help="Folder of a collection, see 'fewbits build'."),
]
InputPath = Annotated[
    str,
    Argument(
        metavar="INPUT",
        help="Vectors (.npy, .npz, .fvecs, .hdf5), a table (.parquet, .arrow, .csv, "
        ".tsv, .jsonl), texts (.txt), an image, a folder of images or of Parquet "
        "files, a pattern in quotes ('shards/*.parquet'), or - for standard input.",
    ),
]
_COLUMN = (
    "Column of a table with texts or vectors, or array of a .npz or .hdf5 file. Repeat "
    "it for vectors with one component per column. Default: "
)
Column = Annotated[
    list[str] | None, Option(help=_COLUMN + "the only one that can be it.")
]
RowColumn = Annotated[
    list[str] | None, Option(help=_COLUMN + "the one that COLLECTION was built with.")
]
Images = Annotated[str | None, Option(help="Column of a table with paths of images.")]
Codes = Annotated[
    str | None, Option(help="Column or array with codes that exist already.")
]
Label = Annotated[
    str | None,
    Option(
        help="Column or array with the labels; for a .npy or .txt file, another such "
        "file. Images have the names of their subfolders."
    ),
]
Id = Annotated[
    str | None,
    Option(
        help="Column of a table with unique ids: whole numbers or texts; for a .npy or "
        ".txt file, another such file with an id per item. Default: the column that "
        "the collection has, or paths of images, or row numbers."
    ),
]
IgnoredId = Annotated[
    str | None, Option(help="Column of a table with the ids; not a feature.")
]
Columns = Annotated[
    list[str] | None,
    Option(help="Columns of a table to keep: title,year. Default: all."),
]
Normalize = Annotated[
    bool,
    Option(
        "--normalize", help="Bring all vectors to length 1: nearness by angle (cosine)."
    ),
]
SkipBlank = Annotated[
    bool, Option("--skip-blank", help="Leave out rows whose text or label is blank.")
]
SkipUnreadable = Annotated[
    bool, Option("--skip-unreadable", help="Leave out images that are damaged.")
]
Overwrite = Annotated[
    bool, Option("--overwrite", help="Replace what is there, an encoder too.")
]
Timeout = Annotated[
    float | None,
    Option(
        min=0,
        help="Seconds to wait while another process writes to COLLECTION. Default: as "
        "long as it takes.",
    ),
]

# Questions.

Source = Annotated[
    str | None,
    Option("--input", "-i", help="File or folder of items, in place of typed ones."),
]
Ids = Annotated[
    list[str] | None,
    Option("--ids", "--id", help="Id of an item of the collection; may be repeated."),
]
QueryCodes = Annotated[
    list[str] | None, Option(help="Code in hexadecimal digits; may be repeated.")
]
QueryVectors = Annotated[
    str | None, Option(help="File of features, as the backbone makes them.")
]
At = Annotated[
    str | None, Option(help="Version to read, by number or name. Default: the newest.")
]
Neighbours = Annotated[int, Option("--k", "-k", help="Neighbours per query.")]
Filter = Annotated[
    str | None,
    Option(
        help="Look only at items that meet an SQL-like condition, such as "
        '"category = \'x\' and year > 2020", or "bit(12) = 1" for a bit of the code.'
    ),
]
Allowed = Annotated[
    list[str] | None, Option(help="Id of an item that may be found; may be repeated.")
]
HitColumns = Annotated[
    list[str] | None,
    Option(help="Columns of the results: title,year. Default: all."),
]
Seed = Annotated[int, Option(help="Seed of what is drawn.")]

# Learning.

Learner = Annotated[
    str | None,
    Option(
        "--learner",
        "-m",
        help="itq, block-itq, sp, additive, neighbours, fast-neighbours, bp, cbe, "
        "hadamard, lsh, pcah, sh, bre or threshold; with labels cca-itq, "
        "supervised-itq, classemes, picodes, picodes-relaxed, dbc or ecoc; with "
        "labels and torch llc, deep-supervised-itq, csq, dbdh, dch, dsdh, "
        "greedyhash, hashnet or orthohash; packed for vectors that are binary "
        "codes already. See 'fewbits methods'. Default: itq.",
    ),
]
Bits = Annotated[
    int | None,
    Option(
        "--bits",
        "-b",
        help="Number of bits per code, from 1 to 65,536. Default: 64, or 256 for "
        "texts by methods that learn without labels; threshold, pcah, classemes and "
        "llc choose by themselves.",
    ),
]
Backbone = Annotated[
    str | None,
    Option(
        help="Model that turns texts or images into features. Default: one for "
        "the kind of items."
    ),
]
GroupColumn = Annotated[
    str | None,
    Option(
        help="Column of a table that is the same for copies of one item, such as "
        "frames of a video, which 'classify --max-false-reject-rate' must know. For "
        "deep methods."
    ),
]
Sample = Annotated[
    int | None,
    Option(help="Learn from so many random rows; tens of thousands are enough."),
]
Settings = Annotated[
    list[str] | None,
    Option(
        "--set",
        help="Setting of the method, such as density=0.05 or "
        "training.learning_rate=0.001; may be repeated. 'fewbits methods METHOD' "
        "lists them.",
    ),
]
KernelMap = Annotated[
    str | None,
    Option(
        help="Approximate a kernel for non-negative features such as histograms: "
        "intersection, chi2 or js."
    ),
]
CodebookPath = Annotated[
    Path | None,
    Option(
        help="Class codes for llc: a collection with codes of the same classes, or a "
        ".json tree of the classes (see 'fewbits inspect --tree') to make codes from."
    ),
]
RandomState = Annotated[int | None, Option(help="Random seed. Default: 0.")]
Checkpoint = Annotated[
    Path | None,
    Option(
        help="File to save progress to: after an interruption the same command "
        "resumes from it. For iterative methods."
    ),
]
Device = Annotated[
    str | None,
    Option(
        help="Device of torch: cuda, cpu, or auto for a GPU if there is one. "
        "For deep methods, neighbours and fast-neighbours, and for large matrix "
        "products of itq, block-itq, sp, additive, pcah, cca-itq, supervised-itq, "
        "sh, classemes, picodes, picodes-relaxed, dbc and ecoc."
    ),
]


# Queries.


def read_query(
    collection: "Collection",
    argument: str,
    typed: Sequence[str] | None,
    source: str | None,
    column: Sequence[str] | None,
    ids: Sequence[str] | None,
    codes: Sequence[str] | None,
    vectors: str | None,
    skip_blank: bool,
) -> tuple[str, Any, Sequence[str]]:
    """Return what is asked about: its argument, its values, and names for the answers.

    `argument` is that of items of the collection's own kind: queries or items.
    """
    check_unread(source, column, skip_blank)
    if [*map(bool, (typed, source, ids, codes, vectors))].count(True) != 1:
        others = "--input, --ids, --codes and --vectors"
        raise ArgumentError(f"give either {argument} or one of {others}")
    values: Any
    if ids:
        values = typed_ids(collection, ids)
        return "ids", values, [str(value) for value in values]
    if codes:
        return "codes", codes, codes
    if vectors:
        argument, values = "vectors", read_vectors(vectors)
    elif source:
        from fewbits.collection import tools

        items = tools.read_queries(collection, source, column, skip_blank=skip_blank)
        values = items.values
        if items.kind in ("texts", "images"):
            return argument, values, [str(value) for value in values]
    else:
        values = typed_items(collection, typed or ())
        return argument, values, [str(value) for value in values]
    noun = "query" if argument == "queries" else "item"
    return argument, values, [f"{noun} {i}" for i in range(len(values))]


def check_unread(
    source: str | None, column: Sequence[str] | None, skip_blank: bool = False
) -> None:
    """Refuse options about a file where items are typed."""
    if source is None:
        options = {"--column": column or None, "--skip-blank": skip_blank}
        check_unused(options, "--input, it is about a file")


def open_at(path: Path, at: str | None = None) -> "Collection":
    """Return a collection, or one version of it."""
    from fewbits.collection import Collection

    newest = Collection.open(path)
    return newest if at is None else newest.at(int(at) if at.isdecimal() else at)


def read_vectors(path: str) -> Any:
    """Read the matrix of ``--vectors``."""
    from fewbits import inputs

    source = inputs.read(path, columns=())
    if source.kind != "vectors":
        raise ArgumentError(f"--vectors needs vectors, but {path} holds {source.kind}")
    return source.values


def typed_items(
    collection: "Collection", typed: Sequence[str], by_id: str = "--ids"
) -> list[Any]:
    """Return typed texts, or paths of images; a note names the option for an id."""
    from fewbits.collection import tools

    def is_id(text: str) -> bool:
        try:
            return tools.parse_id(collection, text) in collection
        except ArgumentError:  # ids are numbers, and this is none
            return False

    if typed and collection.backbone is None:
        hint = "use --input FILE.npy, or an id where the command takes one"
        if Path(typed[0]).exists():
            hint = f"use --input {shlex.quote(typed[0])}"
        elif is_id(typed[0]):
            hint = f"for the item of this id, use {shlex.join([by_id, typed[0]])}"
        raise ArgumentError(
            f"{collection.path} takes {collection.kind}, which cannot be typed: {hint}"
        )
    if collection.kind == "images":
        for name in typed:
            if Path(name).is_dir():
                hint = f"use --input {shlex.quote(name)}"
                raise ArgumentError(f"{name} is a folder: {hint}")
            if not Path(name).is_file():
                hint = ": pictures are searched by pictures"
                hint = f"; {by_id} takes ids" if is_id(name) else hint
                raise FileNotFoundError(f"there is no file {name!r}{hint}")
        return [Path(name) for name in typed]
    for text in typed:
        try:
            text.encode()
        except UnicodeEncodeError:  # Python reads other bytes as lone surrogates
            raise ArgumentError(f"a text must be UTF-8, got {clean(text)}") from None
        hint = ""
        if os.path.isfile(text):
            hint = "to read the file, use --input"
        elif " " not in text and is_id(text):
            hint = f"for the item of this id, use {shlex.join([by_id, text])}"
        if hint:
            typer.echo(f"note: {text!r} is taken as a text; {hint}", err=True)
    return list(typed)


def typed_ids(collection: "Collection", ids: Sequence[str]) -> list[Any]:
    """Return ids from the command line as the collection has them.

    One that is not there may be several with commas between them.
    """
    from fewbits.collection import tools

    typed = []
    for text in ids:
        parts = [text]
        if "," in text:
            parts = [part.strip() for part in text.split(",")]
            if collection.has_text_ids and (
                text in collection or not any(part in collection for part in parts)
            ):
                parts = [text]
        typed += [tools.parse_id(collection, part) for part in parts]
    return typed


# What is written, and what is not used.


def check_output(
    output: Path,
    suffix: str,
    what: str,
    is_one: Callable[[Path], bool] = lambda _: True,
) -> None:
    """Refuse a file that cannot be written, or that is not to be replaced."""
    folder = output.absolute().parent
    if not folder.is_dir():
        raise ArgumentError(f"there is no folder {output.parent} for {output.name}")
    if output.is_dir():
        raise ArgumentError(f"{output} is a folder; name a file")
    if output.exists() and not output.is_file():
        return  # a device or a pipe
    if output.suffix != suffix:
        raise ArgumentError(f"{what} are written to a {suffix} file, got {output}")
    if (folder / "collection.json").exists():
        raise ArgumentError(f"{output.parent} is a collection; write {what} elsewhere")
    if output.is_file() and output.stat().st_size and not is_one(output):
        raise ArgumentError(f"{output} exists and holds no {what}; name another file")


def check_unused(options: Mapping[str, Any], needed: str) -> None:
    """Refuse options that would be ignored; None and False are none."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise ArgumentError(f"{option} needs {needed}")


def command_line(*words: Any, **options: Any) -> str:
    """Return a command to run next, called as this one was; True stands for a flag."""
    called, program = Path(sys.argv[0]), ["fewbits"]
    if called.parts[-2:] == ("fewbits", "__main__.py"):
        program = ["python", "-m", "fewbits"]
    elif called.name == "fewbits" and shutil.which("fewbits") is None:
        program = [str(called)]
    typed = [*program, *words]
    for name, value in options.items():
        for entry in value if isinstance(value, list) else [value]:
            if entry is not None and entry is not False:
                typed += [name] if entry is True else [name, entry]
    return shlex.join(map(str, typed))


# Settings of methods.


def on_device(
    device: str | None, methods: Sequence[str]
) -> AbstractContextManager[None]:
    """Return a context that sets the device of torch, if one of the methods uses it."""
    from fewbits import learners
    from fewbits.training import DEVICE_METHODS, METHODS

    if device is None:
        return nullcontext()
    if methods and {*methods} <= {*METHODS}.difference(DEVICE_METHODS):
        raise ArgumentError(
            f"--device needs {', '.join(DEVICE_METHODS)} or a deep method, not "
            f"{', '.join(methods)}"
        )
    return learners.fitting.on_device(device)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Turn ``["density=.05", "solver=iterative", "verbose=TRUE"]`` into parameters."""
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
