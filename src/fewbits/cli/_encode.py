"""``fewbits encode``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_json, progress_bar
from fewbits.errors import ArgumentError


def encode(
    collection: opt.CollectionPath,
    items: opt.InputPath,
    output: Annotated[
        Path, Option("--output", "-o", help="A .npy file of packed codes.")
    ],
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    as_json: opt.Json = False,
) -> None:
    """Encode INPUT and write its packed codes: a uint8 array with a row per item.

    Example: fewbits encode my-collection vectors.npy -o codes.npy
    """
    import numpy as np

    from fewbits._files import atomic_write
    from fewbits.collection import Collection, tools

    def are_codes(path: Path) -> bool:
        try:
            array = np.load(path, mmap_mode="r")
        except (EOFError, OSError, ValueError):
            return False
        return bool(array.dtype == np.uint8 and array.ndim == 2)

    if output.exists() and Path(items).exists() and output.samefile(items):
        raise ArgumentError(f"{output} is the input; write its codes to another file")
    opt.check_output(output, ".npy", "codes", are_codes)
    col = Collection.open(collection)
    source = tools.read_queries(col, items, column, skip_blank=skip_blank)
    with progress_bar("encoding") as progress:
        codes = col.encode(source, progress=progress)
    with atomic_write(output) as file:
        np.save(file, codes)
    if as_json:
        print_json({"codes": str(output), "shape": codes.shape})
    else:
        width = counted(codes.shape[1], "byte")
        typer.echo(f"{output}: {len(codes):,} codes of {width}")
