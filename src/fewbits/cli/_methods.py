"""``fewbits methods``."""

from typing import Annotated

import typer

from fewbits.cli._options import AsJson, print_json, print_table


def register(app: typer.Typer) -> None:
    app.command("methods")(methods)


def methods(
    method: Annotated[
        str | None, typer.Argument(metavar="METHOD", help="List its settings.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods that learn codes, or the settings of METHOD.

    Example: fewbits methods

    Example: fewbits methods sp
    """
    from fewbits.training import describe, describe_all

    if method is None:
        found = describe_all()
        if as_json:
            print_json([each.as_dict() for each in found])
            return
        rows = [
            [each.method, _needs(each.needs_labels, each.needs_torch), each.summary]
            for each in found
        ]
        print_table("", ["method", "needs", "description"], rows)
        typer.echo("'fewbits methods METHOD' lists the settings of a method")
        return
    described = describe(method)
    if as_json:
        print_json(described.as_dict())
        return
    typer.echo(f"{described.method}: {described.summary}")
    if not described.settings and not described.needs_torch:
        typer.echo("it has no settings")
    if described.settings:
        rows = [[each.name, each.values, each.text] for each in described.settings]
        print_table("", ["--set name=value", "values", "description"], rows)


def _needs(labels: bool, torch: bool) -> str:
    named = (("labels", labels), ("torch", torch))
    return ", ".join(name for name, needed in named if needed)
