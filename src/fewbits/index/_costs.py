"""What a look-up costs, and a scan: constants, so that nothing depends on a clock.

They decide how long a search takes, never what it answers.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import IdArray
from fewbits.index._tables import Tables

# Picoseconds, fitted to the figures of benchmarks/multi_index.py: of a look-up, and of
# a comparison with a code in a bucket, or elsewhere.
_LOOKUP, _INSIDE, _ELSEWHERE = 9_000, 700, 4_000
# Of a comparison of 64 bits in a scan: for a query among many, and for a few.
_SCAN = {
    "avx512": (85, 300),
    "avx2": (120, 350),
    "neon": (200, 400),
    "portable": (400, 1200),
}
_FEW = 12  # queries


class Costs(NamedTuple):
    """Picoseconds of a look-up, of a comparison, and of a scan for one query."""

    lookup: int
    candidate: int
    scan: int

    @classmethod
    def of(cls, tables_inside: bool, n: int, n_bytes: int, n_queries: int) -> "Costs":
        """Return the costs of searching `n` codes."""
        threads = _kernels.num_threads()
        many, few = _SCAN.get(_kernels.active_isa(), _SCAN["portable"])
        scan = n * -(-n_bytes // 8) * (many if n_queries >= _FEW else few)
        # A scan is shared among threads even where there are few queries.
        scan = scan * min(n_queries, threads) // max(1, threads)
        return cls(_LOOKUP, _INSIDE if tables_inside else _ELSEWHERE, scan)

    @property
    def budget(self) -> _kernels.Budget:
        """What one query may cost."""
        return _kernels.Budget(self.lookup, self.candidate, self.scan)

    def spent(self, work: IdArray, done: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the cost of each query, a scan included where it was given up."""
        looked_up = work[:, 0] * self.lookup + work[:, 1] * self.candidate
        return np.asarray(looked_up + np.where(done, 0, self.scan), np.float64)

    def least(self, lengths: list[int], n: int, radius: int) -> float:
        """Return what a radius costs where the codes are spread out evenly."""
        m, total = len(lengths), 0.0
        for step in range(radius + 1):
            flips, number = divmod(step, m)
            lookups = comb(lengths[number], flips)
            total += lookups * (self.lookup + self.candidate * n / 2 ** lengths[number])
            if total > self.scan:
                break
        return total


def inside(tables: Tables) -> bool:
    """Return whether codes lie in the buckets."""
    return tables.entries is not None
