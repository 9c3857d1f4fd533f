"""``fewbits verify``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json
from fewbits.errors import ArgumentError


def verify(
    collection: opt.CollectionPath,
    repair: Annotated[
        bool,
        Option(
            "--repair",
            help="Put back what checksums prove, in a new commit, and say which rows "
            "are still damaged, and what to do about other damaged files.",
        ),
    ] = False,
    drop_rows: Annotated[
        bool,
        Option(
            "--drop-rows",
            help="With --repair: drop the rows of files that are still damaged. Their "
            "files stay as damaged-*. Without it such rows stay as they are.",
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Read all of COLLECTION, and name every damaged file and the rows lost with it.

    Also names files to be rebuilt, with which nothing is lost, and what is no longer
    needed, with its bytes.

    Exit status 1 if anything is damaged, unreadable or, after --repair, lost or still
    damaged.

    Example: fewbits verify my-collection

    Example: fewbits verify my-collection --repair
    """
    from fewbits.collection import Collection, tools
    from fewbits.store import RepairReport, Report

    if drop_rows and not repair:
        raise ArgumentError("--drop-rows needs --repair")
    report: Report | RepairReport
    if repair:
        report = Collection.repair_folder(collection, drop_rows=drop_rows)
        whole = report.is_complete
        whole = whole and Collection.verify_folder(collection, rows=False).is_intact
    else:
        report = Collection.verify_folder(collection)
        whole = report.is_intact
    others = tools.unused_files(collection)
    if as_json:
        facts = {"collection": str(collection), **asdict(report)}
        print_json({**facts, "unused_files": others})
    else:
        typer.echo(str(report))
        for path, n_bytes in others.items():
            what = (
                "another save has left; 'fewbits compact' removes them once no process "
                "uses them"
            )
            if Path(path).name.startswith("damaged-"):
                what = "a repair has replaced; delete it once you no longer need it"
            typer.echo(f"{path}: {n_bytes:,} bytes that {what}")
    if not whole:
        raise typer.Exit(1)
