"""Finding the class: decoders of 64-bit codes against a float classifier.

    python -m benchmarks.decode [--quick] [--json FILE]

Random classes, of which each item has about one bit in twenty wrong; and every leaf of
ICD-10-CM, with items that lack a word of its text. The float classifier is NumPy's
BLAS: a matrix product of 1,280 features (256 of a text) with a vector for each class,
and the largest. A decoder needs the item's code first, so its ratio counts the encoding
of the same features as well. Everything answers in one process, in turn, on one thread;
figures are medians. What can be decoded in two ways must give the same answers.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from benchmarks._class_problems import Classes, icd10_leaves, random_classes
from benchmarks.search import interleaved
from fewbits import _kernels
from fewbits.classify import Codebook, top_classes
from fewbits.classify.decoders import Bounded, Exact, Nearest, Orbgrand, Soft
from fewbits.codes import pack
from fewbits.errors import MissingExtraError

N_CLASSES = (1_000, 10_000, 100_000)
BATCHES = {1: 20, 200: 200}  # items at a time, of so many

Way = Callable[[slice], Any]


def main(
    quick: Annotated[bool, typer.Option(help="At most 10,000 random classes.")] = False,
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
        for classes in problems(quick):
            for batch in BATCHES:
                for row in measure(classes, batch, repeats):
                    rows.append(row)
                    print(shown(row), flush=True)
    _kernels.set_num_threads(None)
    if json_path:
        json_path.write_text(json.dumps(rows, indent=1) + "\n")


def problems(quick: bool) -> Iterator[Classes]:
    """Yield the classes, one set at a time since their vectors take much memory."""
    n_items = max(BATCHES.values())
    for n_classes in N_CLASSES[:2] if quick else N_CLASSES:
        yield random_classes(n_classes, n_items)
    if not quick:
        try:
            yield icd10_leaves(n_items)
        except MissingExtraError as error:
            print(f"left out: {error}")


def measure(classes: Classes, batch: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each way of finding the class."""
    n_items = BATCHES[batch]
    X, W, encoder = classes.X, classes.W, classes.encoder
    wanted = classes.wanted[:n_items]
    ways: dict[str, Way] = {
        "float": lambda some: (X[some] @ W).argmax(axis=1),
        "encode": lambda some: encoder.encode(X[some]),
        **decoders(classes.book, classes.scores),
    }
    spans = [slice(i, i + batch) for i in range(0, n_items, batch)]
    runs = {name: _over(way, spans) for name, way in ways.items()}
    rows = check({name: run() for name, run in runs.items()})
    if classes.name != "random":  # whose features say nothing of the class
        rows["float"] = np.concatenate(runs["float"]())
    times = interleaved(runs, dict.fromkeys(runs, repeats))
    encoding = times.pop("encode")
    return [
        {
            "data": classes.name,
            "classes": len(classes.book),
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
        return lambda some: Nearest(method=method).decode(book, codes[some])

    def orbgrand(max_queries: int, order: str) -> Way:
        return lambda some: Orbgrand(max_queries, order=order).decode(
            book, scores[some]
        )

    return {
        "exact": lambda some: Exact().decode(book, codes[some]),
        "bounded, radius 2": lambda some: Bounded(2).decode(book, codes[some]),
        "nearest, all": nearest("exhaustive"),
        "nearest, look-ups": nearest("look-ups"),
        "nearest": nearest("auto"),
        "soft": lambda some: Soft().decode(book, scores[some]),
        "orbgrand by ranks, 100 guesses": orbgrand(100, "ranks"),
        "orbgrand by ranks, 1,000 guesses": orbgrand(1000, "ranks"),
        "orbgrand by ranks, 10,000 guesses": orbgrand(10_000, "ranks"),
        "orbgrand by costs, 1,000 guesses": orbgrand(1000, "costs"),
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
    costs = rows["orbgrand by costs, 1,000 guesses"]
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
