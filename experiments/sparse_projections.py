"""Figures 2 to 4 and table 2 of the sparse-projections paper, on real features.

    FEWBITS_DATA=folder python -m experiments.sparse_projections --data icd10

Codes of LSH, ITQ and SP are compared by ANN mAP (true neighbours are the points nearer
than the mean distance to the 50th neighbour), by mAP over labels, and by the time to
encode a vector on one thread. Training uses the database, never the queries.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from fewbits import _kernels, evaluation
from fewbits.encoders import Encoder
from fewbits.learners import ITQ, LSH, Learner, SparseProjections

DENSITIES = (0.01, 0.05, 0.1, 0.15, 1.0)
N_ITER = {"caltech101-5120": 10}  # 50 elsewhere, as in the paper


@dataclass(frozen=True)
class Method:
    """A learner under the name that the tables use."""

    name: str
    make: Any


def methods(n_bits: int, seed: int, n_iter: int) -> Iterator[tuple[str, Learner]]:
    """Yield every learner of figure 2, untrained."""
    yield "LSH", LSH(n_bits=n_bits, random_state=seed)
    yield "ITQ", ITQ(n_bits=n_bits, n_iter=n_iter, random_state=seed)
    for density in DENSITIES:
        yield (
            f"SP {density:.0%}",
            SparseProjections(
                n_bits=n_bits, density=density, n_iter=n_iter, random_state=seed
            ),
        )


def main(
    data: Annotated[list[str], typer.Option(help="Feature sets.")],
    seeds: Annotated[int, typer.Option()] = 3,
    max_bits: Annotated[int | None, typer.Option()] = None,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("sparse_projections")
    for name in data:
        for seed in range(seeds):
            features = load_features(name, seed)
            truth = evaluation.radius_neighbours(
                features.queries, features.database, rank=50, random_state=seed
            )
            for n_bits in bit_lengths(features.database.shape[1], max_bits):
                for method, learner in methods(n_bits, seed, N_ITER.get(name, 50)):
                    cell = {"data": name, "bits": n_bits, "method": method}
                    cells.measure(
                        {**cell, "seed": seed},
                        lambda learner=learner: measure(learner, features, truth),
                    )


def bit_lengths(n_features: int, max_bits: int | None) -> list[int]:
    """Return the powers of two from 64 on, the number of features and twice it."""
    powers = [2**i for i in range(6, 17) if 2**i < 2 * n_features]
    lengths = sorted({*powers, n_features, 2 * n_features})
    return [bits for bits in lengths if bits <= (max_bits or bits)]


def measure(learner: Learner, features: FeatureSet, truth: Any) -> Cell:
    """Fit on the database, encode both sides, and return the figures."""
    start = time.perf_counter()
    learner.fit(features.database)
    fit_seconds = time.perf_counter() - start
    encoder = learner.encoder_
    database, queries = (
        encoder.encode(features.database),
        encoder.encode(features.queries),
    )
    return {
        "ann_map": evaluation.average_precision(queries, database, truth).mean,
        "label_map": evaluation.average_precision(
            queries,
            database,
            query_labels=features.query_labels,
            database_labels=features.database_labels,
        ).mean,
        "fit_seconds": round(fit_seconds, 2),
        "n_iter": int(getattr(learner, "n_iter_", 0)),
        **encode_times(encoder, features.queries),
    }


def encode_times(encoder: Encoder, X: NDArray[np.float32]) -> Cell:
    """Return microseconds per vector on one thread, in a batch and alone."""
    _kernels.set_num_threads(1)
    try:
        batch = median_seconds(lambda: encoder.encode(X)) / len(X)
        single = median_seconds(lambda: encoder.encode(X[:1]), repeats=30)
    finally:
        _kernels.set_num_threads(None)
    return {"batch_us": round(1e6 * batch, 2), "single_us": round(1e6 * single, 2)}


def median_seconds(function: Any, repeats: int = 5) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


if __name__ == "__main__":
    typer.run(main)
