"""``fewbits data``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, print_table, say
from fewbits.errors import ArgumentError

data = typer.Typer(
    name="data",
    help="List and export public data sets.",
    add_completion=False,
)


@data.command("list")
def list_data(as_json: opt.Json = False) -> None:
    """List the data sets that fewbits can load, and whether they are on this machine.

    Example: fewbits data list
    """
    from fewbits import datasets

    rows = datasets.available()
    if as_json:
        print_json([vars(row) for row in rows])
        return
    print_table(
        "",
        ["name", "kind", "size", "licence", "here", "how to get it"],
        [
            [r.name, r.kind, r.size, r.licence, "yes" if r.present else "no", r.how]
            for r in rows
        ],
    )


@data.command("export")
def export(
    name: Annotated[
        str, Argument(metavar="NAME", help="A name from 'fewbits data list'.")
    ],
    output: Annotated[
        Path,
        Argument(
            metavar="FILE", help="A .csv file for texts, .npz or .npy for vectors."
        ),
    ],
    queries: Annotated[
        Path | None,
        Option(
            help="Also write queries to this file of the same format: a random tenth "
            "of the items, at most 1,000. They are left out of FILE."
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
) -> None:
    """Write the items and labels of a data set to a file.

    Example: fewbits data export icd10 items.csv

    Example: fewbits data export digits vectors.npy --queries queries.npy
    """
    from fewbits import datasets

    files = [output] if queries is None else [output, queries]
    for file in files:
        opt.check_output(file, output.suffix, "data sets")
        if file.is_file() and not overwrite:
            raise ArgumentError(f"{file} exists; name another file, or use --overwrite")
    if len({file.resolve() for file in files}) < len(files):
        raise ArgumentError(f"items and queries need two files, got {output} twice")
    whole = datasets.load(name)
    parts = [whole] if queries is None else datasets.hold_out(whole)
    sizes = [
        datasets.export(part, file) for file, part in zip(files, parts, strict=True)
    ]
    labels = list(whole.labels)
    columns = labels if output.suffix != ".npy" else []
    with_labels = f", with labels {', '.join(columns)}" if columns else ""
    for file, size in zip(files, sizes, strict=True):
        typer.echo(f"{file}: {size:,} {whole.kind}{with_labels}")
    if labels and not columns:
        say(f"note: a .npz file would hold the labels too ({', '.join(labels)})")
    options = {
        "--column": whole.kind[:-1] if columns else None,
        "--id": "id" if whole.kind == "texts" else None,
    }
    typer.echo(f"next: {opt.command_line('build', 'my-collection', output, **options)}")
