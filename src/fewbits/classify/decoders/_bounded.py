"""The nearest class within a radius."""

import math
from collections.abc import Iterator

import numpy as np

from fewbits._checks import check_choice, check_count
from fewbits._typing import CodeArray, IdArray
from fewbits.classify._code_table import BLOCK, CodeTable, KeyArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers, Decoded, check_ties, first_of_each
from fewbits.classify._items import item_codes
from fewbits.classify.decoders._nearest import METHODS, compare
from fewbits.codes import pair_distances
from fewbits.errors import ArgumentError

_MAX_BALL = 1 << 22  # codes that are looked up for one item
_LOOKUP = 64  # comparisons that take as long as a look-up


def decode_bounded(
    codebook: Codebook,
    codes: CodeArray,
    radius: int,
    *,
    ties: str = "first",
    method: str = "auto",
) -> Decoded:
    """Return the nearest class where it is no farther than `radius`.

    Between exact decoding (radius 0) and nearest (radius n_bits). What is farther from
    every class is left undecided, as unknown things should be.

    Parameters
    ----------
    codebook : Codebook
    codes : ndarray of shape (n, n_bytes), dtype uint8
    radius : int
        The largest Hamming distance that counts, 0 or more.
    ties : {"first", "none"}, default="first"
        What to answer where several classes are equally near: that of the lowest row,
        or no class.
    method : {"auto", "look-ups", "exhaustive"}, default="auto"
        Look up every code of the ball around an item, nearest first until one is a
        class's; or compare with every class. The answers are the same; "auto" takes
        what costs less.

    Returns
    -------
    Decoded

    Raises
    ------
    CodeError
        When the codes are not as long as those of the classes.
    ArgumentError
        When `radius` is below 0, or there are too many codes within it to look up.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]), n_bits=5)
    >>> codes = pack([[0, 0, 0, 0, 1], [0, 0, 1, 1, 0]])
    >>> decode_bounded(book, codes, radius=1).rows
    array([ 0, -1])
    """
    check_ties(ties)
    check_choice(method, "method", METHODS)
    codes = item_codes(codes, codebook)
    radius = min(check_count(radius, "radius", 0), codebook.n_bits)
    size = ball_size(codebook.n_bits, radius)
    if method == "look-ups" and size > _MAX_BALL:
        raise ArgumentError(
            f"{size:,} codes of {codebook.n_bits} bits lie within radius {radius}, too "
            "many to look up; take another method"
        )
    few = size <= _MAX_BALL and size * _LOOKUP <= len(codebook)
    if method == "look-ups" or (method == "auto" and few):
        return _look_up(codebook, codes, radius).decided(ties)
    found = compare(codebook, codes, method)
    far = found.distances > radius
    found.distances[far], found.rows[far], found.ties[far] = -1, -1, 0
    return found.decided(ties)


def ball_size(n_bits: int, radius: int) -> int:
    """Return how many codes lie within a radius of a code.

    Examples
    --------
    >>> ball_size(64, 2)
    2081
    """
    return sum(math.comb(n_bits, distance) for distance in range(radius + 1))


def shells(words: KeyArray, radius: int) -> Iterator[KeyArray]:
    """Yield the keys of all patterns of 0, 1, ... `radius` flipped bits."""
    keys, last = np.zeros(1, np.uint64), np.full(1, -1)
    yield keys
    for _ in range(radius):
        more = len(words) - 1 - last  # bits after the last one flipped
        starts = np.cumsum(more) - more
        parents = np.repeat(np.arange(len(keys)), more)
        last = np.arange(len(parents)) - starts[parents] + last[parents] + 1
        keys = keys[parents] ^ words[last]
        yield keys


def _look_up(codebook: Codebook, codes: CodeArray, radius: int) -> Answers:
    found = Answers.none(len(codes))
    keys = codebook.table.keys(codes)
    open_ = np.arange(len(codes))
    for distance, flips in enumerate(shells(codebook.table.words, radius)):
        step = max(1, BLOCK // len(flips))
        for start in range(0, len(open_), step):
            queries = open_[start : start + step]
            part = _shell(codebook, codes[queries], keys[queries], flips, distance)
            found.put(queries, part)
        open_ = open_[found.rows[open_] < 0]
        if not open_.size:
            break
    return found


def _shell(
    codebook: Codebook,
    codes: CodeArray,
    keys: KeyArray,
    flips: KeyArray,
    distance: int,
) -> Answers:
    """Look up the codes at one distance."""
    part, table = Answers.none(len(codes)), codebook.table
    queries, entries = _hits(table, keys, flips)
    rows = table.rows[entries]
    # Long codes may share a key with another that is not there.
    right = pair_distances(codes[queries], codebook.codes[rows]) == distance
    queries, rows, entries = queries[right], rows[right], entries[right]
    counts = table.counts[entries]
    part.rows, part.ties = first_of_each(len(codes), queries, rows, counts)
    part.distances[queries] = distance
    part.lookups[:] = len(flips)
    return part


def _hits(table: CodeTable, keys: KeyArray, flips: KeyArray) -> tuple[IdArray, IdArray]:
    """Return which of the keys, with some flip, is that of which code."""
    parts = []
    for start in range(0, len(flips), BLOCK):
        some = flips[start : start + BLOCK]
        places, entries = table.hits(keys[:, None] ^ some)
        parts.append((places // len(some), entries))
    queries, entries = (np.concatenate(part) for part in zip(*parts, strict=True))
    return queries, entries
