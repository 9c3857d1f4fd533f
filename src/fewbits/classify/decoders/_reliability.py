"""Scores as bits, and what it costs to contradict each of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.codes import pack, unpack

_DIGITS = 52  # binary digits of whole numbers whose sums float64 holds exactly
_ENTRIES = 1 << 20  # bits unpacked at a time

Costs = NDArray[np.float64]


class Reliabilities(NamedTuple):
    """Reliability of the bits of items, by their scores.

    `costs` are ``|score|`` in units of a power of two, chosen for each item so that
    they are whole numbers and their sum is below 2**53. So float64 adds them exactly,
    in any order: equal sums are equal on any machine, in any batch, by any algorithm.
    What is lost is less than 2**-46 of the largest score for codes of 64 bits: nothing,
    where float32 scores lie within a factor of 2**22 of each other.
    """

    codes: CodeArray
    costs: Costs


def reliabilities(scores: Costs, zero_bit: int) -> Reliabilities:
    """Return what finite scores (n, n_bits) say."""
    bits = scores >= 0 if zero_bit else scores > 0
    return Reliabilities(pack(bits), np.abs(whole(scores)[0]))


def whole(scores: Costs) -> tuple[Costs, NDArray[np.int32]]:
    """Return rows of whole numbers, and the power of two that each is a multiple of."""
    digits = _DIGITS - (scores.shape[1] - 1).bit_length()
    largest = np.abs(scores).max(axis=1, keepdims=True)
    exponents = np.frexp(largest)[1] - digits
    return np.rint(np.ldexp(scores, -exponents)), exponents


def pair_costs(
    said: Reliabilities, queries: IdArray, codes: CodeArray
) -> NDArray[np.float64]:
    """Return what it costs some queries to have the codes beside them.

    Parameters
    ----------
    said : Reliabilities
    queries : ndarray of shape (n_pairs,), dtype int64
    codes : ndarray of shape (n_pairs, n_bytes), dtype uint8
    """
    n_bits = said.costs.shape[1]
    totals, step = np.empty(len(queries)), max(1, _ENTRIES // n_bits)
    for start in range(0, len(queries), step):
        some = queries[start : start + step]
        differ = unpack(said.codes[some] ^ codes[start : start + step], n_bits)
        totals[start : start + step] = (said.costs[some] * differ).sum(axis=1)
    return totals
