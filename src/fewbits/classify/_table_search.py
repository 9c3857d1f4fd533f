"""The nearest class code by multi-index hashing, with a count of the work.

`fewbits.index.MultiIndexHashing` searches the same tables. It stops by predicted time,
which depends on the machine; here look-ups and comparisons are part of the answer, and
the limit of `work` must give up the same codes everywhere.
"""

from typing import final

import numpy as np

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.classify._decoded import Answers, first_of_each
from fewbits.codes import pair_distances
from fewbits.index._substrings import Substring, SubstringTables, flips


@final
class TableSearch(Immutable):
    """The nearest code and its ties, with a count of the work.

    The substrings of a query are looked up, then all values with one bit flipped, and
    so on, until what was found is no farther than whatever could have been missed.
    """

    def __init__(self, codes: CodeArray, n_bits: int) -> None:
        self._codes = frozen_array(codes)
        self._tables = SubstringTables(codes, n_bits)

    def nearest(self, codes: CodeArray, n_bits: int, work: int) -> Answers:
        """Find the nearest row of each code, the lowest if tied.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        n_bits : int
        work : int
            Look-ups and comparisons after which a code is given up.

        Returns
        -------
        Answers
            Rows of -1 for the codes that were given up.
        """
        search = _Search(self._codes, codes)
        substrings = self._tables.substrings
        values = [each.values(codes).astype(np.int64) for each in substrings]
        for n_flips, number in self._tables.steps():
            # Whatever is not farther than this has been seen.
            search.close(n_flips * len(substrings) + number - 1)
            if not search.open.size:
                break
            one = substrings[number]
            near = values[number][search.open, None] ^ flips(one.length, n_flips)
            search.look_up(one, near, work)
        search.close(n_bits)
        return search.answers()


class _Search:
    """Codes found for each query so far."""

    def __init__(self, codes: CodeArray, queries: CodeArray) -> None:
        self._codes, self._queries = codes, queries
        self._answers = Answers.none(len(queries))
        self._best = np.full(len(queries), np.iinfo(np.int32).max, np.int32)
        self._pairs = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        self._closed = np.zeros(len(queries), np.bool_)
        self.open: IdArray = np.arange(len(queries))

    def close(self, seen: int) -> None:
        """End the search of the queries that nothing nearer can be found for."""
        settled = self._best[self.open] <= seen
        self._closed[self.open[settled]] = True
        self.open = self.open[~settled]

    def look_up(self, substring: Substring, values: IdArray, work: int) -> None:
        """Compare the open queries with the rows that have some values of a substring.

        `values` has a row for each open query. One that is worth more than `work` is
        given up.
        """
        starts, sizes = substring.bucket_sizes(values)
        totals = sizes.sum(axis=1)
        spent = self._answers.lookups[self.open] + self._answers.comparisons[self.open]
        within = spent + totals + values.shape[1] <= work
        self.open = self.open[within]
        self._answers.lookups[self.open] += values.shape[1]
        self._answers.comparisons[self.open] += totals[within]
        queries = np.repeat(self.open, totals[within])
        rows = substring.rows_in(starts[within], sizes[within])
        distances = pair_distances(self._queries[queries], self._codes[rows])
        self._note(queries, rows, distances)

    def _note(self, queries: IdArray, rows: IdArray, distances: DistanceArray) -> None:
        """Keep what is as near as anything yet; queries are in order."""
        if queries.size:
            firsts = np.flatnonzero(np.diff(queries, prepend=-1))
            nearest = np.minimum.reduceat(distances, firsts)
            some = queries[firsts]
            self._best[some] = np.minimum(self._best[some], nearest)
        near = distances <= self._best[queries]
        self._pairs.append((queries[near], rows[near]))

    def answers(self) -> Answers:
        """Return the lowest of the nearest rows, for the queries that were settled."""
        queries = np.concatenate([pair[0] for pair in self._pairs])
        rows = np.concatenate([pair[1] for pair in self._pairs])
        distances = pair_distances(self._queries[queries], self._codes[rows])
        kept = self._closed[queries] & (distances == self._best[queries])
        queries, rows = queries[kept], rows[kept]
        self._answers.rows, self._answers.ties = first_of_each(
            len(self._queries), queries, rows, np.ones_like(rows)
        )
        self._answers.distances = np.where(self._closed, self._best, np.int32(-1))
        return self._answers
