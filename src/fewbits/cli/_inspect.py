"""``fewbits inspect``."""

from typing import Any

import typer

from fewbits.cli._options import AsJson, BundlePath, print_json, print_table


def register(app: typer.Typer) -> None:
    app.command("inspect")(inspect)


def inspect(bundle: BundlePath, as_json: AsJson = False) -> None:
    """Check every file of BUNDLE and say what is in it.

    Example: fewbits inspect my-bundle
    """
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    summary = loaded.summary()
    if as_json:
        print_json(summary)
        return
    rows = [[name.replace("_", " "), _plain(value)] for name, value in summary.items()]
    print_table(str(bundle), ["what", "value"], rows)
    typer.echo("every file matches its checksum")


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_plain(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
