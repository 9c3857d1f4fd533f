"""Ordered guessing: flip the bits that are least sure until the code is a class's."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from fewbits._checks import check_choice, whole_number
from fewbits._typing import IdArray
from fewbits.classify._code_table import BLOCK, KeyArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers
from fewbits.classify.decoders._base import ScoreDecoder
from fewbits.classify.decoders._flips import MAX_QUERIES, cheapest_flips, rank_flips
from fewbits.classify.decoders._guesses import Guesses
from fewbits.classify.decoders._reliability import Reliabilities
from fewbits.errors import ArgumentError

ORDERS = ("ranks", "costs")
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
        What to answer where several classes share the code that was found, or, in the
        order of costs, cost the same: that of the lowest row, or no class.

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
        check_choice(self.order, "order", ORDERS)
        self._set("max_queries", _check_max_queries(self.max_queries))

    def _answers(self, codebook: Codebook, said: Reliabilities) -> Answers:
        guess = _by_ranks if self.order == "ranks" else _by_costs
        return guess(codebook, said, self.max_queries)


def _check_max_queries(max_queries: int) -> int:
    max_queries = whole_number(max_queries, "max_queries")
    if not 1 <= max_queries <= MAX_QUERIES:
        raise ArgumentError(
            f"max_queries must lie between 1 and {MAX_QUERIES:,}, got {max_queries}"
        )
    return max_queries


def _by_ranks(codebook: Codebook, said: Reliabilities, max_queries: int) -> Answers:
    flips = rank_flips(codebook.n_bits, max_queries)
    search = Guesses(codebook, said, len(flips))
    # Rank 0 fills up sets that are smaller than others, and flips nothing.
    words = np.pad(search.words, ((0, 0), (1, 0)))
    costs = np.pad(search.costs, ((0, 0), (1, 0)))
    for start, end in _stages(len(flips), _AT_ONCE // max(1, len(said.codes))):
        some = flips[start:end].astype(np.intp)
        some = some[:, : max(1, np.count_nonzero(some.any(axis=0)))]
        for items in search.open_blocks(BLOCK // len(some)):
            keys = _at_ranks(words[items], some)
            hits = search.look_up(items, keys)
            spent = costs[items[hits.items, None], some[hits.guesses]].sum(axis=1)
            hits = hits.where(search.are_right(items, hits, spent))
            numbers = np.arange(start, end, dtype=np.float64)
            search.settle(items, hits, np.broadcast_to(numbers, keys.shape), start)
    return search.found


def _at_ranks(words: KeyArray, flips: IdArray) -> KeyArray:
    """Return the XOR of the words of each item (n, 1 + n_bits) at each set of ranks."""
    keys = words[:, flips[:, 0]]
    for ranks in flips.T[1:]:
        keys ^= words[:, ranks]
    return keys


def _by_costs(codebook: Codebook, said: Reliabilities, max_queries: int) -> Answers:
    n_guesses = min(max_queries, 1 << min(codebook.n_bits, max_queries.bit_length()))
    search = Guesses(codebook, said, n_guesses)
    first = _AT_ONCE // _GROWTH // max(1, len(said.codes))
    for _, end in _stages(n_guesses, first, longest=n_guesses):
        for items in search.open_blocks(_SORTED // end):
            sums, keys = cheapest_flips(search.costs[items], search.words[items], end)
            hits = search.look_up(items, keys)
            spent = sums[hits.items, hits.guesses]
            hits = hits.where(search.are_right(items, hits, spent))
            if end < n_guesses:  # guesses to come may cost as much as the last ones
                spent = sums[hits.items, hits.guesses]
                hits = hits.where(spent < sums[hits.items, -1])
            search.settle(items, hits, sums, 0)
    return search.found


def _stages(
    n_guesses: int, first: int, longest: int = BLOCK
) -> Iterator[tuple[int, int]]:
    """Yield spans of guesses after each of which some items are settled."""
    start, end = 0, max(1, first)
    while start < n_guesses:
        end = min(end, n_guesses)
        yield start, end
        start, end = end, min(end * _GROWTH, end + longest)
