"""``fewbits encode``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import (
    BundlePath,
    InputPath,
    RowColumn,
    SkipBlank,
    check_output,
    json_option,
    print_json,
    read_for,
)
from fewbits.cli._progress import progress_bar
from fewbits.errors import ArgumentError


def register(app: typer.Typer) -> None:
    app.command("encode")(encode)


def encode(
    bundle: BundlePath,
    items: InputPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .npy file of packed codes.")
    ],
    column: RowColumn = None,
    skip_blank: SkipBlank = False,
    as_json: Annotated[
        bool,
        json_option("Print the file and the shape of the codes as one JSON object."),
    ] = False,
) -> None:
    """Encode INPUT and write its packed codes: a uint8 array with a row per item.

    Example: fewbits encode my-bundle vectors.npy -o codes.npy
    """
    import numpy as np

    from fewbits._files import atomic_write
    from fewbits.bundle import Bundle

    if output.exists() and Path(items).exists() and output.samefile(items):
        raise ArgumentError(f"{output} is the input; write its codes to another file")
    check_output(output, ".npy", "codes", _are_codes)
    loaded = Bundle.load(bundle)
    source = read_for(loaded, items, column, skip_blank=skip_blank)
    with progress_bar("encoding") as progress:
        codes = loaded.encode(source.values, progress=progress)
    with atomic_write(output) as file:
        np.save(file, codes)
    if as_json:
        print_json({"codes": str(output), "shape": codes.shape})
    else:
        noun = "byte" if codes.shape[1] == 1 else "bytes"
        typer.echo(f"{output}: {len(codes):,} codes of {codes.shape[1]:,} {noun}")


def _are_codes(path: Path) -> bool:
    import numpy as np

    try:
        found = np.load(path, mmap_mode="r")
    except (EOFError, OSError, ValueError):
        return False
    return bool(found.dtype == np.uint8 and found.ndim == 2)
