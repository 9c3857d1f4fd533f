"""``fewbits export``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, say


def export(
    collection: opt.CollectionPath,
    output: Annotated[Path, Argument(metavar="OUTPUT", help="An .onnx file to write.")],
    fast: Annotated[
        bool,
        Option(
            "--fast",
            help="Use plain matrix products: faster, but bits whose score is close to "
            "zero may differ.",
        ),
    ] = False,
    scores: Annotated[
        bool, Option("--scores", help="Also output the scores before thresholding.")
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Write the encoder of COLLECTION as an ONNX model from features to packed codes.

    The model's codes are identical to those of COLLECTION. It takes features: the
    backbone that turns texts or images into features is not included.

    Example: fewbits export my-collection encoder.onnx
    """
    from fewbits.collection import Collection
    from fewbits.integrations.onnx import export_onnx

    opt.check_output(output, ".onnx", "models")
    col = Collection.open(collection)
    encoder = col.encoder
    export_onnx(encoder, output, exact=not fast, scores=scores)
    if as_json:
        print_json(
            {
                "model": str(output),
                "backbone": col.backbone,
                "n_features": encoder.n_features,
                "n_bits": encoder.n_bits,
                "exact": not fast,
                "fingerprint": encoder.fingerprint,
            }
        )
        return
    typer.echo(f"{output}: {encoder.n_features:,} features to {encoder.n_bits:,} bits")
    if col.backbone is not None:
        say(f"note: its input is the features of {col.backbone}")
