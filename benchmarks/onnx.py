"""Encoders as ONNX models in ONNX Runtime, beside the encoders themselves.

    python -m benchmarks.onnx [--json FILE] [--repeats N]

Random weights and rows, 1,280 features to 64 bits, with and without a hidden layer, one
thread. An exact model of a linear encoder needs the slow chain of additions only for
rows with a bit that a fast product leaves open: *open* is their share, by time.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fewbits import _kernels
from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder
from fewbits.integrations.onnx import export_onnx

N_FEATURES, N_HIDDEN, N_BITS = 1280, 512, 64
N_ROWS = 100  # in a batch, and one at a time
#: A row is taken for open if it takes so many times as long as most.
OPEN = 100
WAYS: dict[str, dict[str, bool]] = {
    "fast codes": {"exact": False},
    "exact codes": {},
    "exact scores": {"scores": True},
}

Way = Callable[[np.ndarray], Any]


def main(
    repeats: Annotated[int, typer.Option()] = 3,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every model and print a row for each."""
    _kernels.set_num_threads(1)
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for head, encoder in encoders().items():
            expected = encoder.encode(X)
            for name, way in ways(encoder, Path(folder)):
                wrong = int(np.unpackbits(way(X)[0] ^ expected).sum())
                rows.append({"head": head, "way": name, **timed(way, X, repeats)})
                rows[-1]["wrong_bits"] = wrong
                print(shown(rows[-1]), flush=True)
    _kernels.set_num_threads(None)
    if json_path:
        json_path.write_text(json.dumps(rows, indent=1) + "\n")


def encoders() -> dict[str, Encoder]:
    """Return random encoders."""
    rng = np.random.default_rng(1)
    sizes = (N_FEATURES, N_HIDDEN, N_BITS)
    weights = [rng.normal(size=shape) for shape in pairwise(sizes)]
    biases = [np.zeros(size) for size in sizes[1:]]
    linear = rng.normal(size=(N_FEATURES, N_BITS))
    return {
        "linear": LinearEncoder(linear, np.zeros(N_BITS)),
        f"hidden layer of {N_HIDDEN}": MLPEncoder(weights, biases),
    }


def ways(encoder: Encoder, folder: Path) -> Iterator[tuple[str, Way]]:
    """Yield the encoder itself, and its models; each gives the codes first."""
    import onnxruntime

    yield "fewbits itself", lambda X: [encoder.encode(X)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for name, settings in WAYS.items():
        path = folder / "encoder.onnx"
        export_onnx(encoder, path, **settings)
        session = onnxruntime.InferenceSession(str(path), options)
        yield name, lambda X, session=session: session.run(None, {"features": X})


def timed(way: Way, X: np.ndarray, repeats: int) -> dict[str, float]:
    """Return the seconds of a batch, of most rows alone, and of open ones."""
    each = np.array([seconds(way, X[i : i + 1], repeats) for i in range(len(X))])
    usual = float(np.median(each))
    slow = each > OPEN * each.min()
    return {
        "batch_seconds": seconds(way, X, repeats),
        "row_seconds": usual if slow.all() else float(np.median(each[~slow])),
        "open": float(slow.mean()),
        "open_seconds": float(np.median(each[slow])) if slow.any() else 0.0,
    }


def seconds(way: Way, X: np.ndarray, repeats: int) -> float:
    """Return the least time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        way(X)
        times.append(time.perf_counter() - start)
    return min(times)


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    opened = f", {1e3 * row['open_seconds']:.2f} ms for {row['open']:.0%} of rows"
    return (
        f"{row['head']:20} {row['way']:15} row {1e3 * row['row_seconds']:8.3f} ms"
        f"{opened if row['open'] else ''}; {N_ROWS} rows "
        f"{1e3 * row['batch_seconds']:9.2f} ms, {row['wrong_bits']} bits wrong"
    )


if __name__ == "__main__":
    typer.run(main)
