"""``fewbits build``."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change
from fewbits.cli._fit import Learning
from fewbits.cli._printing import counted, print_json, progress_bar, say
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.collection import Collection
    from fewbits.inputs import Input


def build(
    collection: opt.CollectionPath,
    items: opt.InputPath,
    column: opt.Column = None,
    images: opt.Images = None,
    codes: opt.Codes = None,
    label: opt.Label = None,
    id: opt.Id = None,
    columns: opt.Columns = None,
    types: opt.Types = None,
    skip_blank: opt.SkipBlank = False,
    skip_unreadable: opt.SkipUnreadable = False,
    normalize: opt.Normalize = False,
    keep_vectors: Annotated[
        str | None,
        typer.Option(
            help="Keep the vectors too, for re-ranking, as int8 (one byte per "
            "component), float16 or float32."
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="How codes are searched, always with the same answers: auto, flat or "
            "multi-index. Default: auto."
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
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
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace what COLLECTION holds, its encoder included."
        ),
    ] = False,
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
    from fewbits.collection import Collection

    learning = Learning(
        learner,
        bits,
        backbone,
        groups,
        sample,
        tuple(settings or ()),
        kernel_map,
        codebook,
        random_state,
        checkpoint,
        device,
        normalize or None,
    )
    named: dict[str, Any] = {
        "column": column,
        "images": images,
        "codes": codes,
        "label": label,
        "id": id,
        "columns": columns or None,
        "types": opt.parse_types(types),
        "skip_blank": skip_blank,
        "skip_unreadable": skip_unreadable,
    }
    if not overwrite and (collection / "collection.json").exists():
        built = Collection.open(collection)
        if encoder is None:
            learning.check_same(collection, built)
        else:
            learning.check_none("--encoder leaves nothing to learn")
            _check_same_encoder(collection, built, encoder, bits)
        if column and not built.columns and built.kind in ("images", "codes"):
            named |= {"column": None, built.kind: column[0]}
        source = built.read_items(items, **named)
        with learning.kept(collection), progress_bar("encoding") as progress:
            n = built.add_missing(
                source,
                keep_vectors=keep_vectors,
                index=index,
                timeout=timeout,
                progress=progress,
            )
        if n < len(source) or n < len(built):
            _print_added(collection, built, as_json, n, len(source) - n)
            return
    else:
        Collection.check_target(collection, overwrite=overwrite)
        source, built = _built(
            collection,
            items,
            named,
            encoder,
            learning,
            keep_vectors=keep_vectors,
            index=index or "auto",
            overwrite=overwrite,
        )
    if as_json:
        print_json({"collection": str(collection), **built.summary()})
        return
    typer.echo(f"{collection}: {len(source):,} items of {built.encoder.n_bits} bits")
    if learning.options():
        learning.tell(built)
    if source.likely_id:
        option = shlex.join(["--id", source.likely_id])
        say(f"note: ids are row numbers; {option} takes yours")
    if column is None and built.facts.feature_names is None:
        column = [*source.names]  # search takes ids for features
    if source.kind == "texts":
        then = opt.command_line("search", collection, "what you look for")
    elif source.kind == "images":
        then = opt.command_line("search", collection, source.values[0])
    elif source.kind == "codes":
        then = opt.command_line(
            "search", collection, **{"--ids": built.ids[0], "-k": 3}
        )
    else:
        options = {"--input": items, "--column": column, "-k": 3}
        then = opt.command_line("search", collection, **options)
    typer.echo(f"next: {then}")


def _built(
    collection: Path,
    items: str,
    named: dict[str, Any],
    encoder: Path | None,
    learning: Learning,
    **options: Any,
) -> tuple["Input", "Collection"]:
    """Return the items, and the collection that is made of them."""
    from fewbits import inputs
    from fewbits.collection import Collection

    known, n_bits = None, None
    with learning.kept(collection):
        if encoder is not None:
            known, n_bits = Collection.open(encoder), learning.bits
            learning.check_none("--encoder leaves nothing to learn")
            source = opt.read_items(known, items, **named)
        else:
            if named["columns"] and learning.groups:
                both = [*named["columns"], learning.groups]
                named["columns"] = list(dict.fromkeys(both))
            source = inputs.read(items, **named)
            if source.kind == "codes":
                n_bits = learning.bits
                learning.check_none("codes exist already")
            else:
                known = learning.run(source, collection)
        with progress_bar("encoding") as progress:
            built = Collection.create(
                collection,
                source,
                encoder=known,
                bits=n_bits,
                progress=progress,
                **options,
            )
    return source, built


def _check_same_encoder(
    path: Path, known: "Collection", encoder: Path, bits: int | None
) -> None:
    """Refuse the encoder of another collection, if it is not what there is."""
    from fewbits.collection import Collection

    theirs = Collection.open(encoder).encoder
    if bits is not None:
        theirs = theirs.prefix(bits)
    if theirs.fingerprint != known.encoder.fingerprint:
        own, other = f"{known.encoder!r}", f"{theirs!r}"
        if own == other:
            own = f"{own} {known.encoder.fingerprint[:12]}"
            other = f"{other} {theirs.fingerprint[:12]}"
        raise ArgumentError(
            f"{path} has an encoder already, {own}, not {other} of {encoder}: leave "
            "out --encoder, or replace the collection by --overwrite"
        )


def _print_added(
    path: Path, collection: "Collection", as_json: bool, n_added: int, n_there: int
) -> None:
    """Print how many rows were new, and how many were there."""
    if as_json:
        print_change(path, collection, True, added=n_added, already_there=n_there)
    elif not n_there:
        print_change(path, collection, False, added=n_added)
    else:
        are = "1 is" if n_there == 1 else f"{n_there:,} are"
        typer.echo(
            f"{path}: added {n_added:,} of {counted(n_added + n_there, 'row')}: {are} "
            "there already ('fewbits upsert' replaces them); "
            f"{counted(len(collection), 'item')} in all"
        )
