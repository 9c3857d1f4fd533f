"""``fewbits data``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import (
    AsJson,
    check_output,
    command_line,
    print_json,
    print_table,
    progress_bar,
)
from fewbits.errors import ArgumentError

app = typer.Typer(help="Public data sets: what there is, what is here.")


@app.command("list")
def list_data(as_json: AsJson = False) -> None:
    """List the data sets that fewbits knows and whether they are on this machine.

    They are looked for in the folder that the environment variable FEWBITS_DATA names,
    in the user's data folder and where Debian's packages put them. In a clone of the
    repository, install -e '.' with the extra that is named, in place of fewbits.

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


@app.command("export")
def export(
    name: Annotated[str, typer.Argument(help="A name from 'fewbits data list'.")],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .csv file for texts, .npz or .npy for vectors."
        ),
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file.")
    ] = False,
) -> None:
    """Write the items and labels of a data set to a file to play with.

    Example: fewbits data export icd10 items.csv
    """
    from fewbits import datasets

    check_output(output, output.suffix, "data sets")
    if output.is_file() and not overwrite:
        raise ArgumentError(f"{output} exists; name another file, or give --overwrite")
    data = datasets.load(name)
    datasets.export(data, output)
    labels = list(data.labels) if output.suffix != ".npy" else []
    known = f", labelled by {', '.join(labels)}" if labels else ""
    typer.echo(f"{output}: {len(data):,} {data.kind}{known}")
    options = {"--column": data.kind[:-1], "--labels": labels[0]} if labels else {}
    typer.echo(f"next: {command_line('fit', output, '-o', 'my-bundle', **options)}")


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="A name from 'fewbits data list'.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where to; the user's data folder by default.")
    ] = None,
) -> None:
    """Download a data set, or resume a download.

    Example: fewbits data get fashion-mnist
    """
    from fewbits import datasets

    with progress_bar(name) as progress:
        path = datasets.download(name, folder, progress=progress)
    typer.echo(f"{name}: {path}")
