"""Prices of look-ups and scans: constants, so that nothing depends on a clock.

They decide how long a search takes, never what it answers.
"""

from math import comb
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import IdArray

# Picoseconds, fitted to the figures of benchmarks/multi_index.py: of a look-up and of a
# comparison, where the buckets hold the codes and where they hold rows only.
_INSIDE, _ELSEWHERE = (28_000, 4_500), (50_000, 11_000)
# Of a comparison of 64 bits in a scan: for a query among many, and for a few.
_SCAN = {
    "avx512": (70, 250),
    "avx2": (100, 300),
    "neon": (200, 400),
    "portable": (240, 2200),
}
_FEW = 12  # queries
#: Of a code in one table: to make the table, and to read it from a file and check it.
BUILD, READ = 30_000, 5_000
_UNLIMITED = 1 << 62


class Costs(NamedTuple):
    """Picoseconds of a look-up, of a comparison, and of a scan for one query."""

    lookup: int
    candidate: int
    scan: int

    @classmethod
    def of(
        cls, inside: bool, shape: tuple[int, int], n_queries: int, n_scans: int
    ) -> Self:
        """Return the costs of a search of codes of this shape, scanned so often."""
        threads = _kernels.num_threads()
        many, few = _SCAN.get(_kernels.active_isa(), _SCAN["portable"])
        words = shape[0] * -(-shape[1] // 8)
        scan = n_scans * words * (many if n_queries >= _FEW else few)
        # A scan is shared among threads even where there are few queries.
        return cls(
            *(_INSIDE if inside else _ELSEWHERE),
            scan * min(n_queries, threads) // threads,
        )

    def unlimited(self) -> Self:
        """Return the costs of a search that is never given up for a scan."""
        return self._replace(scan=_UNLIMITED)

    @property
    def budget(self) -> _kernels.Budget:
        """The most that one query may cost."""
        return _kernels.Budget(self.lookup, self.candidate, self.scan)

    def spent(self, work: IdArray, done: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the cost of each query, a scan included where it was given up."""
        looked_up = work[:, 0] * self.lookup + work[:, 1] * self.candidate
        return np.asarray(looked_up + np.where(done, 0, self.scan), np.float64)

    def spared(self, cuts: IdArray, n: int, radius: int) -> float:
        """Return what tables spare a query at most, 0 where a scan is as cheap.

        A radius costs least where the codes are spread out evenly.
        """
        lengths, total = np.diff(cuts).tolist(), 0.0
        for step in range(radius + 1):
            flips, number = divmod(step, len(lengths))
            lookups = comb(lengths[number], flips)
            total += lookups * (self.lookup + self.candidate * n / 2 ** lengths[number])
            if total >= self.scan:
                return 0.0
        return self.scan - total
