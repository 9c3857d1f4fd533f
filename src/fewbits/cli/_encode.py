"""``fewbits encode``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    InputPath,
    print_json,
    progress_bar,
)


def register(app: typer.Typer) -> None:
    app.command("encode")(encode)


def encode(
    bundle: BundlePath,
    items: InputPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .npy file of packed codes.")
    ],
    column: Column = None,
    as_json: AsJson = False,
) -> None:
    """Encode INPUT and write packed codes, one row of bytes per item.

    Example: fewbits encode my-bundle vectors.npy -o codes.npy
    """
    import numpy as np

    from fewbits import inputs
    from fewbits._files import atomic_write
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    source = inputs.read(items, column=column)
    with progress_bar("encoding") as progress:
        codes = loaded.encode(source.values, progress=progress)
    with atomic_write(output) as file:
        np.save(file, codes)
    if as_json:
        print_json({"codes": str(output), "shape": codes.shape})
    else:
        typer.echo(f"{output}: {len(codes):,} codes of {codes.shape[1]} bytes")
