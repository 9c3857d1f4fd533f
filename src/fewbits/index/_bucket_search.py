"""Search in the buckets of substring tables while that costs less than a scan."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes._pairs import as_words, count_bits
from fewbits.index._substrings import SubstringTables, flips

# Nanoseconds, fitted to the figures of benchmarks/multi_index.py: of a step for all
# queries, of a look-up, of a comparison, and of a row that is kept.
STEP, LOOKUP, CANDIDATE, FOUND = 120_000, 12, 20, 150


class Pairs(NamedTuple):
    """Pairs of a query and a row that it found, with their distance."""

    queries: IdArray
    rows: IdArray
    distances: DistanceArray

    @classmethod
    def joined(cls, parts: "list[Pairs]") -> "Pairs":
        if not parts:
            none = np.empty(0, np.int64)
            return cls(none, none, none.astype(np.int32))
        return cls(
            np.concatenate([each.queries for each in parts]),
            np.concatenate([each.rows for each in parts]),
            np.concatenate([each.distances for each in parts]),
        )

    def only(self, kept: NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.queries[kept], self.rows[kept], self.distances[kept])

    def ordered(self) -> "Pairs":
        """Return them by (query, distance, row)."""
        if not len(self.rows):
            return self
        n_rows, n_distances = int(self.rows.max()) + 1, int(self.distances.max()) + 1
        if (int(self.queries.max()) + 1) * n_distances * n_rows >= 2**63:
            order = np.lexsort((self.rows, self.distances, self.queries))
            return Pairs(self.queries[order], self.rows[order], self.distances[order])
        # One number holds all three: NumPy sorts numbers many times as fast.
        keys = (self.queries * n_distances + self.distances) * n_rows + self.rows
        keys.sort()
        keys, rows = np.divmod(keys, n_rows)
        queries, distances = np.divmod(keys, n_distances)
        return Pairs(queries, rows, distances.astype(np.int32))


class BucketSearch:
    """Search of a block of queries; `given_up` took longer than `budget` ns.

    Each query wants all rows within its `bounds`. With `k`, these shrink to the
    distance of the k-th row found.
    """

    def __init__(
        self,
        codes: CodeArray,
        tables: SubstringTables,
        queries: CodeArray,
        mask: NDArray[np.bool_] | None,
        budget: float,
    ) -> None:
        self._codes, self._tables, self._queries = codes, tables, queries
        self._words, self._query_words = as_words(codes), as_words(queries)
        self._mask, self._budget = mask, budget
        self._spent = np.zeros(len(queries))
        self.given_up = np.zeros(len(queries), np.bool_)
        self._found: list[Pairs] = []

    def within(self, radius: int) -> Pairs:
        """Return all rows within a radius, of the queries that were not given up."""
        return self._run(np.full(len(self._queries), radius), None)

    def nearest(self, k: int) -> Pairs:
        """Return the rows not farther than the k-th, the same way."""
        n_bits = 8 * self._codes.shape[1]
        return self._run(np.full(len(self._queries), n_bits), k)

    def _run(self, bounds: IdArray, k: int | None) -> Pairs:
        substrings = self._tables.substrings
        values = [each.values(self._queries).astype(np.int64) for each in substrings]
        counts = np.zeros((len(bounds), 8 * self._codes.shape[1] + 1), np.int64)
        active = np.arange(len(bounds))
        for n_flips, number in self._tables.steps():
            step = n_flips * len(substrings) + number
            # Whatever is nearer than the number of the step has been seen.
            active = active[bounds[active] >= step]
            active = self._afford(active, comb(substrings[number].length, n_flips))
            if not active.size:
                break
            found = self._look_up(active, values[number], n_flips, number, bounds)
            self._found.append(found)
            self._spent += FOUND * np.bincount(found.queries, minlength=len(bounds))
            if k is not None and found.queries.size:
                np.add.at(counts, (found.queries, found.distances), 1)
                some = np.unique(found.queries)
                enough = np.cumsum(counts[some], axis=1) >= k
                reached = np.where(
                    enough.any(axis=1), enough.argmax(axis=1), bounds[some]
                )
                bounds[some] = reached
        pairs = Pairs.joined(self._found)
        kept = pairs.distances <= bounds[pairs.queries]
        return pairs.only(kept & ~self.given_up[pairs.queries])

    def _afford(self, active: IdArray, n_lookups: int) -> IdArray:
        """Give up the queries for which these look-ups cost more than a scan."""
        if not active.size:
            return active
        self._spent[active] += LOOKUP * n_lookups + STEP / len(active)
        return self._give_up(active)[0]

    def _give_up(self, active: IdArray) -> tuple[IdArray, NDArray[np.bool_]]:
        kept = self._spent[active] <= self._budget
        self.given_up[active[~kept]] = True
        return active[kept], kept

    def _look_up(
        self,
        active: IdArray,
        values: IdArray,
        n_flips: int,
        number: int,
        bounds: IdArray,
    ) -> Pairs:
        """Return the rows within bounds that no earlier step has seen."""
        substring = self._tables.substrings[number]
        near = values[active, None] ^ flips(substring.length, n_flips)
        starts, sizes = substring.bucket_sizes(near)
        totals = sizes.sum(axis=1)
        self._spent[active] += CANDIDATE * totals
        active, kept = self._give_up(active)
        queries = np.repeat(active, totals[kept])
        rows = substring.rows_in(starts[kept], sizes[kept])
        if self._mask is not None:
            allowed = self._mask[rows]
            queries, rows = queries[allowed], rows[allowed]
        differing = self._query_words.take(queries, 0) ^ self._words.take(rows, 0)
        distances = count_bits(differing)
        inside = distances <= bounds[queries]
        step = n_flips * len(self._tables.substrings) + number
        first = self._tables.first_steps(differing[inside].view(np.uint8)) == step
        return Pairs(queries, rows, distances).only(inside).only(first)
