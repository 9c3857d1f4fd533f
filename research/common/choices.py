"""Settings that are chosen by what was measured, one task after the other."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.common.problems import Problem
from research.core.record import Metrics, Settings, Store
from research.core.runner import Task, task

Rows = NDArray[np.int64]

#: Rates and epochs that are tried first, and while the best is the last.
RATES, MORE_RATES = (3e-4, 1e-3, 3e-3), (3e-5, 1e-4, 1e-2, 3e-2, 0.1)
EPOCHS, MORE_EPOCHS = (10, 20), (5, 40, 80)
#: Seeds and length that are chosen by, and how many seeds ask for the number of epochs.
CHOSEN_SEED, CHOSEN_BITS, N_ASKED = 1000, 32, 2
#: Whose base has no item that is trained on: what ranks those best was trained too long
#: to rank others. Held-out items rank one another there, after so many epochs at first.
NEW_BASE, USUAL_EPOCHS = ("cifar10",), 20
#: Of what is reported; their queries are no part of what anything is chosen on.
N_SEEDS = 5

#: Yields what has to be measured, and returns what is found, or None if it was not run.
Choice = Generator[Task, None, Any]


def measured(each: Task, store: Store) -> Choice:
    """Yield a task of one cell, and return its metrics once it is run."""
    yield each
    return _metrics(store.path, store.path.stat().st_mtime_ns).get(each.keys[0])


def mean_unseen(
    settings: Settings, measure: Callable[[int], Metrics], store: Store
) -> Choice:
    """Return how well held-out items rank, over seeds, or None if it was not run."""
    values = []
    for seed in range(CHOSEN_SEED, CHOSEN_SEED + N_ASKED):
        one = task("unseen", {**settings, "seed": seed}, partial(measure, seed))
        found = yield from measured(one, store)
        values.append(found and found["unseen"])
    return None if None in values else sum(values) / len(values)


def halves(problem: Problem, rows: Rows) -> list[tuple[Rows, Rows]]:
    """Return held-out items as queries and base, either half of them as each.

    Every other item of each class, where items have one.
    """
    if problem.labels.ndim == 1:
        rows = rows[np.argsort(problem.labels[rows], kind="stable")]
    return [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]


@lru_cache(maxsize=1)
def _metrics(path: Path, changed: int) -> dict[str, Metrics]:
    return {record.key: record.metrics for record in Store(path).read()}


def best_of(
    values: Sequence[float],
    quality: Callable[[float], Choice],
    more: Sequence[float] = (),
) -> Choice:
    """Return the best of `values`, and go on along `more` while the last one is."""
    found: dict[float, float] = {}
    ahead = list(values)
    while ahead:
        for value in ahead:
            found[value] = yield from quality(value)
        if None in found.values():
            return None
        best = max(found, key=lambda value: found[value])
        beyond = [each for each in more if each not in found]
        lower = [each for each in beyond if each < best == min(found)]
        higher = [each for each in beyond if each > best == max(found)]
        ahead = [max(lower)] if lower else [min(higher)] if higher else []
    return best
