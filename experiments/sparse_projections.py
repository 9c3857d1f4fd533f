"""Figures 2 to 4 and table 2 of the sparse-projections paper, on real features.

    python -m experiments.sparse_projections --data icd10
    FEWBITS_DATA=folder python -m experiments.sparse_projections --data caltech101-1280

Codes of LSH, ITQ and SP are compared by ANN mAP (true neighbours are the points nearer
than the mean distance to the 50th neighbour), by mAP over labels, by the time to encode
a vector on one thread, and (``--svm``) by the accuracy of a linear SVM on the codes.
Training uses the database, never the queries.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._axes import SharedAxes, shared_axes
from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from fewbits import _kernels
from fewbits.encoders import Encoder
from fewbits.evaluation import (
    Relevance,
    exact_neighbours,
    mean_average_precision,
    neighbour_recall,
    neighbour_threshold,
    share_label,
    svm_accuracy,
    within_distance,
)
from fewbits.learners import ITQ, LSH, Learner, SparseProjections, Thresholding

DENSITIES = (0.01, 0.05, 0.1, 0.15, 1.0)
#: The paper does 50 iterations; wide features get fewer, and the page says so.
N_ITER = {"caltech101-5120": 5}
SVM_COSTS = [0.001, 0.01, 0.1, 1.0]


def main(
    data: Annotated[list[str], typer.Option(help="Feature sets.")],
    seeds: Annotated[int, typer.Option()] = 3,
    bits: Annotated[list[int] | None, typer.Option(help="Lengths.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Methods.")] = None,
    svm: Annotated[bool, typer.Option(help="Table 2 instead of the figures.")] = False,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("table2" if svm else "sparse_projections")
    for name in data:
        for seed in range(seeds):
            features = load_features(name, seed)
            with shared_axes(features.database) as axes:
                if svm:
                    measure = partial(svm_figures, features)
                else:
                    truth = truth_of(features, seed)
                    measure = partial(ranking_figures, features, truth, axes)
                for cell, learner in lineup(name, features, seed, svm):
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(measure, learner))


def wanted(cell: Cell, only: list[str] | None, bits: list[int] | None) -> bool:
    """Whether the command line asks for a cell."""
    return (not only or cell["method"] in only) and (not bits or cell["bits"] in bits)


def lineup(
    name: str, features: FeatureSet, seed: int, svm: bool
) -> Iterator[tuple[Cell, Learner | None]]:
    """Yield a cell and its untrained learner; None stands for the float features."""
    n_features = features.database.shape[1]
    n_iter = N_ITER.get(name, 50)
    if svm:
        yield {"data": name, "bits": 0, "method": "float", "seed": seed}, None
    threshold = {"data": name, "bits": n_features, "method": "threshold"}
    yield {**threshold, "seed": seed}, Thresholding()
    for n_bits in bit_lengths(n_features):
        for method, learner in methods(n_bits, seed, n_iter, svm):
            cell = {"data": name, "bits": n_bits, "method": method, "seed": seed}
            yield cell, learner


def methods(
    n_bits: int, seed: int, n_iter: int, svm: bool
) -> Iterator[tuple[str, Learner]]:
    """Yield every learner of figure 2 (with the one of figure 3), or of table 2."""
    both = {"n_bits": n_bits, "random_state": seed}
    yield "LSH", LSH(**both)
    yield "ITQ", ITQ(**both, n_iter=n_iter)
    for density in (0.05,) if svm else DENSITIES:
        sparse = SparseProjections(**both, density=density, n_iter=n_iter)
        yield f"SP {density:.0%}", sparse
    if not svm and n_bits in {256, 512, 1280}:
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


def truth_of(features: FeatureSet, seed: int) -> Truth:
    """Return the right answers to every query."""
    threshold = neighbour_threshold(features.database, 50, random_state=seed)
    return Truth(
        within_distance(features.queries, features.database, threshold),
        share_label(features.query_labels, features.database_labels),
        exact_neighbours(features.queries, features.database, 10).ids,
    )


def ranking_figures(
    features: FeatureSet, truth: Truth, axes: SharedAxes, learner: Learner
) -> Cell:
    """Fit on the database, rank it for the queries, and time the encoder."""
    start, saved = time.perf_counter(), axes.seconds_saved
    learner.fit(features.database)
    fit_seconds = time.perf_counter() - start + axes.seconds_saved - saved
    encoder = learner.encoder_
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
        "fit_seconds": round(fit_seconds, 2),
        "n_iter": int(getattr(learner, "n_iter_", 0)),
        "dead_bits": int(getattr(learner, "n_dead_bits_", 0)),
        **encode_times(encoder, features.queries),
    }


def svm_figures(features: FeatureSet, learner: Learner | None) -> Cell:
    """Train linear SVMs on codes of the database, test them on the queries."""
    train, test = features.database, features.queries
    n_bits = None
    if learner is not None:
        encoder = learner.fit(train).encoder_
        train, test = encoder.encode(train), encoder.encode(test)
        n_bits = encoder.n_bits
    found = svm_accuracy(
        train,
        features.database_labels,
        test,
        features.query_labels,
        n_bits=n_bits,
        C=SVM_COSTS,
    )
    return {"accuracy": found.value, "per_class": found.per_class_mean}


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
