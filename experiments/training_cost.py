"""How long PiCoDes and DBC take to learn, and how that grows.

    python -m experiments.training_cost
    python -m experiments.training_cost --large

Clusters with noise stand for features; one of N, d, bits and classes is doubled at a
time. ``--large`` measures the parts of a step of PiCoDes on growing parts of the
problem of their paper, with its 6,415 features; the page extrapolates them.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from typing import Annotated, Any

import typer

from experiments._cells import Cell, Cells
from experiments._clusters import clusters
from experiments._picodes_parts import parts
from fewbits._kernels import set_num_threads
from fewbits.learners import DBC, PiCoDes

BASE = {"items": 2000, "features": 128, "bits": 32, "classes": 50}
FACTORS = (0.5, 1, 2, 4)
LARGE = [
    {"items": items, "features": 6415, "bits": 256, "classes": 32}
    for items in (7500, 10_000, 15_000)  # more than there are features
]
PARTS = "parts of PiCoDes"
N_ITER = 2


def main(
    seeds: Annotated[int, typer.Option()] = 3,
    large: Annotated[bool, typer.Option(help="A part of the paper's problem.")] = False,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("training_cost")
    if large:
        for size in LARGE:
            cell = {"method": PARTS, **size, "seed": 0}
            cells.measure(cell, partial(alone, parts, seed=0, **size))
        return
    for seed in range(seeds):
        for size in sizes():
            for method in ("PiCoDes", "DBC"):
                cell = {"method": method, **size, "seed": seed}
                cells.measure(cell, partial(alone, figures, method, seed, **size))


def sizes() -> Iterator[dict[str, int]]:
    """Yield the base, and with one number at a time made smaller or larger."""
    yield BASE
    for name in BASE:
        for factor in FACTORS:
            if factor != 1:
                yield {**BASE, name: int(factor * BASE[name])}


def alone(function: Callable[..., Cell], *arguments: Any, **size: int) -> Cell:
    """Return figures from a process of its own, as the memory at the peak is one's."""
    with get_context("spawn").Pool(1) as pool:
        found: Cell = pool.apply(function, arguments, size)
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
    n_more = iterations[1] - iterations[0]
    return {"seconds_per_bit": (seconds[1] - seconds[0]) / (bits * n_more)}


if __name__ == "__main__":
    typer.run(main)
