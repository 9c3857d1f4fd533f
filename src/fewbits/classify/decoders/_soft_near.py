"""Soft decoding among many classes, of which only near ones can cost least."""

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, IdArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers, first_of_each
from fewbits.classify.decoders._reliability import Reliabilities, pair_costs
from fewbits.codes import hamming_range_search, hamming_topk

_TRIED = 4  # nearest classes of which one probably costs little
_SHARE = 64  # more than one class in so many: comparing with all costs less
_PAIRS = 1 << 20  # costs at a time


def compare_near(codebook: Codebook, said: Reliabilities) -> tuple[Answers, IdArray]:
    """Find the class of least cost among those near enough to be it.

    A class that differs in d bits costs no less than the d least reliable bits
    together. Where that is more than what a class found already costs, it is out.

    Returns
    -------
    found : Answers
    rest : ndarray of shape (n_rest,), dtype int64
        The items with too many classes near enough.
    """
    found = Answers.none(len(said.codes))
    radii = _radii(said, _first_guess(codebook, said))
    counts = np.empty(len(said.codes), np.int64)
    for radius, items in _by_radius(radii):
        counts[items] = _count(codebook, said.codes[items], radius)
    found.comparisons[:] = 2 * len(codebook)
    few = counts * _SHARE <= len(codebook)
    for radius, items in _by_radius(radii):
        items = items[few[items]]
        step = max(1, _PAIRS * _SHARE // len(codebook))
        for start in range(0, len(items), step):
            some = items[start : start + step]
            found.put(some, _cheapest(codebook, said, some, radius))
    return found, np.flatnonzero(~few)


def _first_guess(codebook: Codebook, said: Reliabilities) -> NDArray[np.float64]:
    """Return the least cost among the nearest classes."""
    k = min(_TRIED, len(codebook))
    rows = hamming_topk(said.codes, codebook.codes, k).ids
    queries = np.repeat(np.arange(len(rows)), k)
    costs = pair_costs(said, queries, codebook.codes[rows.ravel()])
    least: NDArray[np.float64] = costs.reshape(len(rows), k).min(axis=1)
    return least


def _radii(said: Reliabilities, affordable: NDArray[np.float64]) -> IdArray:
    """Return in how many bits a class can differ that costs no more than affordable."""
    cheapest = np.cumsum(np.sort(said.costs, axis=1), axis=1)
    radii: IdArray = (cheapest <= affordable[:, None]).sum(axis=1)
    return radii


def _by_radius(radii: IdArray) -> list[tuple[int, IdArray]]:
    return [(int(r), np.flatnonzero(radii == r)) for r in np.unique(radii)]


def _count(codebook: Codebook, codes: CodeArray, radius: int) -> IdArray:
    counts = np.empty(len(codes), np.int64)
    _kernels.hamming_within_count(
        codes, codebook.codes, radius, None, counts, _kernels.num_threads()
    )
    return counts


def _cheapest(
    codebook: Codebook, said: Reliabilities, items: IdArray, radius: int
) -> Answers:
    """Compute the costs of all classes within a radius."""
    offsets, distances, rows = hamming_range_search(
        said.codes[items], codebook.codes, radius
    )
    sizes = np.diff(offsets)
    queries = np.repeat(np.arange(len(items)), sizes)
    costs = pair_costs(said, items[queries], codebook.codes[rows])
    least = np.minimum.reduceat(costs, offsets[:-1])
    best = np.flatnonzero(costs == least[queries])
    answers = Answers.none(len(items))
    answers.rows, answers.ties = first_of_each(
        len(items), queries[best], rows[best], np.ones_like(best)
    )
    first = best[rows[best] == answers.rows[queries[best]]]
    answers.distances[queries[first]] = distances[first]
    answers.comparisons[:] = len(codebook) + sizes
    return answers
