"""``fewbits build``."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change
from fewbits.cli._fit import Learning
from fewbits.cli._printing import print_json, progress_bar, say
from fewbits.errors import ArgumentError


def build(
    collection: opt.CollectionPath,
    items: opt.InputPath,
    column: opt.Column = None,
    images: opt.Images = None,
    codes: opt.Codes = None,
    label: opt.Label = None,
    id: opt.Id = None,
    columns: opt.Columns = None,
    skip_blank: opt.SkipBlank = False,
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
    method: opt.Method = None,
    bits: opt.Bits = None,
    backbone: opt.Backbone = None,
    groups: opt.GroupColumn = None,
    sample: opt.Sample = None,
    settings: opt.Settings = None,
    kernel_map: opt.KernelMap = None,
    codebook: opt.CodebookPath = None,
    seed: opt.LearningSeed = None,
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

    Where COLLECTION has an encoder already, as after 'fewbits fit', it is used. Where
    it has rows, those of INPUT are added, and none of their ids may be there: 'fewbits
    upsert' replaces items.

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
    from fewbits.collection import Collection

    learning = Learning(
        method,
        bits,
        backbone,
        groups,
        sample,
        tuple(settings or ()),
        kernel_map,
        codebook,
        seed,
        checkpoint,
        device,
    )
    known = None
    if not overwrite and (collection / "collection.json").exists():
        known = Collection.open(collection)
        given = learning.options() + ["--encoder"] * (encoder is not None)
        if given:
            raise ArgumentError(
                f"{collection} has an encoder already: leave out {', '.join(given)}, "
                "or replace the collection by --overwrite"
            )
    else:
        Collection.check_target(collection, overwrite=overwrite)
    named: dict[str, Any] = {
        "column": column,
        "images": images,
        "codes": codes,
        "label": label,
        "id": id,
        "columns": columns or None,
        "skip_blank": skip_blank,
    }
    if known is not None and known.version:
        for option, value in {"--keep-vectors": keep_vectors, "--index": index}.items():
            if value is not None:
                raise ArgumentError(
                    f"{collection} has rows already: leave out {option}, which is "
                    "chosen when the first ones come"
                )
        with progress_bar("encoding") as progress:
            n = known.add(items, **named, timeout=timeout, progress=progress)
        print_change(collection, known, as_json, added=n)
        return
    with learning.kept(collection):
        n_bits = None
        if encoder is not None:
            known, n_bits = Collection.open(encoder), bits
            learning.check_none("--encoder leaves nothing to learn")
        if known is not None:
            source = opt.read_items(known, items, **named)
        else:
            if columns and groups:
                named["columns"] = list(dict.fromkeys([*columns, groups]))
            source = inputs.read(items, **named)
            if source.kind == "codes":
                n_bits = bits
                learning.check_none("codes exist already")
            else:
                known = learning.run(source, collection)
        with progress_bar("encoding") as progress:
            built = Collection.create(
                collection,
                source,
                encoder=known,
                bits=n_bits,
                keep_vectors=keep_vectors,
                index=index or "auto",
                overwrite=True,
                progress=progress,
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
