"""Ordered guessing: flip the bits that are least sure until the code is a class's."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_choice, whole_number
from fewbits._frozen import frozen_array
from fewbits._typing import IdArray
from fewbits.classify._codebook import BLOCK, Codebook, KeyArray
from fewbits.classify._decoding import (
    Decoded,
    FloatArray,
    SoftBits,
    first_of_each,
    nothing_found,
    pair_costs,
)
from fewbits.classify.decoders._base import ScoreDecoder
from fewbits.codes import pair_distances
from fewbits.errors import ArgumentError

_MAX_QUERIES = 1 << 20
_GROWTH = 16  # most items are settled by the first guesses: the others get more
_SORTED = 1 << 17  # guesses sorted at a time
_AT_ONCE = 1 << 13  # guesses for all items together that are not worth a pause


@dataclass(frozen=True, repr=False)
class Orbgrand(ScoreDecoder):
    """Guess which bits are wrong, likeliest first, until a guess is a class's code.

    Each guess is a look-up in a hash table, so it takes as long among a thousand
    classes as among a million. With ``max_queries=1`` this is exact decoding; with more
    of them its answers approach those of soft decoding.

    ``lookups`` of the answer are the guesses up to the one that matched. In the order
    of costs they include the others of the same cost, which may find a lower row.

    Parameters
    ----------
    max_queries : int, default=1000
        Look-ups after which an item is left without a class, 1 to 1,048,576.
    order : {"ranks", "costs"}, default="ranks"
        Guesses in the order of the sum of the ranks of the flipped bits, the least
        reliable bit having rank 1 (ORBGRAND): the same for all items. Or in the order
        of the sum of ``|score|`` over the flipped bits (soft GRAND): then the class
        that is found is that of `Soft`, but each item's guesses must be sorted.
    ties : {"first", "none"}, default="first"
        As in `Decoder`, where several classes share the code that was found, or, in the
        order of costs, cost the same.

    Raises
    ------
    ArgumentError
        When `max_queries` is out of range.

    References
    ----------
    Duffy, An and Medard, "Ordered Reliability Bits Guessing Random Additive Noise
    Decoding", IEEE Transactions on Signal Processing 2022. Solomon, Duffy and Medard,
    "Soft Maximum Likelihood Decoding using GRAND", ICC 2020.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1]]), n_bits=3)
    >>> scores = [[0.1, 0.2, -0.9]]
    >>> [int(Orbgrand(n).decode(book, scores).rows[0]) for n in (1, 2, 3, 4)]
    [-1, -1, -1, 0]
    """

    max_queries: int = 1000
    order: str = field(default="ranks", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.order, "order", ("ranks", "costs"))
        max_queries = whole_number(self.max_queries, "max_queries")
        if not 1 <= max_queries <= _MAX_QUERIES:
            raise ArgumentError(
                f"max_queries must lie between 1 and {_MAX_QUERIES:,},"
                f" got {max_queries}"
            )
        object.__setattr__(self, "max_queries", max_queries)

    def _answers(self, codebook: Codebook, soft: SoftBits) -> Decoded:
        if self.order == "ranks":
            return self._by_ranks(codebook, soft)
        return self._by_costs(codebook, soft)

    def _by_ranks(self, codebook: Codebook, soft: SoftBits) -> Decoded:
        flips = _rank_flips(codebook.n_bits, self.max_queries)
        guesses = _Guesses(codebook, soft, len(flips))
        # Rank 0 fills up sets that are smaller than others, and flips nothing.
        words = np.pad(guesses.words, ((0, 0), (1, 0)))
        costs = np.pad(guesses.costs, ((0, 0), (1, 0)))
        for start, end in _stages(len(flips), _AT_ONCE // max(1, len(soft.codes))):
            ranks = flips[start:end].astype(np.intp)
            ranks = ranks[:, : max(1, np.count_nonzero(ranks.any(axis=0)))]
            for items in guesses.open_blocks(BLOCK // len(ranks)):
                block = words[items]
                keys = block[:, ranks[:, 0]]
                for column in ranks.T[1:]:
                    keys ^= block[:, column]
                hits = guesses.look_up(items, keys)
                spent = costs[items[hits.items, None], ranks[hits.guesses]].sum(axis=1)
                hits = hits.where(guesses.are_right(items, hits, spent))
                numbers = np.arange(start, end, dtype=np.float64)
                guesses.settle(items, hits, np.broadcast_to(numbers, keys.shape), start)
        return guesses.answers

    def _by_costs(self, codebook: Codebook, soft: SoftBits) -> Decoded:
        n_guesses = min(
            self.max_queries, 1 << min(codebook.n_bits, self.max_queries.bit_length())
        )
        guesses = _Guesses(codebook, soft, n_guesses)
        first = _AT_ONCE // _GROWTH // max(1, len(soft.codes))
        for _, end in _stages(n_guesses, first, longest=n_guesses):
            for items in guesses.open_blocks(_SORTED // end):
                sums, keys = _cheapest_flips(
                    guesses.costs[items], guesses.words[items], end
                )
                hits = guesses.look_up(items, keys)
                spent = sums[hits.items, hits.guesses]
                hits = hits.where(guesses.are_right(items, hits, spent))
                if end < n_guesses:  # guesses to come may cost as much as the last ones
                    spent = sums[hits.items, hits.guesses]
                    hits = hits.where(spent < sums[hits.items, -1])
                guesses.settle(items, hits, sums, 0)
        return guesses.answers


def _stages(
    n_guesses: int, first: int, longest: int = BLOCK
) -> Iterator[tuple[int, int]]:
    """Yield spans of guesses after each of which some items are settled."""
    start, end = 0, max(1, first)
    while start < n_guesses:
        end = min(end, n_guesses)
        yield start, end
        start, end = end, min(end * _GROWTH, end + longest)


class _Hits(NamedTuple):
    """Guesses that are class codes: of which item, which guess, which code."""

    items: IdArray
    guesses: IdArray
    entries: IdArray

    def where(self, mask: NDArray[np.bool_]) -> Self:
        return type(self)(*(column[mask] for column in self))


class _Guesses:
    """Answers as guesses are made; `costs` and `words` of each item's bits rise."""

    def __init__(self, codebook: Codebook, soft: SoftBits, max_queries: int) -> None:
        self._codebook, self._soft, self._table = codebook, soft, codebook.table
        order = np.argsort(soft.costs, axis=1, kind="stable")
        self.costs = np.take_along_axis(soft.costs, order, axis=1)
        self.words = self._table.words[order]
        self._keys = self._table.keys(soft.codes)
        self.answers = nothing_found(len(soft.codes))
        self.answers.lookups[:] = max_queries  # where nothing is found

    def open_blocks(self, size: int) -> Iterator[IdArray]:
        """Yield the items that nothing was found for, some at a time."""
        items, size = np.flatnonzero(self.answers.ties == 0), max(1, size)
        for start in range(0, len(items), size):
            yield items[start : start + size]

    def look_up(self, items: IdArray, flips: KeyArray) -> _Hits:
        """Look up codes with some bits flipped; `flips` has a row for each item."""
        places, entries = self._table.hits(self._keys[items, None] ^ flips)
        return _Hits(*np.divmod(places, flips.shape[1]), entries)

    def are_right(
        self, items: IdArray, hits: _Hits, spent: FloatArray
    ) -> NDArray[np.bool_]:
        """Return which hits are the guess itself, not a code with the same key."""
        if self._table.is_exact:
            return np.ones(len(spent), np.bool_)
        codes = self._codebook.codes[self._table.rows[hits.entries]]
        return np.asarray(pair_costs(self._soft, items[hits.items], codes) == spent)

    def settle(
        self, items: IdArray, hits: _Hits, levels: FloatArray, before: int
    ) -> None:
        """Note the class of those items that have a hit, of the lowest level.

        The items of `hits` are places in `items`. Levels (n_items, n_guesses) are of
        all guesses and rise; equal ones count as made together, after `before` others.
        """
        level, least = levels[hits.items, hits.guesses], np.full(len(items), np.inf)
        np.minimum.at(least, hits.items, level)
        hits = hits.where(level == least[hits.items])
        rows, counts = self._table.rows, self._table.counts
        rows, ties = first_of_each(
            len(items), hits.items, rows[hits.entries], counts[hits.entries]
        )
        settled = np.flatnonzero(ties)
        items, rows = items[settled], rows[settled]
        tries = (levels[settled] <= least[settled, None]).sum(axis=1)
        answers = self.answers
        answers.rows[items], answers.ties[items] = rows, ties[settled]
        answers.lookups[items] = before + tries
        answers.distances[items] = pair_distances(
            self._soft.codes[items], self._codebook.codes[rows]
        )


