"""``fewbits export``."""

from pathlib import Path
from typing import Annotated

import typer

from fewbits.cli._options import BundlePath, check_output, json_option, print_json, say


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
            help="Use plain matrix products: faster, but bits whose score is close to "
            "zero may differ.",
        ),
    ] = False,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Also output the scores before thresholding."),
    ] = False,
    as_json: Annotated[
        bool,
        json_option(
            "Print the sizes of the model's inputs and outputs as one JSON object."
        ),
    ] = False,
) -> None:
    """Write the encoder of BUNDLE as an ONNX model from features to packed codes.

    The model's codes are identical to those of BUNDLE. It takes features: the backbone
    that turns texts or images into features is not included.

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
        say(f"note: its input is the features of {loaded.backbone}")
