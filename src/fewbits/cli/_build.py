"""``fewbits build``."""

from typing import Annotated

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    InputPath,
    LabelColumn,
    command_line,
    print_json,
    progress_bar,
    read_for,
)

_QUERIES = {
    "vectors": ["--input", "FILE.npy"],
    "texts": ["what you look for"],
    "images": ["photo.jpg"],
}


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    bundle: BundlePath,
    items: InputPath,
    column: Column = None,
    labels: LabelColumn = None,
    keep_vectors: Annotated[
        str | None,
        typer.Option(help="Keep features as float16 or float32 for exact re-ranking."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Encode INPUT and make it the collection of BUNDLE, in place of an older one.

    Texts, paths of images and labels are kept beside the codes. From labels `search`
    also learns how far a query may be from everything before it is foreign.

    Example: fewbits build my-bundle vectors.npy --keep-vectors float16
    """
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle, items=False)
    source = read_for(loaded, items, column, labels)
    with progress_bar("encoding") as progress:
        built = loaded.with_items(
            source.values,
            columns=source.columns(),
            keep_vectors=keep_vectors,
            progress=progress,
        )
    if source.labels is not None and source.labels.ndim == 1:
        groups = source.columns()["label"]
        if len(set(groups)) > 1:
            built = built.with_familiar_radius(groups)
    built.save(bundle)
    if as_json:
        print_json({"bundle": str(bundle), **built.summary()})
    else:
        typer.echo(f"{bundle}: {len(source):,} items of {built.encoder.n_bits} bits")
        typer.echo(f"next: {command_line('search', bundle, *_QUERIES[source.kind])}")