@lru_cache(maxsize=4)
def _rank_flips(n_bits: int, max_queries: int) -> NDArray[np.uint8]:
    """Return the first sets of ranks in the order of their sums, filled up with 0."""
    # Rank 1 is the least reliable bit. Of equal sums, the set whose largest rank is
    # smaller comes first, then the one whose second largest is, and so on.
    sums = range(n_bits * (n_bits + 1) // 2 + 1)
    every = (ranks for total in sums for ranks in _distinct_parts(total, n_bits))
    sets = list(islice(every, max_queries))
    # A million sums come before that of a rank that uint8 does not hold.
    flips = np.zeros((len(sets), max(1, max(map(len, sets)))), np.uint8)
    for row, ranks in zip(flips, sets, strict=True):
        row[: len(ranks)] = ranks
    return frozen_array(flips)


def _distinct_parts(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of numbers from 1 to `largest` that add up to `total`."""
    if not total:
        yield ()
    for part in range(1, min(total, largest) + 1):
        if part * (part + 1) // 2 >= total:
            for rest in _distinct_parts(total - part, part - 1):
                yield (part, *rest)


def _cheapest_flips(
    costs: FloatArray, words: KeyArray, max_queries: int
) -> tuple[FloatArray, KeyArray]:
    """Return the costs of the cheapest sets of bits, and the XOR of their words."""
    # Costs (n, n_bits) rise within each row. The first `max_queries` sets of j + 1 bits
    # are among those of the first j bits, with and without the next one. Of sets of
    # equal costs, the one whose dearest bit comes earlier is first, and so on.
    n, n_bits = costs.shape
    sums, keys = np.zeros((n, 1)), np.zeros((n, 1), np.uint64)
    for bit in range(n_bits):
        cost, word = costs[:, bit : bit + 1], words[:, bit : bit + 1]
        with_bit = sums + cost
        if sums.shape[1] == max_queries:
            # Sets that would be the last of all are not worth sorting.
            few = int((with_bit < sums[:, -1:]).sum(axis=1).max())
            if not few:
                break  # nor are those of dearer bits
            with_bit = with_bit[:, :few]
        keys = np.concatenate([keys, keys[:, : with_bit.shape[1]] ^ word], axis=1)
        sums = np.concatenate([sums, with_bit], axis=1)
        order = np.argsort(sums, axis=1, kind="stable")[:, :max_queries]
        sums = np.take_along_axis(sums, order, axis=1)
        keys = np.take_along_axis(keys, order, axis=1)
    return sums, keys
