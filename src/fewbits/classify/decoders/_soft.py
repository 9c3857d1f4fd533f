"""Soft decoding: the class that contradicts the scores least."""

import numpy as np
from numpy.typing import ArrayLike

from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.classify._class_sums import class_sums
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers, Decoded, check_ties
from fewbits.classify._items import check_zero_bit, item_scores
from fewbits.classify.decoders._reliability import Costs, Reliabilities, reliabilities
from fewbits.classify.decoders._soft_near import compare_near
from fewbits.codes import pair_distances, unpack

_FEW = 1 << 18  # bits of all class codes that are unpacked for each call
_ENTRIES = 1 << 20  # bits unpacked, or costs, at a time
_ITEMS = 256  # of them


def decode_soft(
    codebook: Codebook, scores: ArrayLike, *, zero_bit: int = 0, ties: str = "first"
) -> Decoded:
    """Return the class that costs least: the nearest by reliability.

    The cost of a class is the sum of ``|score|`` over the bits in which its code and
    the signs of the scores differ, a Hamming distance weighted by reliability. The
    class of least cost is also the one with the largest sum of ``score * B(C)``, with
    B(C) the class code of -1 and +1: for a class that differs in the bits D that sum is
    ``sum |score| - 2 sum_D |score|``, and its first part is the same for all classes.
    Where scores are log-odds of independent bits (`calibrate` makes them so), it is the
    most probable class.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
        ``encoder.project(X)``, or log-odds; only their proportions matter.
    zero_bit : {0, 1}, default=0
        The bit that the encoder gives a score of exactly zero. It costs nothing, but
        counts in ``distances``.
    ties : {"first", "none"}, default="first"
        What to answer where several classes cost the same, to the last bit: that of the
        lowest row, or no class.

    Returns
    -------
    Decoded
        ``distances`` are Hamming distances to the signs of the scores.

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.

    Notes
    -----
    Costs are whole numbers that add up exactly, so answers depend neither on batches
    nor on the machine. Among many classes, most are too far away by Hamming distance to
    cost as little as the nearest; only the others' costs are computed.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1]]), n_bits=3)
    >>> decode_soft(book, [[0.1, 0.2, -0.9]]).rows  # two unsure bits against a sure one
    array([0])
    """
    check_ties(ties)
    zero_bit = check_zero_bit(zero_bit)
    said = reliabilities(item_scores(scores, codebook), zero_bit)
    return least_cost(codebook, said).decided(ties)


def least_cost(codebook: Codebook, said: Reliabilities) -> Answers:
    """Find the class of least cost for each item."""
    if len(codebook) * codebook.n_bits <= _FEW:
        return compare_all(codebook, said)
    found, rest = compare_near(codebook, said)
    if rest.size:
        some = Reliabilities(said.codes[rest], said.costs[rest])
        found.put(rest, compare_all(codebook, some))
    return found


def compare_all(codebook: Codebook, said: Reliabilities) -> Answers:
    """Find the class of least cost by computing those of all."""
    found, least = Answers.none(len(said.codes)), np.full(len(said.codes), np.inf)
    bits = unpack(said.codes, codebook.n_bits)
    gains = said.costs * (1 - 2.0 * bits)  # added to a class's cost where its bit is 1
    base = (said.costs * bits).sum(axis=1)
    for items in spans(len(bits), _ITEMS):
        for classes in spans(len(codebook), _ENTRIES // max(_ITEMS, codebook.n_bits)):
            costs = class_sums(gains[items], codebook.codes[classes])
            costs += base[items, None]
            _merge(found, least, costs, items, classes.start)
    found.distances = pair_distances(said.codes, codebook.codes[found.rows])
    found.comparisons[:] = len(codebook)
    return found


def _merge(
    found: Answers, least: Costs, costs: Costs, items: slice, first: int
) -> None:
    """Take over what costs less than before; earlier rows win ties."""
    best = costs.min(axis=1)
    ties: IdArray = (costs == best[:, None]).sum(axis=1)
    better, same = best < least[items], best == least[items]
    found.rows[items] = np.where(
        better, costs.argmin(axis=1) + first, found.rows[items]
    )
    found.ties[items] = np.where(better, ties, found.ties[items] + same * ties)
    least[items] = np.where(better, best, least[items])
