"""Sets of bits to flip, the likeliest first."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import frozen_array
from fewbits.classify._code_table import KeyArray

MAX_QUERIES = 1 << 20


@lru_cache(maxsize=4)
def rank_flips(n_bits: int, max_queries: int) -> NDArray[np.uint8]:
    """Return the first sets of ranks in the order of their sums.

    Rank 1 is the least reliable bit. Of equal sums, the set whose largest rank is
    smaller comes first, then the one whose second largest is, and so on.

    Parameters
    ----------
    n_bits : int
    max_queries : int
        At most `MAX_QUERIES`.

    Returns
    -------
    ndarray of shape (min(max_queries, 2**n_bits), width), dtype uint8
        A set in each row, filled up with zeros; the first is empty.

    References
    ----------
    Duffy, An and Medard, "Ordered Reliability Bits Guessing Random Additive Noise
    Decoding", IEEE Transactions on Signal Processing 2022: the basic ORBGRAND, whose
    sum of ranks is the logistic weight.

    Examples
    --------
    >>> rank_flips(4, 6)
    array([[0, 0],
           [1, 0],
           [2, 0],
           [2, 1],
           [3, 0],
           [3, 1]], dtype=uint8)
    """
    sets = list(_rank_sets(n_bits, max_queries))
    # A million sums come before that of a rank that uint8 does not hold.
    flips = np.zeros((len(sets), max(1, max(map(len, sets)))), np.uint8)
    for row, each in zip(flips, sets, strict=True):
        row[: len(each)] = each
    return frozen_array(flips)


def _rank_sets(n_bits: int, max_queries: int) -> Iterator[tuple[int, ...]]:
    total, left = 0, max_queries
    while left and total <= n_bits * (n_bits + 1) // 2:
        for ranks in _distinct_parts(total, n_bits):
            yield ranks
            left -= 1
            if not left:
                return
        total += 1


def _distinct_parts(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of numbers from 1 to `largest` that add up to `total`."""
    if not total:
        yield ()
    for part in range(1, min(total, largest) + 1):
        if part * (part + 1) // 2 >= total:
            for rest in _distinct_parts(total - part, part - 1):
                yield (part, *rest)


def cheapest_flips(
    costs: NDArray[np.float64], words: KeyArray, max_queries: int
) -> tuple[NDArray[np.float64], KeyArray]:
    """Return the cheapest sets of bits to flip, in the order of their costs.

    The first `max_queries` sets of the first j + 1 bits are among those of the first j
    bits, with and without the next one: two sorted lists, merged for each bit.

    Parameters
    ----------
    costs : ndarray of shape (n, n_bits), dtype float64
        Whole numbers, rising within each row.
    words : ndarray of shape (n, n_bits), dtype uint64
        The words of the bits, in the same order.
    max_queries : int
        At least 1.

    Returns
    -------
    sums : ndarray of shape (n, min(max_queries, 2**n_bits)), dtype float64
        Costs of the sets. Of equal ones, the set whose dearest bit comes earlier is
        first, then the one whose second dearest does, and so on.
    keys : ndarray of the same shape, dtype uint64
        XOR of the words of each set.
    """
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
