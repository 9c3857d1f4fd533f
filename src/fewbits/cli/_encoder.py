"""``fewbits encode`` and ``export``: what an encoder gives to other programs."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_answer, progress_bar, say
from fewbits.errors import ArgumentError


def encode(
    collection: opt.CollectionPath,
    items: opt.InputPath,
    output: Annotated[
        Path, Option("--output", "-o", help="A .npy file of packed codes.")
    ],
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    as_json: opt.Json = False,
) -> None:
    """Encode INPUT and write its packed codes: a uint8 array with a row per item.

    Example: fewbits encode my-collection vectors.npy -o codes.npy
    """
    import numpy as np

    from fewbits._files import atomic_write
    from fewbits.collection import tools

    def are_codes(path: Path) -> bool:
        try:
            array = np.load(path, mmap_mode="r")
        except (EOFError, OSError, ValueError):
            return False
        return bool(array.dtype == np.uint8 and array.ndim == 2)

    if output.exists() and Path(items).exists() and output.samefile(items):
        raise ArgumentError(f"{output} is the input; write its codes to another file")
    opt.check_output(output, ".npy", "codes", are_codes)
    col = opt.open_at(collection)
    source = tools.read_queries(col, items, column, skip_blank=skip_blank)
    with progress_bar("encoding") as progress:
        codes = col.encode(source, progress=progress)
    with atomic_write(output) as file:
        np.save(file, codes)
    text = f"{output}: {len(codes):,} codes of {counted(codes.shape[1], 'byte')}"
    print_answer(as_json, {"codes": str(output), "shape": codes.shape}, text)


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
    from fewbits.integrations.onnx import export_onnx

    opt.check_output(output, ".onnx", "models")
    col = opt.open_at(collection)
    encoder = col.encoder
    export_onnx(encoder, output, exact=not fast, scores=scores)
    facts = {
        "model": str(output),
        "backbone": col.backbone,
        "n_features": encoder.n_features,
        "n_bits": encoder.n_bits,
        "exact": not fast,
        "fingerprint": encoder.fingerprint,
    }
    text = f"{output}: {encoder.n_features:,} features to {encoder.n_bits:,} bits"
    print_answer(as_json, facts, text)
    if col.backbone is not None and not as_json:
        say(f"note: its input is the features of {col.backbone}")
