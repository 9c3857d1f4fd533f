"""Run, show and write up studies."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from fewbits.errors import ArgumentError, MissingDataError, MissingExtraError
from fewbits.learners.fitting import on_device
from research.common import datasets
from research.core import study as studies
from research.core.record import RESULTS
from research.core.runner import run as run_tasks
from research.core.study import Study

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)
Name = Annotated[str, typer.Argument(help="A folder of research/studies.")]
Only = Annotated[
    list[str] | None,
    typer.Option(help="NAME=VALUE of a setting; one name twice asks for either value."),
]


@app.command()
def run(
    study: Name,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Seconds; stored in a new folder.")
    ] = False,
    only: Only = None,
    again: Annotated[
        bool, typer.Option("--again", help="Measure what is stored, too.")
    ] = False,
    device: Annotated[
        str | None, typer.Option(help="Learn by torch there, such as cuda.")
    ] = None,
) -> None:
    """Measure what is missing."""
    folder = Path(tempfile.mkdtemp(prefix="research-")) if tiny else RESULTS
    found = _study(study, folder)
    with on_device(device) if device else nullcontext(), one_line():
        n = run_tasks(found.tasks(tiny), found.store, _pairs(only), again=again)
    typer.echo(f"{n} cells measured; {found.store.path}")


@app.command()
def show(study: Name, only: Only = None) -> None:
    """Print every claim on every set of data, and every table."""
    pairs = {name: values[-1] for name, values in _pairs(only).items()}
    for part in _study(study).show(**pairs):
        typer.echo(f"{part}\n")


@app.command()
def get(name: Annotated[str, typer.Argument(help="A data set.")]) -> None:
    """Download a data set to the user's data folder, or resume its download."""
    with one_line():
        typer.echo(str(datasets.download(name)))


@app.command()
def pages() -> None:
    """Write the pages of docs/papers."""
    for name in studies.names():
        typer.echo(Study(name).page())


def _study(name: str, folder: Path = RESULTS) -> Study:
    if name not in studies.names():
        sys.exit(f"error: no study {name!r}; known: {', '.join(studies.names())}")
    return Study(name, folder)


def _pairs(only: list[str] | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in only or ():
        name, equals, value = text.partition("=")
        if not equals:
            sys.exit(f"error: --only {text!r} is not NAME=VALUE")
        found.setdefault(name, []).append(value)
    return found


@contextmanager
def one_line() -> Iterator[None]:
    """End with one line, not a traceback, where data cannot be had."""
    try:
        yield
    except (ArgumentError, MissingDataError, MissingExtraError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    app()
