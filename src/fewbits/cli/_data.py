"""``fewbits data``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import AsJson, print_json, print_table, progress_bar

app = typer.Typer(help="Public data sets: what there is, what is here.")


@app.command("list")
def list_data(as_json: AsJson = False) -> None:
    """List the data sets that fewbits knows and whether they are on this machine.

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
