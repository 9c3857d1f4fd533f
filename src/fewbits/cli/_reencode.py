"""``fewbits reencode``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import BundlePath, json_option, print_json
from fewbits.cli._progress import progress_bar


def register(app: typer.Typer) -> None:
    app.command("reencode")(reencode)


def reencode(
    bundle: BundlePath,
    by: Annotated[
        Path,
        typer.Option(help="Bundle whose encoder takes the place of that of BUNDLE."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for a new bundle; BUNDLE is left unchanged."
        ),
    ] = None,
    as_json: Annotated[
        bool, json_option("Print the bundle's summary as one JSON object.")
    ] = False,
) -> None:
    """Encode the stored vectors of BUNDLE by the encoder of another bundle.

    Ids and columns stay. Needs a collection built with --keep-vectors, and features of
    the same backbone. The old encoder may be damaged or missing.

    Example: fewbits fit vectors.npy --method neighbours -o better

    Example: fewbits reencode my-bundle --by better
    """
    from fewbits.bundle import Bundle

    if output is not None:
        Bundle.check_target(output, overwrite=False)
    new = Bundle.load(by, items=False)
    with progress_bar("encoding") as progress:
        made = new.reencode(bundle, progress=progress)
    folder = output or bundle
    made.save(folder)
    if as_json:
        print_json({"bundle": str(folder), **made.summary()})
    else:
        n = len(made.collection)
        typer.echo(f"{folder}: {n:,} items of {made.encoder.n_bits} bits")
