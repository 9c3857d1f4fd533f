"""Soft decoding: the class that contradicts the scores least."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoding import (
    Decoded,
    SoftBits,
    class_sums,
    classes_within,
    first_of_each,
    nothing_found,
    pair_costs,
    put,
)
from fewbits.classify.decoders._base import ScoreDecoder
from fewbits.codes import hamming_range_search, hamming_topk, pair_distances, unpack

_FEW = 1 << 18  # bits of all class codes that are unpacked for each call
_ENTRIES = 1 << 20  # bits unpacked, or costs, at a time
_ITEMS = 256  # of them
_TRIED = 4  # nearest classes of which one probably costs little
_SHARE = 64  # more than one class in so many: comparing with all costs less


@dataclass(frozen=True, repr=False)
class Soft(ScoreDecoder):
    """Return the class that costs least: the nearest by reliability.

    The cost of a class is the sum of ``|score|`` over the bits in which its code and
    the signs of the scores differ, a Hamming distance weighted by reliability. The
    class of least cost is also the one with the largest sum of ``score * B(C)``, with
    B(C) the class code of -1 and +1: for a class that differs in the bits D that sum is
    ``sum |score| - 2 sum_D |score|``, and its first part is the same for all classes.
    Where scores are log-odds of independent bits (`fewbits.classify.calibrate` makes
    them so), it is the most probable class.

    Parameters
    ----------
    ties : {"first", "none"}, default="first"
        As in `Decoder`, where several classes cost the same, to the last bit.

    Notes
    -----
    Costs are whole numbers that add up exactly, so answers depend neither on batches
    nor on the machine. Among many classes, most are too far away by Hamming distance to
    cost as little as the nearest; only the others' costs are computed.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1]]), n_bits=3)
    >>> scores = [[0.1, 0.2, -0.9]]  # two unsure bits against a sure one
    >>> Soft().decode(book, scores).rows
    array([0])
    """

    # By what the probabilities are of, so that the two never disagree.
    reads_log_odds: ClassVar[bool] = True

    def _answers(self, codebook: Codebook, soft: SoftBits) -> Decoded:
        if len(codebook) * codebook.n_bits <= _FEW:
            return _compare_all(codebook, soft)
        # A class that differs in d bits costs no less than the d least reliable bits
        # together. Where that is more than what a class found already costs, it is out.
        n = len(soft.codes)
        k = min(_TRIED, len(codebook))
        rows = hamming_topk(soft.codes, codebook.codes, k).ids.ravel()
        costs = pair_costs(soft, np.repeat(np.arange(n), k), codebook.codes[rows])
        affordable = costs.reshape(n, k).min(axis=1)
        cheapest = np.cumsum(np.sort(soft.costs, axis=1), axis=1)
        radii = (cheapest <= affordable[:, None]).sum(axis=1)
        few = classes_within(codebook.codes, soft.codes, radii) * _SHARE
        near = few <= len(codebook)
        answers = nothing_found(n)
        answers.comparisons[:] = 2 * len(codebook)
        step = max(1, _ENTRIES * _SHARE // len(codebook))
        for radius in np.unique(radii[near]):
            items = np.flatnonzero(near & (radii == radius))
            for start in range(0, len(items), step):
                block = items[start : start + step]
                put(answers, block, _cheapest(codebook, soft, block, int(radius)))
        rest = np.flatnonzero(~near)
        others = SoftBits(soft.codes[rest], soft.costs[rest])
        put(answers, rest, _compare_all(codebook, others))
        return answers


def _compare_all(codebook: Codebook, soft: SoftBits) -> Decoded:
    """Find the class of least cost by computing those of all."""
    answers, least = nothing_found(len(soft.codes)), np.full(len(soft.codes), np.inf)
    bits = unpack(soft.codes, codebook.n_bits)
    gains = soft.costs * (1 - 2.0 * bits)  # added to a class's cost where its bit is 1
    base = (soft.costs * bits).sum(axis=1)
    for items in spans(len(bits), _ITEMS):
        for classes in spans(len(codebook), _ENTRIES // max(_ITEMS, codebook.n_bits)):
            costs = class_sums(gains[items], codebook.codes[classes])
            costs += base[items, None]
            best = costs.min(axis=1)
            ties = (costs == best[:, None]).sum(axis=1)
            # Earlier rows win ties.
            better, same = best < least[items], best == least[items]
            first = costs.argmin(axis=1) + classes.start
            answers.rows[items] = np.where(better, first, answers.rows[items])
            ties = np.where(better, ties, answers.ties[items] + same * ties)
            answers.ties[items] = ties
            least[items] = np.where(better, best, least[items])
    answers.distances[:] = pair_distances(soft.codes, codebook.codes[answers.rows])
    answers.comparisons[:] = len(codebook)
    return answers


def _cheapest(
    codebook: Codebook, soft: SoftBits, items: IdArray, radius: int
) -> Decoded:
    """Compute the costs of all classes within a radius."""
    offsets, distances, rows = hamming_range_search(
        soft.codes[items], codebook.codes, radius
    )
    sizes = np.diff(offsets)
    queries = np.repeat(np.arange(len(items)), sizes)
    costs = pair_costs(soft, items[queries], codebook.codes[rows])
    least = np.minimum.reduceat(costs, offsets[:-1])
    best = np.flatnonzero(costs == least[queries])
    answers = nothing_found(len(items))
    answers.rows[:], answers.ties[:] = first_of_each(
        len(items), queries[best], rows[best], np.ones_like(best)
    )
    first = best[rows[best] == answers.rows[queries[best]]]
    answers.distances[queries[first]] = distances[first]
    answers.comparisons[:] = len(codebook) + sizes
    return answers
