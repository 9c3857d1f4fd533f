"""How long PiCoDes and DBC take to learn, and how that grows.

    python -m experiments.training_cost
    python -m experiments.training_cost --large

Clusters with noise stand for features; one of N, d, bits and classes is doubled at a
time. ``--large`` takes a part of the problem of the PiCoDes paper, with its 6,415
features: what is measured there is extrapolated on the page.
"""

import resource
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from fewbits._kernels import set_num_threads
from fewbits.learners import DBC, PiCoDes

BASE = {"items": 2000, "features": 128, "bits": 32, "classes": 50}
FACTORS = (0.5, 1, 2, 4)
LARGE = {"items": 10_000, "features": 6415, "bits": 16, "classes": 333}
N_ITER = 2


def main(
    seeds: Annotated[int, typer.Option()] = 3,
    large: Annotated[bool, typer.Option(help="A part of the paper's problem.")] = False,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("training_cost")
    for seed in range(1 if large else seeds):
        for size in [LARGE] if large else sizes():
            for method in ("PiCoDes",) if large else ("PiCoDes", "DBC"):
                cell = {"method": method, **size, "seed": seed}
                cells.measure(cell, partial(alone, method, seed, **size))


def sizes() -> Iterator[dict[str, int]]:
    """Yield the base, and with one number at a time made smaller or larger."""
    yield BASE
    for name in BASE:
        for factor in FACTORS:
            if factor != 1:
                yield {**BASE, name: int(factor * BASE[name])}


def alone(method: str, seed: int, **size: int) -> Cell:
    """Return figures from a process of its own, as the memory at the peak is one's."""
    with get_context("spawn").Pool(1) as pool:
        found: Cell = pool.apply(figures, (method, seed), size)
    return found


def figures(
    method: str, seed: int, *, items: int, features: int, bits: int, classes: int
) -> Cell:
    """Return seconds per bit and iteration, and memory at the peak."""
    set_num_threads(1)
    X, y = clusters(items, features, classes, seed)
    make: Any = {"PiCoDes": PiCoDes, "DBC": DBC}[method]
    seconds, iterations = [], []
    for n_iter in (0, N_ITER) if method == "DBC" else (1, 1 + N_ITER):
        learner = make(bits, n_iter=n_iter, tol=0.0, random_state=seed)
        start = time.process_time()  # other processes do not count
        learner.fit(X, y)
        seconds.append(time.process_time() - start)
        iterations.append(learner.n_iter_)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "seconds_per_bit": (seconds[1] - seconds[0])
        / (bits * (iterations[1] - iterations[0])),
        "seconds_to_start": seconds[0],
        "peak_bytes": peak,
        "input_bytes": X.nbytes,
    }


def clusters(
    items: int, features: int, classes: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return noisy clusters, a class each, in directions of falling variance."""
    rng = np.random.default_rng(seed)
    scale = (1 + np.arange(features, dtype=np.float32)) ** -0.5
    centres = rng.standard_normal((classes, features), np.float32)
    y = np.arange(items) % classes
    noise = rng.standard_normal((items, features), np.float32)
    return (centres[y] + 1.5 * noise) * scale, y


if __name__ == "__main__":
    typer.run(main)
