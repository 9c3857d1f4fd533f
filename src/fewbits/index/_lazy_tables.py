"""Tables that are made once they would have paid."""

from collections.abc import Callable
from functools import cached_property
from math import comb, inf
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.index import _costs
from fewbits.index._outcomes import Outcomes
from fewbits.index._tables import Tables, build_tables, default_cuts, sizes

#: Reads the tables of some codes where they are kept, None if they are not there.
Saved = Callable[[CodeArray], Tables | None]


class LazyTables:
    """The tables of one segment, or the cost of the scans without them.

    What tables would have spared is added up. Once it is as much as they cost, they are
    read where they are kept, or made. So searching costs at most about twice what it
    would if all queries were known in advance.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_substrings : int or None
    saved : callable or None
        Reads the tables, which is cheaper than making them.
    """

    def __init__(
        self, codes: CodeArray, n_substrings: int | None, saved: Saved | None
    ) -> None:
        self._codes, self._n_substrings, self._saved = codes, n_substrings, saved
        n, n_bytes = codes.shape
        self.cuts = default_cuts(n, 8 * n_bytes, n_substrings)
        self.outcomes = Outcomes()
        self._tables: Tables | None = None
        self._spared, self._lock = 0.0, Lock()

    def work(self, radius: int) -> tuple[float, float]:
        """Return the look-ups and comparisons of a radius, if codes are spread evenly.

        That is the least: buckets of codes in clusters are larger where queries are.
        """
        lookups, candidates = self._work
        return float(lookups[radius]), float(candidates[radius])

    @cached_property
    def _work(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lengths = np.diff(self.cuts).tolist()
        steps = [divmod(step, len(lengths)) for step in range(int(self.cuts[-1]) + 1)]
        each = np.array([float(comb(lengths[j], flips)) for flips, j in steps])
        filled = len(self._codes) / 2.0 ** np.array([lengths[j] for _, j in steps])
        return np.cumsum(each), np.cumsum(each * filled)

    @property
    def inside(self) -> bool:
        """True if the tables hold the codes, or would."""
        if self._tables is not None:
            return self._tables.entries is not None
        return self._would_hold_codes

    @cached_property
    def _would_hold_codes(self) -> bool:
        return sizes(self._codes.shape, self.cuts)[2] > 0

    def get(self, spared: float = inf) -> Tables | None:
        """Return the tables if they are there, or pay by now.

        Parameters
        ----------
        spared : float
            Picoseconds that they would spare in what is asked now.
        """
        if self._tables is None:
            self._spared += spared
            # A thread that comes while another makes them does a scan.
            while self._pays() and self._lock.acquire(blocking=False):
                try:
                    self._made()
                finally:
                    self._lock.release()
        return self._tables

    def _pays(self) -> bool:
        shape = (len(self.cuts) - 1) * len(self._codes)
        each = _costs.BUILD if self._saved is None else _costs.READ
        return self._tables is None and self._spared >= each * shape

    def _made(self) -> None:
        saved, self._saved = self._saved, None
        if self._tables is not None:
            return
        try:
            if saved is None:
                self._tables = build_tables(self._codes, self._n_substrings)
            else:
                self._tables = saved(self._codes)
        except MemoryError:
            self._spared = -inf  # a scan needs none


class TableCache:
    """The tables of the codes of one segment, for indexes that share it.

    Parameters
    ----------
    saved : callable, default=None
        As of `LazyTables`.
    """

    def __init__(self, saved: Saved | None = None) -> None:
        self._saved = saved
        self._lazy: dict[int | None, LazyTables] = {}

    def of(self, codes: CodeArray, n_substrings: int | None) -> LazyTables:
        """Return the tables of some codes, always the same."""
        if n_substrings not in self._lazy:
            made = LazyTables(codes, n_substrings, self._saved)
            self._lazy.setdefault(n_substrings, made)
        return self._lazy[n_substrings]
