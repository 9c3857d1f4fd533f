"""``fewbits build``."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fewbits._lazy import pa
from fewbits.cli import _options as opt
from fewbits.cli._changes import print_change
from fewbits.cli._fit import Learning
from fewbits.cli._printing import counted, print_json, progress_bar, say
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.collection import Collection

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_YEAR = r"(?:1[89]|20)\d\d"
#: Dates as in 03/14/2025, 14.3.2025, 2025/3/14, 14 Mar 2025 and Mar 14, 2025.
_NOT_ISO = (
    rf"{_DAY}([./-]){_DAY}\1{_YEAR}|{_YEAR}([./]){_DAY}\2{_DAY}"
    rf"|{_DAY}[ -]{_MONTH}[ -]{_YEAR}|{_MONTH} {_DAY},? {_YEAR}"
)


def build(
    collection: opt.CollectionPath,
    items: opt.InputPath,
    column: opt.Column = None,
    images: opt.Images = None,
    codes: opt.Codes = None,
    label: opt.Label = None,
    id: opt.Id = None,
    columns: opt.Columns = None,
    types: Annotated[
        list[str] | None,
        Option(
            help="Types of columns to keep, by the names of Arrow: zip=string,"
            "price=float64 or 'seen=timestamp[us, tz=UTC]'; may be repeated."
        ),
    ] = None,
    skip_blank: opt.SkipBlank = False,
    skip_unreadable: opt.SkipUnreadable = False,
    normalize: opt.Normalize = False,
    keep_vectors: Annotated[
        str | None,
        Option(
            help="Keep the vectors too, for re-ranking, as int8 (1.25 bytes per "
            "component), float16 or float32."
        ),
    ] = None,
    index: Annotated[
        str | None,
        Option(
            help="How codes are searched, always with the same answers: auto, flat or "
            "multi-index. Default: auto."
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        Option(
            help="Take the encoder of this collection instead of learning one; with "
            "--bits only the first bits of its codes."
        ),
    ] = None,
    learner: opt.Learner = None,
    bits: opt.Bits = None,
    backbone: opt.Backbone = None,
    groups: opt.GroupColumn = None,
    sample: opt.Sample = None,
    settings: opt.Settings = None,
    kernel_map: opt.KernelMap = None,
    codebook: opt.CodebookPath = None,
    random_state: opt.RandomState = None,
    checkpoint: opt.Checkpoint = None,
    device: opt.Device = None,
    overwrite: opt.Overwrite = False,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Make a collection of INPUT: learn an encoder, encode the items, and keep them.

    Where COLLECTION has an encoder already, as after 'fewbits fit', it is used, and
    options of learning must be those by which it was learnt. Where it has rows, those
    of INPUT whose ids are new are added, and the others passed over: 'fewbits upsert'
    replaces items.

    Texts, paths of images and the columns of a table are kept beside the codes. With
    --label, a novelty radius is learnt, beyond which `search` marks a query as
    out-of-distribution: the 95th percentile of the distances of items to the nearest
    item of another class. Items of a new class that resembles known ones are not
    marked.

    Example: fewbits build dx diagnoses.csv --column text --id id --bits 256

    Example: fewbits build my-collection vectors.npy --keep-vectors int8

    Example: fewbits build hashes hashes.csv --codes phash --id path

    Example: fewbits build shorter vectors.npy --encoder my-collection --bits 64
    """
    from fewbits import inputs
    from fewbits.collection import Collection, tools

    learning = Learning(
        learner=learner,
        bits=bits,
        backbone=backbone,
        groups=groups,
        sample=sample,
        settings=settings,
        kernel_map=kernel_map,
        codebook=codebook,
        random_state=random_state,
        checkpoint=checkpoint,
        device=device,
        normalize=normalize or None,
    )
    reading: dict[str, Any] = {
        "column": column,
        "images": images,
        "codes": codes,
        "label": label,
        "id": id,
        "columns": columns or None,
        "types": _types(types) if types else None,
        "skip_blank": skip_blank,
        "skip_unreadable": skip_unreadable,
    }
    encoder_source = None if encoder is None else opt.open_at(encoder)
    if encoder_source is not None:
        learning.check_none("--encoder leaves nothing to learn")
    if not overwrite and (collection / "collection.json").exists():
        built = opt.open_at(collection)
        if encoder_source is None:
            learning.check_same(collection, built)
        else:
            ours, theirs = built.encoder, encoder_source.encoder
            if bits is not None:
                theirs = theirs.prefix(bits)
            if theirs.fingerprint != ours.fingerprint:
                one, other = (f"{x!r} {x.fingerprint[:12]}" for x in (ours, theirs))
                raise ArgumentError(
                    f"{collection} has an encoder already, {one}, not {other} of "
                    f"{encoder}: leave out --encoder, or replace the collection by "
                    "--overwrite"
                )
        if column and not built.columns and built.kind in ("images", "codes"):
            reading |= {"column": None, built.kind: column[0]}
        source = tools.read_items(built, items, **reading)
        with (
            learning.keeping_checkpoints(collection),
            progress_bar("encoding") as progress,
        ):
            n = tools.add_missing(
                built,
                source,
                keep_vectors=keep_vectors,
                index=index,
                timeout=timeout,
                progress=progress,
            )
        if n < len(built):  # some were there before
            n_there = len(source) - n
            if as_json or not n_there:
                more = {"already_there": n_there} if as_json else {}
                print_change(collection, built, as_json, added=n, **more)
                return
            are = "1 is" if n_there == 1 else f"{n_there:,} are"
            typer.echo(
                f"{collection}: added {n:,} of {counted(len(source), 'row')}: {are} "
                "there already ('fewbits upsert' replaces them); "
                f"{counted(len(built), 'item')} in all"
            )
            return
    else:
        tools.check_target(collection, overwrite=overwrite)
        n_bits = bits if encoder_source is not None else None
        with learning.keeping_checkpoints(collection):
            if encoder_source is not None:
                source = tools.read_queries(encoder_source, items, **reading)
            else:
                if columns and groups:
                    reading["columns"] = list(dict.fromkeys([*columns, groups]))
                source = inputs.read(items, **reading)
                if source.kind == "codes":
                    learning.check_none("codes exist already")
                    n_bits = bits
                else:
                    encoder_source = learning.run(source, collection)
            with progress_bar("encoding") as progress:
                built = Collection.create(
                    collection,
                    source,
                    encoder=encoder_source,
                    bits=n_bits,
                    keep_vectors=keep_vectors,
                    index=index or "auto",
                    overwrite=overwrite,
                    progress=progress,
                )
    if as_json:
        print_json({"collection": str(collection), **built.summary()})
        return
    typer.echo(f"{collection}: {len(source):,} items of {built.encoder.n_bits} bits")
    if learning.options():
        learning.tell(built)
    for note in _notes_on_times(built):
        say(f"note: {note}")
    if source.likely_id:
        option = shlex.join(["--id", source.likely_id])
        say(f"note: ids are row numbers; {option} takes yours")
    if column is None and built.facts.feature_names is None:
        column = [*source.names]  # search takes ids for features
        column += [source.column] if source.column else []
    options: dict[str, Any] = {"--input": items, "--column": column, "-k": 3}
    words: list[Any] = []
    if source.kind == "codes":
        options = {"--ids": built.ids[0], "-k": 3}
    elif source.kind != "vectors":
        words, options = ["what you look for"], {}
        if source.kind == "images":
            words = [source.values[0]]
    then = opt.command_line("search", collection, *words, **options)
    typer.echo(f"next: {then}")


