"""Settings that are chosen by what was measured, one task after the other."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from research.core.record import Metrics, Store
from research.core.runner import Task

#: Yields what has to be measured, and returns what is found, or None if it was not run.
Choice = Generator[Task, None, Any]


def measured(each: Task, store: Store) -> Choice:
    """Yield a task of one cell, and return its metrics once it is run."""
    yield each
    return _metrics(store.path, store.path.stat().st_mtime_ns).get(each.keys[0])


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
