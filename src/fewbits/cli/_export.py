"""``fewbits export``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import AsJson, BundlePath, check_output, print_json, say


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    bundle: BundlePath,
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="An .onnx file to write.")
    ],
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Plain matrix products: a bit whose score is about zero may differ.",
        ),
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Give the scores before thresholding too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the encoder of BUNDLE as an ONNX model from features to packed codes.

    Its codes are those of BUNDLE, to the last bit. Texts and images become features
    first: that part of BUNDLE is not in the model.

    Example: fewbits export my-bundle encoder.onnx
    """
    from fewbits.bundle import Bundle
    from fewbits.integrations.onnx import export_onnx

    check_output(output, ".onnx", "models")
    loaded = Bundle.load(bundle, items=False)
    encoder = loaded.encoder
    export_onnx(encoder, output, exact=not fast, scores=scores)
    facts = {
        "model": str(output),
        "backbone": loaded.backbone,
        "n_features": encoder.n_features,
        "n_bits": encoder.n_bits,
        "exact": not fast,
        "fingerprint": encoder.fingerprint,
    }
    if as_json:
        print_json(facts)
        return
    typer.echo(f"{output}: {encoder.n_features:,} features to {encoder.n_bits:,} bits")
    if loaded.backbone is not None:
        say(f"note: it takes the features of {loaded.backbone}")
