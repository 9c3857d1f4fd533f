"""Choice of the segments that a commit joins: numbers in, runs out, no files.

Segments keep their order, so only neighbours are joined. A segment weighs as much as
the 4,096 rows, or mebibytes, that live in it, whichever is more; its level is the
logarithm of that to base 4, and one that weighs less than 1 is small. What holds after
each commit:

- of each segment at least half of the rows live;
- levels do not rise from left to right, small ones are at the end and one at most, and
  of each level there are three at most: those of ``w`` mebibytes are at most
  ``4 + 3 * log4(w)``;
- a segment with half of the `full` bytes or more is joined no further. Among such there
  is at most one other between two.

A row is copied once for each level that it rises, and while its segment is small.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, log

ROWS, BYTES = 4096, 1 << 20
_FAN = 4


@dataclass(eq=False)
class Size:
    """A segment, as the policy sees it."""

    n_rows: int
    n_live: int
    n_bytes: int
    n_updated: int = 0  # rows with values that stand elsewhere; they may count twice
    has_dropped: bool = False  # columns in its file


@dataclass(frozen=True)
class Run:
    """Segments ``[start, stop)`` that become one.

    One alone is written anew, without its deleted rows, where it `is_new`; else it
    stays.
    """

    start: int
    stop: int
    n_live: float
    live_bytes: float
    is_new: bool = False

    @property
    def weight(self) -> float:
        return max(self.n_live / ROWS, self.live_bytes / BYTES)


def plan(sizes: Sequence[Size], full: int) -> list[Run]:
    """Return what becomes of segments; those without live rows are in no run.

    No segment is made with more than `full` bytes.

    Examples
    --------
    >>> small, large = Size(10, 10, 1000), Size(9000, 9000, 900_000)
    >>> [(run.start, run.stop) for run in plan([large, small, small], 1 << 28)]
    [(0, 1), (1, 3)]
    """
    runs = unmerged(sizes)
    for i, size in enumerate(sizes[run.start] for run in runs):
        # More rows are deleted than live, or a quarter has new values.
        if 2 * size.n_live < size.n_rows or 4 * size.n_updated > size.n_rows:
            runs[i] = replace(runs[i], is_new=True)
    while (ends := _next_join(runs, full)) is not None:
        joined = slice(ends[0], ends[1] + 1)
        runs[joined] = [_as_one(runs[joined])]
    return runs


def unmerged(sizes: Sequence[Size]) -> list[Run]:
    """Return a run for each segment in which a row lives, none of them new."""
    return [
        Run(i, i + 1, size.n_live, size.n_bytes * size.n_live / size.n_rows)
        for i, size in enumerate(sizes)
        if size.n_live
    ]


def _as_one(runs: list[Run]) -> Run:
    """Return runs and whatever dead segments lie between them as one."""
    live = sum(run.n_live for run in runs)
    live_bytes = sum(run.live_bytes for run in runs)
    return Run(runs[0].start, runs[-1].stop, live, live_bytes, is_new=True)


def compacted(sizes: Sequence[Size], full: int) -> list[Run]:
    """Return runs as large as they may be, without deleted rows."""
    runs: list[Run] = []
    for run in unmerged(sizes):
        size = sizes[run.start]
        if runs and runs[-1].live_bytes + run.live_bytes <= full:
            runs[-1] = _as_one([runs[-1], run])
        else:
            has_old = size.n_updated > 0 or size.has_dropped
            is_new = size.n_live < size.n_rows or has_old
            runs.append(replace(run, is_new=is_new))
    return runs


def _next_join(runs: list[Run], full: int) -> tuple[int, int] | None:
    levels = [_level(run, full) for run in runs]
    for i, (level, after) in enumerate(pairwise(levels)):
        if level < inf and after < inf and (level < after or level == after == -1):
            return i, i + 1
    start = 0
    for stop in range(1, len(runs) + 1):
        if stop == len(runs) or levels[stop] != levels[start]:
            last = _enough(runs, levels, start, stop, full)
            if last is not None:
                return start, last
            start = stop
    for i, after in enumerate(levels[2:], 2):
        if after == inf and levels[i - 1] < inf and levels[i - 2] < inf:
            return i - 2, i - 1
    return None


def _enough(
    runs: list[Run], levels: list[float], start: int, stop: int, full: int
) -> int | None:
    """Return the last of the first runs of a run that together rise a level."""
    if levels[start] == inf:
        return None
    weight = size = 0.0
    for i in range(start, stop):
        weight += runs[i].weight
        size += runs[i].live_bytes
        if i > start and (weight >= _FAN ** (levels[start] + 1) or 2 * size >= full):
            return i
    return None


def _level(run: Run, full: int) -> float:
    if 2 * run.live_bytes >= full:
        return inf
    return -1 if run.weight < 1 else int(log(run.weight, _FAN) + 1e-9)
