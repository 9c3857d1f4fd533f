"""``fewbits methods``."""

from typing import Annotated

import typer

from fewbits.cli._options import AsJson, print_json, print_table


def register(app: typer.Typer) -> None:
    app.command("methods")(methods)


def methods(
    method: Annotated[
        str | None, typer.Argument(metavar="METHOD", help="Say what can be set.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods that learn codes, or what can be set of METHOD.

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
        print_table("", ["method", "needs", "what it does"], rows)
        typer.echo("'fewbits methods METHOD' says what can be set")
        return
    told = describe(method)
    if as_json:
        print_json(told.as_dict())
        return
    typer.echo(f"{told.method}: {told.summary}")
    if not told.settings and not told.needs_torch:
        typer.echo("it has nothing to --set")
    if told.settings:
        rows = [[each.name, each.values, each.text] for each in told.settings]
        print_table("", ["--set name=value", "values", "what it does"], rows)


def _needs(labels: bool, torch: bool) -> str:
    named = (("labels", labels), ("torch", torch))
    return ", ".join(name for name, needed in named if needed)
