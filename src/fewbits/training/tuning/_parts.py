"""The split of rows: to learn from, to search among, and two sets of queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.training.tuning._trial import Sample, Trial


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows to learn from and rows to search, in random order, and two sets of queries.

    No row is in two of them, so that a quality is one for rows that come later. One
    set of queries is for validation, the other for testing the choice: the best of many
    looks better on the queries that chose it than on others.
    """

    X: NDArray[Any]
    y: NDArray[Any] | None
    learn: NDArray[np.int64]
    base: NDArray[np.int64]
    choose: NDArray[np.int64]
    report: NDArray[np.int64]

    def trial(self, n_items: int, quality: str, k: int, *, last: bool = False) -> Trial:
        """Return a trial with the first `n_items`; the `last` has the other queries."""
        asked = self.report if last else self.choose
        return Trial(
            *self._rows(np.sort(self.base[:n_items])),
            *self._rows(asked),
            quality,
            k,
            sample=self._rows(np.sort(self.learn[:n_items])),
        )

    def _rows(self, rows: NDArray[np.int64]) -> Sample:
        labels = None if self.y is None else self.y[rows]
        return Sample(np.ascontiguousarray(self.X[rows]), labels)


def split(X: NDArray[Any], y: NDArray[Any] | None, n_queries: int, seed: int) -> Parts:
    """Draw the parts."""
    order = np.random.default_rng(seed).permutation(len(X))
    rest, choose, report = np.split(order, [-2 * n_queries, -n_queries])
    learn, base = np.split(rest[: len(rest) // 2 * 2], 2)
    return Parts(X, y, learn, base, choose, report)


def sizes(n: int, least: int) -> Iterator[int]:
    """Yield how many rows each round has, four times as many as the one before."""
    if n // 4 >= least:
        yield from sizes(n // 4, least)
    yield n
