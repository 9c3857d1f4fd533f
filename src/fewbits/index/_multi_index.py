"""Multi-index hashing: exact search that looks only where near codes can be."""

from math import inf
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import whole_number
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import (
    Neighbours,
    RangeSearchResult,
    as_codes,
    hamming_range_search,
    hamming_topk,
)
from fewbits.errors import ArgumentError
from fewbits.index._base import Index
from fewbits.index._batches import PILOT, Batch, gathered, joined, spread
from fewbits.index._costs import Costs, Search
from fewbits.index._lazy_tables import LazyTables
from fewbits.index._segment import Segment
from fewbits.index._tables import MAX_LENGTH, MAX_ROWS, Tables

_FEWEST = 1 << 16  # rows: fewer are compared sooner than looked up
_NOT_AT_ALL = 2.0  # times what a scan costs


@final
class MultiIndexHashing(Index):
    """Exact search by multi-index hashing: look up substrings of the query in tables.

    Gives the answers of `FlatIndex`. It is faster if neighbours are a few bits away:
    small radii at any number of bits, and few neighbours among a million codes or more
    of up to 128 bits that come in clusters. A few queries of each batch are looked up
    first; where a scan of all codes is faster, the rest is scanned. Tables are made
    once they would have saved as much time as they cost; they take at most six times
    the memory of the codes. Codes added later have tables of their own.

    Parameters
    ----------
    codes, ids
        As in `FlatIndex`.
    n_substrings : int, default=None
        Into how many parts codes are cut, of 24 bits at most; None means parts of about
        log2 of the number of codes.
    use_scan : bool, default=True
        False makes tables at the first search and looks up each query, however long it
        takes and however few the codes are.

    References
    ----------
    Norouzi, Punjani and Fleet, "Fast Exact Search in Hamming Space with Multi-Index
    Hashing", IEEE TPAMI 2014.

    Examples
    --------
    >>> import numpy as np
    >>> index = MultiIndexHashing(np.array([[0], [3], [255]], np.uint8))
    >>> index.range_search(np.array([[1]], np.uint8), radius=1).ids
    array([0, 1])
    """

    __slots__ = ("_n_substrings", "_use_scan")
    _n_substrings: int | None
    _use_scan: bool

    def __init__(
        self,
        codes: CodeArray,
        ids: ArrayLike | None = None,
        n_substrings: int | None = None,
        *,
        use_scan: bool = True,
    ) -> None:
        n_bits = 8 * as_codes(codes).shape[1]
        self._n_substrings = _checked_number(n_substrings, n_bits)
        self._use_scan = bool(use_scan)
        super().__init__(codes, ids)

    def _topk(
        self,
        segment: Segment,
        queries: CodeArray,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> Neighbours:
        plan = self.plan(segment, queries, mask, ("k", k.bit_length()))
        if plan is None:
            return hamming_topk(queries, segment.codes, k, allowed=mask)

        def scanned(rows: IdArray) -> tuple[IdArray, Neighbours]:
            found = hamming_topk(queries[rows], segment.codes, k, allowed=mask)
            return rows, found

        parts, rest = [], np.arange(len(queries))
        tables = plan.lazy.get(0 if self._use_scan else inf)
        if tables is None:
            # How far the neighbours of a few queries are tells what tables would spare.
            pilot = spread(len(queries))
            parts, rest = [scanned(pilot)], np.delete(rest, pilot)
            radius = median_distance(parts[0][1], 8 * queries.shape[1])
            tables = plan.paid(radius, len(queries))
        if tables is not None and rest.size:
            batch = Batch(tables, queries[rest], mask, plan.costs)
            parts += [(rest[some], batch.topk(some, k)) for some in batch.blocks()]
            plan.learn(batch.ratio, batch.tried)
            rest = rest[batch.rest()]
        return gathered([*parts, scanned(rest)] if rest.size else parts, len(queries))

    def _within(
        self,
        segment: Segment,
        queries: CodeArray,
        radius: int,
        mask: NDArray[np.bool_] | None,
    ) -> RangeSearchResult:
        radius = min(radius, 8 * queries.shape[1])
        plan = self.plan(segment, queries, mask, ("radius", radius))
        tables = None
        if plan is not None and plan.spared(radius):
            tables = plan.paid(radius, len(queries))
        if plan is None or tables is None:
            return hamming_range_search(queries, segment.codes, radius, allowed=mask)
        batch = Batch(tables, queries, mask, plan.costs)
        parts = [(some, batch.within(some, radius)) for some in batch.blocks()]
        plan.learn(batch.ratio, batch.tried)
        if (rest := batch.rest()).size:
            found = hamming_range_search(
                queries[rest], segment.codes, radius, allowed=mask
            )
            parts.append((rest, found))
        return joined(parts, len(queries))

    def plan(
        self,
        segment: Segment,
        queries: CodeArray,
        mask: NDArray[np.bool_] | None,
        kind: tuple[str, int],
    ) -> "Plan | None":
        """Return how a batch may be looked up, None where it is to be scanned."""
        fewest = _FEWEST if self._use_scan else 1
        fits = len(queries) and fewest <= len(segment) <= MAX_ROWS
        if not (fits and _kernels.COMPILED):
            return None
        n = len(segment) if mask is None else int(np.count_nonzero(mask))
        search = Search(n, queries.shape[1], kind[0] == "k")
        if self._use_scan and not search.can_pay(len(queries)):
            return None
        lazy = segment.tables.of(segment.codes, self._n_substrings)
        costs = Costs.of(search, lazy.inside, len(lazy.cuts) - 1, len(queries))
        costs = costs if self._use_scan else costs.unlimited()
        plan = Plan(lazy, costs, (*kind, costs.scan.bit_length()))
        return plan if lazy.outcomes.promise(plan.kind) else None


class Plan(NamedTuple):
    """Tables of a segment, perhaps to be made yet, and costs of one kind of search."""

    lazy: LazyTables
    costs: Costs
    kind: tuple[str, int, int]

    def spared(self, radius: int) -> float:
        """Return what tables spare a query within a radius at most."""
        return self.costs.spared(self.lazy.work(radius))

    def paid(self, radius: int, n_queries: int) -> Tables | None:
        """Return the tables if they have paid, these queries included."""
        spared = self.spared(radius)
        tables = self.lazy.get(n_queries * spared)
        if tables is None:
            ratio = 1 - spared / self.costs.scan if spared else _NOT_AT_ALL
            self.learn(ratio, min(n_queries, PILOT))
        return tables

    def learn(self, ratio: float, n_queries: int) -> None:
        self.lazy.outcomes.learn(self.kind, ratio, n_queries)


def median_distance(found: Neighbours, n_bits: int) -> int:
    """Return the median of the farthest distances; -1 stands for fewer than k."""
    farthest = found.distances[:, -1]
    known = np.sort(np.where(farthest < 0, n_bits, farthest))
    return int(known[len(known) // 2])


def _checked_number(n_substrings: int | None, n_bits: int) -> int | None:
    if n_substrings is None:
        return None
    number, fewest = (
        whole_number(n_substrings, "n_substrings"),
        -(-n_bits // MAX_LENGTH),
    )
    if not fewest <= number <= n_bits:
        raise ArgumentError(
            f"n_substrings must lie between {fewest} and {n_bits} for "
            f"codes of {n_bits} bits, got {number}"
        )
    return number
