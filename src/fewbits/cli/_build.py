"""``fewbits build``."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    Column,
    InputPath,
    LabelColumn,
    SkipBlank,
    check_unused,
    command_line,
    json_option,
    print_json,
    read_for,
    say,
)
from fewbits.cli._progress import progress_bar
from fewbits.errors import ArgumentError


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    bundle: BundlePath,
    items: InputPath,
    column: Column = None,
    labels: LabelColumn = None,
    skip_blank: SkipBlank = False,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column of a table with unique ids: integers or strings. Default: "
            "row numbers.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of a table to store and to show in results; may be repeated. "
            "Default: all columns."
        ),
    ] = None,
    keep_vectors: Annotated[
        str | None,
        typer.Option(
            help="Store the vectors too, for re-ranking, as int8 (one byte per "
            "component), float16 or float32."
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            "--bits",
            "-b",
            help="Shorten the codes to their first bits; loses least with nested "
            "codes. Needs --output.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for a new bundle; BUNDLE is left unchanged."
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the collection that BUNDLE holds."),
    ] = False,
    as_json: Annotated[
        bool, json_option("Print the bundle's summary as one JSON object.")
    ] = False,
) -> None:
    """Encode INPUT and store it as the collection of BUNDLE.

    A collection that is there stays unless --overwrite is given; 'fewbits add' adds to
    it.

    Texts, paths of images and the columns of a table are stored beside the codes. With
    --labels, a novelty radius is learnt, beyond which `search` marks a query as
    out-of-distribution: the 95th percentile of the distances of items to the nearest
    item of another class. Items of a new class that resembles known ones are not
    marked.

    Example: fewbits build my-bundle products.csv --column text --id sku --labels kind

    Example: fewbits build my-bundle vectors.npy --keep-vectors int8

    Example: fewbits build my-bundle vectors.npy --bits 64 -o shorter
    """
    from fewbits.bundle import Bundle

    if output is None:
        check_unused({"--bits": bits}, "--output, as BUNDLE cannot be lengthened again")
        if not overwrite:
            _check_empty(bundle)
    else:
        Bundle.check_target(output, overwrite=False)
    loaded = Bundle.load(bundle, items=False)
    if bits is not None:
        loaded = loaded.prefix(bits)
    source = read_for(
        loaded,
        items,
        column,
        labels,
        id=id_column,
        columns=keep or None,
        skip_blank=skip_blank,
    )
    with progress_bar("encoding") as progress:
        built = loaded.with_items(source, keep_vectors=keep_vectors, progress=progress)
    if source.labels is not None and source.labels.ndim == 1:
        groups = source.labels.tolist()
        if len(set(groups)) > 1:
            built = built.with_novelty_radius(groups)
    folder = output or bundle
    built.save(folder)
    if as_json:
        print_json({"bundle": str(folder), **built.summary()})
    else:
        typer.echo(f"{folder}: {len(source):,} items of {built.encoder.n_bits} bits")
        if name := source.likely_id:
            say(f"note: ids are row numbers; {shlex.join(['--id', name])} takes yours")
        if column is None and loaded.metadata.feature_names is None:
            column = [*source.names]  # search takes ids for features
        typer.echo(f"next: {_search_by(folder, source, items, column)}")


def _search_by(folder: Path, source: Any, items: str, column: list[str] | None) -> str:
    """Return a search that works as it is printed: by what was built from."""
    if source.kind == "texts":
        return command_line("search", folder, "what you look for")
    if source.kind == "images":
        return command_line("search", folder, source.values[0])
    options = {"--input": items, "--column": column, "-k": 3}
    return command_line("search", folder, **options)


def _check_empty(folder: Path) -> None:
    """Refuse to replace a collection, which may have taken long, or have grown."""
    from fewbits.bundle import Bundle

    bundle = Bundle.load(folder)
    if bundle.items is not None:
        raise ArgumentError(
            f"{folder} holds {len(bundle.items):,} items already: replace them with "
            "--overwrite, or add to them with 'fewbits add'"
        )
