"""``fewbits methods``."""

from dataclasses import asdict
from typing import Annotated

import typer
from typer import Argument

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, print_table


def methods(
    method: Annotated[
        str | None, Argument(metavar="METHOD", help="A method, to list its settings.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the methods that learn codes, or the settings of METHOD.

    Example: fewbits methods

    Example: fewbits methods sp
    """
    from fewbits.training import describe, describe_all

    if method is None:
        descriptions = describe_all()
        if as_json:
            print_json([asdict(row) for row in descriptions])
            return
        rows = [
            [
                row.method,
                ", ".join(["labels"] * row.needs_labels + ["torch"] * row.needs_torch),
                f"{row.name}. {row.summary}",
            ]
            for row in descriptions
        ]
        print_table("", ["method", "needs", "description"], rows)
        typer.echo("'fewbits methods METHOD' lists the settings of a method")
        return
    described = describe(method)
    if as_json:
        print_json(asdict(described))
        return
    typer.echo(f"{described.method}: {described.name}. {described.summary}")
    if not described.settings and not described.needs_torch:
        typer.echo("it has no settings")
    if described.settings:
        rows = [[row.name, row.values, row.text] for row in described.settings]
        print_table("", ["--set name=value", "values", "description"], rows)
