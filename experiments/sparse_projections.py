"""Figures 2 to 4 and table 2 of the sparse-projections paper, on real features.

    python -m experiments.sparse_projections --data icd10
    FEWBITS_DATA=folder python -m experiments.sparse_projections --data caltech101-1280

Codes of LSH, ITQ and SP are compared by ANN mAP (true neighbours are the points nearer
than the mean distance to the 50th neighbour), by mAP over labels, by the time to encode
a vector on one thread, and by the accuracy of a linear SVM on the codes.
Training uses the database, never the queries.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._options import Bits, Data, Only, wanted
from experiments._shared_steps import SharedSteps, shared_steps
from experiments._table2 import svm_figures
from fewbits import _kernels
from fewbits.encoders import Encoder
from fewbits.evaluation import (
    Relevance,
    exact_neighbours,
    mean_average_precision,
    neighbour_recall,
    neighbour_threshold,
    share_label,
    within_distance,
)
from fewbits.learners import ITQ, LSH, Learner, SparseProjections, Thresholding

DENSITIES = (0.01, 0.05, 0.1, 0.15, 1.0)
#: The paper does 50 iterations; wide features get fewer, and the page says so.
N_ITER = {"caltech101-5120": 5}
#: Lengths that are left out where a fit takes minutes: others are near them.
LEFT_OUT = {"caltech101-5120": {4096, 8192}}
#: What table 2 has, in bits per feature (0 for float features).
TABLE_2_DATA, TABLE_2_AT = "caltech101-1280", (0, 0.4, 1, 2)
TABLE_2 = ("float", "threshold", "LSH", "ITQ", "SP 5%")


def main(
    data: Data,
    seed: Annotated[list[int] | None, typer.Option(help="0 to 2 if not given.")] = None,
    bits: Bits = None,
    only: Only = None,
) -> None:
    """Measure every cell that is not measured yet."""
    for name in data:
        for number in seed or range(3):
            features = load_features(name, number)
            with shared_steps(features.database) as steps:
                for cell, learner in lineup(name, features.database.shape[1], number):
                    if wanted(cell, only, bits):
                        measure(cell, features, Fit(learner, features, steps))


def lineup(
    name: str, n_features: int, seed: int
) -> Iterator[tuple[Cell, Learner | None]]:
    """Yield a cell and its untrained learner; None stands for the float features."""
    yield {"data": name, "bits": 0, "method": "float", "seed": seed}, None
    threshold = {"data": name, "bits": n_features, "method": "threshold"}
    yield {**threshold, "seed": seed}, Thresholding()
    lengths = set(bit_lengths(n_features)) - LEFT_OUT.get(name, set())
    for n_bits in sorted(lengths):
        for method, learner in methods(n_bits, seed, N_ITER.get(name, 50)):
            cell = {"data": name, "bits": n_bits, "method": method, "seed": seed}
            yield cell, learner


class Fit:
    """A learner that is fitted when its encoder is first asked for."""

    def __init__(
        self, learner: Learner | None, features: FeatureSet, steps: SharedSteps
    ) -> None:
        self.learner, self.features, self.steps = learner, features, steps

    @cached_property
    def encoder(self) -> Encoder | None:
        """The learned encoder, or None for float features."""
        start, saved = time.perf_counter(), self.steps.seconds_saved
        if self.learner is not None:
            self.learner.fit(self.features.database)
        self.seconds = time.perf_counter() - start + self.steps.seconds_saved - saved
        return None if self.learner is None else self.learner.encoder_


def measure(cell: Cell, features: FeatureSet, fit: Fit) -> None:
    """Measure one cell of the figures, and of table 2 where it has one."""
    if cell["method"] != "float":
        Cells("sparse_projections").measure(
            cell, partial(ranking_figures, features, fit, cell["seed"])
        )
    at = cell["bits"] / features.database.shape[1]
    chosen = cell["method"] in TABLE_2 and at in TABLE_2_AT
    if cell["data"] == TABLE_2_DATA and chosen:
        Cells("table2").measure(
            cell, lambda: svm_figures(features, fit.encoder, cell["seed"])
        )


def methods(n_bits: int, seed: int, n_iter: int) -> Iterator[tuple[str, Learner]]:
    """Yield every learner of figure 2, with the one of figure 3."""
    both: Any = {"n_bits": n_bits, "random_state": seed}
    yield "LSH", LSH(**both)
    yield "ITQ", ITQ(**both, n_iter=n_iter)
    for density in DENSITIES:
        sparse = SparseProjections(**both, density=density, n_iter=n_iter)
        yield f"SP {density:.0%}", sparse
    if n_bits in {256, 512, 1280}:
        for step in ("frobenius", "spectral"):
            yield (
                f"SP 10%, iterative, {step}",
                SparseProjections(**both, n_iter=n_iter, solver="iterative", step=step),
            )


def bit_lengths(n_features: int) -> list[int]:
    """Return the powers of two from 64 on, the number of features and twice it."""
    powers = [2**i for i in range(6, 17) if 2**i < 2 * n_features]
    return sorted({*powers, n_features, 2 * n_features})


@dataclass(frozen=True)
class Truth:
    """What a ranking should find: near points, equal labels, the ten nearest points."""

    near: Relevance
    alike: Relevance
    ten: NDArray[np.int64]


@lru_cache(maxsize=1)
def truth_of(features: FeatureSet, seed: int) -> Truth:
    """Return the right answers to every query."""
    threshold = neighbour_threshold(features.database, 50, random_state=seed)
    return Truth(
        within_distance(features.queries, features.database, threshold),
        share_label(features.query_labels, features.database_labels),
        exact_neighbours(features.queries, features.database, 10).ids,
    )


def ranking_figures(features: FeatureSet, fit: Fit, seed: int) -> Cell:
    """Rank the database for the queries, and time the encoder."""
    truth, encoder = truth_of(features, seed), fit.encoder
    assert encoder is not None
    queries, database = (
        encoder.encode(features.queries),
        encoder.encode(features.database),
    )
    near = mean_average_precision(queries, database, truth.near)
    return {
        "ann_map": near.value,
        "label_map": mean_average_precision(queries, database, truth.alike).value,
        "recall10": neighbour_recall(queries, database, truth.ten, 10).value,
        "skipped": near.n_skipped,
        "fit_seconds": round(fit.seconds, 2),
        "n_iter": int(getattr(fit.learner, "n_iter_", 0)),
        "dead_bits": int(getattr(fit.learner, "n_dead_bits_", 0)),
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


def median_seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


if __name__ == "__main__":
    typer.run(main)
