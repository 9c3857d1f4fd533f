"""``fewbits verify``."""

from itertools import starmap
from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import BundlePath, json_option, print_json
from fewbits.errors import ArgumentError


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)


def verify(
    bundle: BundlePath,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Put back what checksums prove, in a new commit, and say which rows "
            "are still damaged, and what to do about other damaged files.",
        ),
    ] = False,
    drop_rows: Annotated[
        bool,
        typer.Option(
            "--drop-rows",
            help="With --repair: drop the rows of files that are still damaged. Their "
            "files stay as damaged-*. Without it such rows stay as they are.",
        ),
    ] = False,
    as_json: Annotated[bool, json_option("Print the report as JSON.")] = False,
) -> None:
    """Read all of BUNDLE, and name every damaged file and the rows lost with it.

    Also names what is no longer needed, with its bytes.

    Exit status 1 when something is damaged, or was lost or is left in the repair,
    deletes included.

    Example: fewbits verify my-bundle

    Example: fewbits verify my-bundle --repair
    """
    from dataclasses import asdict

    from fewbits.bundle import Bundle
    from fewbits.bundle.serving import left_over
    from fewbits.store import Repaired

    if drop_rows and not repair:
        raise ArgumentError("--drop-rows needs --repair")
    report = (
        Bundle.repair(bundle, drop_rows=drop_rows) if repair else Bundle.verify(bundle)
    )
    others = left_over(bundle)
    if as_json:
        print_json({"bundle": str(bundle), **asdict(report), "left_over": others})
    else:
        typer.echo("\n".join([str(report), *starmap(_left_over, others.items())]))
    if isinstance(report, Repaired):
        whole = report.is_complete and Bundle.verify(bundle, items=False).is_intact
    else:
        whole = report.is_intact
    if not whole:
        raise typer.Exit(1)


def _left_over(path: str, n_bytes: int) -> str:
    if Path(path).name.startswith("damaged-"):
        what = "a repair has replaced; delete it once you no longer need it"
    else:
        what = (
            "another save has left; 'fewbits compact' removes them once no process "
            "uses them"
        )
    return f"{path}: {n_bytes:,} bytes that {what}"
