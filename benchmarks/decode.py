"""Finding the class: decoders of 64-bit codes against a float classifier.

    python -m benchmarks.decode [--quick] [--json FILE]

Random classes; of each item's bits about one in twenty is wrong. The float classifier
is NumPy's BLAS: a matrix product of 1,280 features with a vector for each class, and
the largest. A decoder needs the item's code first, so its ratio counts the encoding of
the same features as well. Everything answers in one process, in turn, on one thread;
figures are medians. What can be decoded in two ways must give the same answers.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from benchmarks.search import interleaved
from fewbits import _kernels
from fewbits.codes import pack
from fewbits.decoding import (
    Codebook,
    decode_bounded,
    decode_exact,
    decode_nearest,
    decode_ordered,
    decode_soft,
    top_classes,
)
from fewbits.encoders import LinearEncoder

N_FEATURES, N_BITS = 1280, 64
NOISE = 0.6  # of scores that are -1 or 1: 4.8 % of the signs are wrong
N_CLASSES = (1_000, 10_000, 100_000)
BATCHES = {1: 20, 200: 200}  # items at a time, of so many

Way = Callable[[slice], Any]


def main(
    quick: Annotated[bool, typer.Option(help="At most 10,000 classes.")] = False,
    repeats: Annotated[int, typer.Option()] = 7,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every decoder at every size and print a row for each."""
    rows: list[dict[str, Any]] = []
    _kernels.set_num_threads(1)
    print(f"instruction set {_kernels.active_isa()}, one thread")
    print(
        f"{'classes':>8} {'items':>6} {'way':24} {'us/item':>10} {'x float':>9} right"
    )
    with threadpool_limits(1):
        for n_classes in N_CLASSES[:2] if quick else N_CLASSES:
            for batch in BATCHES:
                for row in measure(n_classes, batch, repeats):
                    rows.append(row)
                    print(shown(row), flush=True)
    _kernels.set_num_threads(None)
    if json_path:
        json_path.write_text(json.dumps(rows, indent=1) + "\n")


def measure(n_classes: int, batch: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each way of finding the class."""
    rng, n_items = np.random.default_rng(0), BATCHES[batch]
    bits = rng.random((n_classes, N_BITS)) < 0.5
    book, wanted = Codebook(pack(bits), N_BITS), rng.integers(0, n_classes, n_items)
    noise = NOISE * rng.normal(size=(n_items, N_BITS))
    scores = (np.where(bits[wanted], 1.0, -1.0) + noise).astype(np.float32)
    X = rng.normal(size=(n_items, N_FEATURES)).astype(np.float32)
    W = rng.random((N_FEATURES, n_classes), np.float32)
    encoder = LinearEncoder(rng.normal(size=(N_FEATURES, N_BITS)), np.zeros(N_BITS))
    ways: dict[str, Way] = {
        "float": lambda some: (X[some] @ W).argmax(axis=1),
        "encode": lambda some: encoder.encode(X[some]),
        **decoders(book, scores),
    }
    spans = [slice(i, i + batch) for i in range(0, n_items, batch)]
    runs = {name: _over(way, spans) for name, way in ways.items()}
    rows = check({name: run() for name, run in runs.items()})
    times = interleaved(runs, dict.fromkeys(runs, repeats))
    encoding = times.pop("encode")
    return [
        {
            "classes": n_classes,
            "batch": batch,
            "way": name,
            "microseconds": 1e6 * seconds / n_items,
            "encode_microseconds": 1e6 * encoding / n_items,
            "ratio": times["float"] / (seconds + encoding * (name != "float")),
            "right": float(np.mean(rows[name] == wanted)) if name in rows else None,
        }
        for name, seconds in times.items()
    ]


def _over(way: Way, spans: list[slice]) -> Callable[[], list[Any]]:
    return lambda: [way(some) for some in spans]


def decoders(book: Codebook, scores: np.ndarray) -> dict[str, Way]:
    """Return every decoder, of codes that are there."""
    codes = pack(scores > 0)

    def nearest(method: str) -> Way:
        return lambda some: decode_nearest(book, codes[some], method=method)

    def ordered(budget: int, order: str) -> Way:
        return lambda some: decode_ordered(book, scores[some], budget, order=order)

    return {
        "exact": lambda some: decode_exact(book, codes[some]),
        "bounded, radius 2": lambda some: decode_bounded(book, codes[some], 2),
        "nearest, all": nearest("exhaustive"),
        "nearest, look-ups": nearest("look-ups"),
        "nearest": nearest("auto"),
        "soft": lambda some: decode_soft(book, scores[some]),
        "ranks, budget 100": ordered(100, "ranks"),
        "ranks, budget 1,000": ordered(1000, "ranks"),
        "ranks, budget 10,000": ordered(10_000, "ranks"),
        "costs, budget 1,000": ordered(1000, "costs"),
        "top 5, probabilities": lambda some: top_classes(book, scores[some], 5),
    }


def check(answers: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Return the rows that decoders answer; those that must agree do."""
    rows = {
        name: np.concatenate([part.rows for part in parts])
        for name, parts in answers.items()
        if hasattr(parts[0], "rows")
    }
    rows["top 5, probabilities"] = rows["top 5, probabilities"][:, 0]
    for name in ("nearest, look-ups", "nearest"):
        np.testing.assert_array_equal(rows[name], rows["nearest, all"])
    costs = rows["costs, budget 1,000"]
    np.testing.assert_array_equal(costs[costs >= 0], rows["soft"][costs >= 0])
    np.testing.assert_array_equal(rows["top 5, probabilities"], rows["soft"])
    return rows


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    share = "" if row["right"] is None else f"{row['right']:.3f}"
    return (
        f"{row['classes']:8,} {row['batch']:5} {row['way']:24} "
        f"{row['microseconds']:10.2f} {row['ratio']:8.1f}x {share}"
    )


if __name__ == "__main__":
    typer.run(main)
