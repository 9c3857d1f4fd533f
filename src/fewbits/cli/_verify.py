"""``fewbits verify``."""

from typing import Annotated

import typer

from fewbits.cli._options import AsJson, BundlePath, print_json


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)


def verify(
    bundle: BundlePath,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Keep every intact row in a new commit, and say which were lost.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read all of BUNDLE, and name every damaged file with the rows that it takes.

    Exit status 1 when something is damaged.

    Example: fewbits verify my-bundle

    Example: fewbits verify my-bundle --repair
    """
    from fewbits.bundle import repair_items, verify_items

    report = repair_items(bundle) if repair else verify_items(bundle)
    if as_json:
        print_json({"bundle": str(bundle), **report.to_dict()})
    else:
        for line in report.lines():
            typer.echo(line)
    if not report.is_intact and not repair:
        raise typer.Exit(1)
