"""Items that have no class yet, and look-ups of guesses at their codes."""

from collections.abc import Iterator
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.classify._code_table import KeyArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers, first_of_each
from fewbits.classify.decoders._reliability import Reliabilities, pair_costs
from fewbits.codes import pair_distances


class Hits(NamedTuple):
    """Guesses that are class codes: of which item, which guess, which code."""

    items: IdArray
    guesses: IdArray
    entries: IdArray

    def where(self, mask: NDArray[np.bool_]) -> Self:
        """Return some of them."""
        return type(self)(*(column[mask] for column in self))


@final
class Guesses:
    """State of the guesses for each item.

    Attributes
    ----------
    costs : ndarray of shape (n, n_bits), dtype float64
        Of the bits, the least reliable first.
    words : ndarray of shape (n, n_bits), dtype uint64
        Of the same bits, as the table of codes has them.
    found : Answers
    """

    def __init__(
        self, codebook: Codebook, said: Reliabilities, max_queries: int
    ) -> None:
        self._codebook, self._said, self._table = codebook, said, codebook.table
        order = np.argsort(said.costs, axis=1, kind="stable")
        self.costs = np.take_along_axis(said.costs, order, axis=1)
        self.words = self._table.words[order]
        self._keys = self._table.keys(said.codes)
        self.found = Answers.none(len(said.codes))
        self.found.lookups[:] = max_queries  # of the items that nothing is found for

    def open_blocks(self, size: int) -> Iterator[IdArray]:
        """Yield the items that nothing was found for, some at a time."""
        items, size = np.flatnonzero(self.found.ties == 0), max(1, size)
        for start in range(0, len(items), size):
            yield items[start : start + size]

    def look_up(self, items: IdArray, flips: KeyArray) -> Hits:
        """Look up codes with some bits flipped; `flips` has a row for each item."""
        places, entries = self._table.hits(self._keys[items, None] ^ flips)
        queries, guesses = np.divmod(places, flips.shape[1])
        return Hits(queries, guesses, entries)

    def are_right(
        self, items: IdArray, hits: Hits, spent: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which hits are the guess itself, not another code with the same key.

        `spent` is the cost of each hit's guess.
        """
        if self._table.is_exact:
            return np.ones(len(spent), np.bool_)
        codes = self._codebook.codes[self._table.rows[hits.entries]]
        right: NDArray[np.bool_] = (
            pair_costs(self._said, items[hits.items], codes) == spent
        )
        return right

    def settle(
        self, items: IdArray, hits: Hits, levels: NDArray[np.float64], before: int
    ) -> None:
        """Note the class of those items that have a hit, of the lowest level.

        Parameters
        ----------
        items : ndarray of shape (n,)
        hits : Hits
            In which items are places in `items`.
        levels : ndarray of shape (n, n_guesses)
            Of all guesses, rising in each row; equal ones count as made together.
        before : int
            How many guesses were made earlier.
        """
        n, level = len(items), levels[hits.items, hits.guesses]
        least = np.full(n, np.inf)
        np.minimum.at(least, hits.items, level)
        first = hits.where(level == least[hits.items])
        rows, ties = first_of_each(
            n,
            first.items,
            self._table.rows[first.entries],
            self._table.counts[first.entries],
        )
        settled = np.flatnonzero(ties)
        items, rows = items[settled], rows[settled]
        tried = (levels[settled] <= least[settled, None]).sum(axis=1)
        found = self.found
        found.rows[items], found.ties[items] = rows, ties[settled]
        found.lookups[items] = before + tried
        found.distances[items] = pair_distances(
            self._said.codes[items], self._codebook.codes[rows]
        )