def _types(types: list[str]) -> dict[str, str]:
    """Turn ``["zip=string,n=decimal(10, 2)"]`` into types of columns."""
    from fewbits.inputs import split_types

    parsed = {}
    for part in split_types(",".join(types)):
        name, _, kind = part.partition("=")
        if not (name.strip() and kind.strip()):
            raise ArgumentError(f"types look like name=type, got {part!r}")
        parsed[name.strip()] = kind.strip()
    return parsed


def _notes_on_times(built: "Collection") -> Iterator[str]:
    """Yield what to do about columns whose first texts are all days, or times."""
    from fewbits._arrow import is_text

    texts = [field.name for field in built.schema if is_text(field.type)]
    names = [x for x in built.columns if x in texts and x != built.facts.item_column]
    if not names or not len(built):
        return
    first = next(built.batches(names)).slice(0, 1000)
    kinds = {
        "date32": pa.date32(),
        "timestamp[us]": pa.timestamp("us"),
        "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
    }
    for name in names:
        values = [value for value in first[name].to_pylist() if value]
        if values and all(re.fullmatch(_NOT_ISO, value) for value in values):
            option = shlex.join(["--types", f"{name}=date32"])
            yield (
                f"{name} holds dates such as {values[0]} as texts, which < and > "
                "compare letter by letter; write them as 2025-03-14, and build with "
                f"{option}"
            )
        for kind, type in kinds.items() if values else ():
            with suppress(pa.ArrowInvalid):
                pa.array(values, pa.string()).cast(type)
                what = "dates" if kind == "date32" else "times"
                option = shlex.join(["--types", f"{name}={kind}"])
                yield f"{name} holds {what} as texts; {option} reads them as {what}"
                break
