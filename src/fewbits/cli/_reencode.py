"""``fewbits reencode``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, progress_bar
from fewbits.errors import ArtefactError


def reencode(
    collection: opt.CollectionPath,
    encoder: Annotated[
        Path,
        Option(help="Collection whose encoder takes the place of that of COLLECTION."),
    ],
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Folder for a new collection; COLLECTION is left unchanged.",
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Encode the kept vectors of COLLECTION by the encoder of another collection.

    Ids and columns stay. Needs a collection built with --keep-vectors, and features of
    the same backbone. Without --output, the old encoder may be damaged or missing.

    Example: fewbits fit vectors.npy --learner neighbours -o better

    Example: fewbits reencode my-collection --encoder better
    """
    from fewbits.collection import Collection

    other = Collection.open(encoder)
    folder = output or collection
    try:
        col = Collection.open(collection)
    except ArtefactError:
        if output is not None:
            raise
        Collection.repair_folder(collection, encoder=other)
    else:
        if output is not None:
            col.save(output)
            col = Collection.open(output)
        with progress_bar("encoding") as progress:
            col.reencode(other, progress=progress)
    col = Collection.open(folder)
    if as_json:
        print_json({"collection": str(folder), **col.summary()})
    else:
        n, n_bits = len(col), col.encoder.n_bits
        typer.echo(f"{folder}: {n:,} items of {n_bits} bits")
