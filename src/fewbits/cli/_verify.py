"""``fewbits verify``."""

from typing import Annotated

import typer

from fewbits.cli._options import BundlePath, json_option, print_json


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)


def verify(
    bundle: BundlePath,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Keep every intact row in a new commit, and say which were lost, and "
            "what to do about other damaged files.",
        ),
    ] = False,
    as_json: Annotated[bool, json_option("Print the report as JSON.")] = False,
) -> None:
    """Read all of BUNDLE, and name every damaged file and the rows lost with it.

    Exit status 1 when something is damaged, or was lost or is left in the repair.

    Example: fewbits verify my-bundle

    Example: fewbits verify my-bundle --repair
    """
    from dataclasses import asdict

    from fewbits.bundle import Bundle
    from fewbits.store import Repaired

    report = Bundle.repair(bundle) if repair else Bundle.verify(bundle)
    if as_json:
        print_json({"bundle": str(bundle), **asdict(report)})
    else:
        typer.echo(str(report))
    if isinstance(report, Repaired):
        whole = report.is_complete and Bundle.verify(bundle, items=False).is_intact
    else:
        whole = report.is_intact
    if not whole:
        raise typer.Exit(1)
