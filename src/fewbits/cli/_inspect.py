"""``fewbits inspect``."""

import typer

from fewbits.cli._options import AsJson, BundlePath, print_json, print_table


def register(app: typer.Typer) -> None:
    app.command("inspect")(inspect)


def inspect(bundle: BundlePath, as_json: AsJson = False) -> None:
    """Check every file of BUNDLE and say what is in it."""
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    summary = loaded.summary()
    if as_json:
        print_json(summary)
        return
    rows = [[name.replace("_", " "), value] for name, value in summary.items()]
    print_table(str(bundle), ["what", "value"], rows)
    typer.echo("every file matches its checksum")
