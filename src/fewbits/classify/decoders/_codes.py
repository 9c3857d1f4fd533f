"""Decoders that compare: by codes, exact, nearest or in reach, and by scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fewbits import _kernels
from fewbits._checks import check_choice, check_count
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.classify._codebook import BLOCK, Codebook
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
from fewbits.classify.decoders._base import CodeDecoder, ScoreDecoder
from fewbits.codes import (
    hamming_distances,
    hamming_range_search,
    hamming_topk,
    pair_distances,
    unpack,
)
from fewbits.errors import ArgumentError

_METHODS = ("auto", "look-ups", "exhaustive")
_FEW = 4096  # classes whose distances are all kept
_ENTRIES = 1 << 20  # distances at a time
_QUERIES = 1024  # at a time
_MANY = 1 << 13  # classes from which looking up pays, for as many items at least
_ITEMS = 256
_TRIES = 512  # comparisons with all classes, for each of which one may look up
_MAX_BALL = 1 << 22  # codes that are looked up for one item
_LOOKUP = 64  # comparisons that take as long as a look-up


@dataclass(frozen=True, repr=False)
class Exact(CodeDecoder):
    """Look each code up among those of the classes.

    One look-up in a hash table, however many classes there are. ``distances`` of the
    answer are 0, or -1 where no class has the code.

    Parameters
    ----------
    ties : {"none", "first"}, default="none"
        What to answer where several classes have the code: no class, or that of the
        lowest row.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.1.1: ED.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [0, 0, 0]]), n_bits=3)
    >>> Exact().decode(book, pack([[1, 1, 1], [0, 0, 0], [0, 1, 1]])).rows
    array([ 1, -1, -1])
    """

    ties: str = field(default="none", kw_only=True)

    @property
    def max_distance(self) -> int:
        """Zero: a class has exactly the code, or is not found."""
        return 0

    def _answers(self, codebook: Codebook, codes: CodeArray) -> Decoded:
        table = codebook.table
        queries, entries = table.hits(table.keys(codes))
        if not table.is_exact:
            same = (codebook.codes[table.rows[entries]] == codes[queries]).all(axis=1)
            queries, entries = queries[same], entries[same]
        answers = nothing_found(len(codes))
        answers.distances[queries] = 0
        answers.rows[queries] = table.rows[entries]
        answers.ties[queries] = table.counts[entries]
        answers.lookups[:] = 1
        return answers


@dataclass(frozen=True, repr=False)
class Nearest(CodeDecoder):
    """Return the class with the smallest Hamming distance.

    Parameters
    ----------
    ties : {"first", "none"}, default="first"
        As in `Decoder`.
    method : {"auto", "look-ups", "exhaustive"}, default="auto"
        Compare with every class; or look up parts of the code in tables (multi-index
        hashing), which takes less time than the number of classes where items lie near
        theirs, and compare with every class where that does not settle it. The answers
        are the same; "auto" looks up for many items among very many classes.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.1.1: MHD.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [1, 0, 0]]), n_bits=3)
    >>> decoded = Nearest().decode(book, pack([[0, 1, 1], [0, 1, 0]]))
    >>> decoded.rows, decoded.distances, decoded.ties
    (array([1, 0]), array([1, 1], dtype=int32), array([1, 1]))
    """

    method: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.method, "method", _METHODS)

    def _answers(self, codebook: Codebook, codes: CodeArray) -> Decoded:
        return _nearest(codebook, codes, self.method)


def _nearest(codebook: Codebook, codes: CodeArray, method: str) -> Decoded:
    many = len(codebook) >= _MANY and len(codes) >= _ITEMS
    if method == "exhaustive" or (method == "auto" and not many):
        return _compare_all(codebook, codes)
    work = len(codebook) // (_TRIES if method == "auto" else 1)
    # What takes more look-ups and comparisons than that is compared with all.
    answers = nothing_found(len(codes))
    counts = np.empty((len(codes), 2), np.int64)
    _kernels.multi_index_nearest(
        np.ascontiguousarray(codes),
        codebook.multi_index.native,
        _kernels.Budget(1, 1, work),
        answers.distances,
        answers.rows,
        answers.ties,
        counts,
        np.empty(len(codes), np.uint8),
        _kernels.num_threads(),
    )
    answers.lookups[:], answers.comparisons[:] = counts.T
    rest = np.flatnonzero(answers.rows < 0)
    put(answers, rest, _compare_all(codebook, codes[rest]))
    return answers


def _compare_all(codebook: Codebook, codes: CodeArray) -> Decoded:
    answers = nothing_found(len(codes))
    few = len(codebook) <= _FEW
    for block in spans(len(codes), _ENTRIES // len(codebook) if few else _QUERIES):
        if few:
            matrix = hamming_distances(codes[block], codebook.codes)
            distances = matrix.min(axis=1)
            answers.rows[block] = matrix.argmin(axis=1)
            answers.ties[block] = (matrix == distances[:, None]).sum(axis=1)
        else:
            top = hamming_topk(codes[block], codebook.codes, 1)
            distances, answers.rows[block] = top.distances[:, 0], top.ids[:, 0]
            answers.ties[block] = classes_within(
                codebook.codes, codes[block], distances
            )
        answers.distances[block] = distances
    answers.comparisons[:] = len(codebook)
    return answers


@dataclass(frozen=True, repr=False)
class Bounded(CodeDecoder):
    """Return the nearest class where it is no farther than `radius`.

    Between exact decoding (radius 0) and nearest (radius n_bits). What is farther from
    every class is left undecided, as unknown things should be.

    Parameters
    ----------
    radius : int, default=1
        The largest Hamming distance that counts, 0 or more.
    ties : {"first", "none"}, default="first"
        As in `Decoder`.
    method : {"auto", "look-ups", "exhaustive"}, default="auto"
        Look up every code of the ball around an item, nearest first until one is a
        class's; or compare with every class. The answers are the same; "auto" takes
        what costs less.

    Raises
    ------
    ArgumentError
        When `radius` is below 0; by ``decode``, when there are too many codes within it
        to look up.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]), n_bits=5)
    >>> codes = pack([[0, 0, 0, 0, 1], [0, 0, 1, 1, 0]])
    >>> Bounded(radius=1).decode(book, codes).rows
    array([ 0, -1])
    """

    radius: int = 1
    method: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", check_count(self.radius, "radius", 0))
        check_choice(self.method, "method", _METHODS)

    @property
    def max_distance(self) -> int:
        """The radius."""
        return self.radius

    def _answers(self, codebook: Codebook, codes: CodeArray) -> Decoded:
        radius = min(self.radius, codebook.n_bits)
        n_bits = codebook.n_bits
        size = sum(math.comb(n_bits, distance) for distance in range(radius + 1))
        if self.method == "look-ups" and size > _MAX_BALL:
            raise ArgumentError(
                f"{size:,} codes of {n_bits} bits lie within radius {radius}, "
                "too many to look up; take another method"
            )
        few = size <= _MAX_BALL and size * _LOOKUP <= len(codebook)
        if self.method == "look-ups" or (self.method == "auto" and few):
            return _look_up(codebook, codes, radius)
        answers = _nearest(codebook, codes, self.method)
        far = answers.distances > radius
        answers.distances[far], answers.rows[far], answers.ties[far] = -1, -1, 0
        return answers


def _look_up(codebook: Codebook, codes: CodeArray, radius: int) -> Decoded:
    answers, table = nothing_found(len(codes)), codebook.table
    keys, items = table.keys(codes), np.arange(len(codes))
    # Of all patterns of `distance` flipped bits: their keys, and the last bit of each.
    flips, last = np.zeros(1, np.uint64), np.full(1, -1)
    for distance in range(radius + 1):
        step = max(1, BLOCK // len(flips))
        for start in range(0, len(items), step):
            block = items[start : start + step]
            hits = []
            for first in range(0, len(flips), BLOCK):
                patterns = flips[first : first + BLOCK]
                places, entries = table.hits(keys[block, None] ^ patterns)
                hits.append((places // len(patterns), entries))
            queries, entries = (np.concatenate(x) for x in zip(*hits, strict=True))
            rows = table.rows[entries]
            # Long codes may share a key with another that is not there.
            distances = pair_distances(codes[block[queries]], codebook.codes[rows])
            right = distances == distance
            part = nothing_found(len(block))
            part.rows[:], part.ties[:] = first_of_each(
                len(block), queries[right], rows[right], table.counts[entries[right]]
            )
            part.distances[queries[right]] = distance
            part.lookups[:] = len(flips)
            put(answers, block, part)
        items = items[answers.rows[items] < 0]
        if not items.size or distance == radius:
            break
        more = len(table.words) - 1 - last  # bits after the last one flipped
        parents = np.repeat(np.arange(len(flips)), more)
        starts = np.cumsum(more) - more
        last = np.arange(len(parents)) - starts[parents] + last[parents] + 1
        flips = flips[parents] ^ table.words[last]
    return answers


_FEW_BITS = 1 << 18  # bits of all class codes that are unpacked for each call
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
        if len(codebook) * codebook.n_bits <= _FEW_BITS:
            return _cost_all(codebook, soft)
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
        put(answers, rest, _cost_all(codebook, others))
        return answers


def _cost_all(codebook: Codebook, soft: SoftBits) -> Decoded:
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
