"""All pairs of near codes, a block after the other.

Two codes that differ in at most r bits differ in at most ``r // m`` bits of one of any
m parts (the pigeonhole principle); more exactly, in at most ``t = r // m`` bits of one
of the first ``r - m * t + 1`` parts, or in less than t of one of the others. So codes
are sorted by each part in turn, and those compared that are near there, unless it is
sooner done to compare every code with every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import hamming_range_search
from fewbits.index._chunk import Mask

_BLOCK = 1 << 18  # ordered pairs that come together
_HELD = 1 << 20  # that are sorted together: so many, or as many as there are codes
_QUERIES = 4096  # that are counted at a time in a scan
_HITS = 1 << 18  # and found, but for those of one more query

# Picoseconds of sorting a code, of a look-up, and of a comparison in a bucket; and of a
# comparison of 64 bits in a scan, which finds each pair twice.
_SORT, _LOOKUP, _CANDIDATE, _SCAN = 50_000, 20_000, 1_000, 170
_LONGEST = 56  # bits of a part, which the kernels read at once
_MOST_FLIPS = 2  # what takes more is a scan
_SAMPLE, _TRIED = 1024, 4  # codes that tell of skew, and plans that they are asked of


class Pairs(NamedTuple):
    """Pairs of codes.

    Attributes
    ----------
    distances : ndarray of shape (n_pairs,), dtype int32
        Bits that differ.
    ids : ndarray of shape (n_pairs, 2), dtype int64
        The smaller id first.
    """

    distances: DistanceArray
    ids: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


def near_pairs(codes: CodeArray, radius: int, mask: Mask | None) -> Iterator[Pairs]:
    """Yield all pairs of allowed positions within a radius, each once."""
    parts = best_parts(codes, radius, mask)
    if parts is None:
        yield from _scanned(codes, radius, mask)
    else:
        yield from _joined(codes, radius, mask, parts, len(codes))


def ordered_pairs(codes: CodeArray, radius: int, mask: Mask | None) -> Iterator[Pairs]:
    """Yield what `near_pairs` does in the order of positions, however many there are.

    Pairs are sorted as far as they may be held. Where there are more, they are counted,
    and found anew for one range of first positions after another, which costs about as
    much as sorting the codes each time.
    """
    parts = best_parts(codes, radius, mask)
    if parts is None:
        yield from _scanned(codes, radius, mask)
        return
    n, most = len(codes), max(_HELD, len(codes))
    held, count = [], 0
    pairs = _joined(codes, radius, mask, parts, n)
    for block in pairs:
        held.append(_numbered(block, n))
        count += len(block.ids)
        if count > most:
            break
    else:
        yield from _in_order(held, n)
        return
    counts = np.zeros(n, np.uint32)
    for numbers, _ in held:
        np.add.at(counts, numbers // n, 1)
    held.clear()
    for block in pairs:
        np.add.at(counts, block.ids[:, 0], 1)
    ends = np.cumsum(counts, dtype=np.int64)
    start = before = 0
    while before < int(ends[-1]):
        stop = int(np.searchsorted(ends, before + most, side="right"))
        stop = max(stop, start + 1)
        later = None if mask is None else mask[start:]
        blocks = _joined(codes[start:], radius, later, parts, stop - start)
        moved = (Pairs(distances, positions + start) for distances, positions in blocks)
        yield from _in_order((_numbered(block, n) for block in moved), n)
        start, before = stop, int(ends[stop - 1])


def _numbered(pairs: Pairs, n: int) -> tuple[IdArray, DistanceArray]:
    """Return each pair as a number that sorts as it does, and the distances."""
    return pairs.ids[:, 0] * n + pairs.ids[:, 1], pairs.distances


def _in_order(
    blocks: Iterable[tuple[IdArray, DistanceArray]], n: int
) -> Iterator[Pairs]:
    empty = np.empty(0, np.int64), np.empty(0, np.int32)
    numbers, distances = map(np.concatenate, zip(empty, *blocks, strict=True))
    order = np.argsort(numbers)
    for span in spans(len(order), _BLOCK):
        positions = np.divmod(numbers[order[span]], n)
        yield Pairs(distances[order[span]], np.stack(positions, axis=1))


def _joined(
    codes: CodeArray, radius: int, mask: Mask | None, parts: IdArray, before: int
) -> Iterator[Pairs]:
    """Yield the pairs whose first positions are before one, in no particular order."""
    join = _kernels.PairJoin(
        codes,
        None if mask is None else np.packbits(mask),
        parts,
        min(radius, 8 * codes.shape[1]),
        before,
        _kernels.num_threads(),
    )
    while join.advance():
        if n := len(join):
            pairs = Pairs(np.empty(n, np.int32), np.empty((n, 2), np.int64))
            join.write(*pairs)
            yield pairs


def _scanned(codes: CodeArray, radius: int, mask: Mask | None) -> Iterator[Pairs]:
    """Compare every code with all that follow; pairs come in order."""
    radius = min(radius, 8 * codes.shape[1])
    chosen = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    for span in spans(len(chosen), _QUERIES):
        block = chosen[span]
        counts = np.empty(len(block), np.int64)
        _kernels.hamming_within_count(
            codes[block],
            codes[block[0] :],
            radius,
            None if mask is None else np.packbits(mask[block[0] :]),
            counts,
            _kernels.num_threads(),
        )
        # Each finds itself; the pairs with later codes are no more than these.
        ends = np.cumsum(counts)
        block, ends = block[counts > 1], ends[counts > 1]
        for first in np.split(block, np.flatnonzero(np.diff(ends // _HITS)) + 1):
            if first.size and len((pairs := _later(codes, first, radius, mask)).ids):
                yield pairs


def _later(codes: CodeArray, first: IdArray, radius: int, mask: Mask | None) -> Pairs:
    """Return the pairs of some positions with later ones, in order."""
    start = int(first[0])
    allowed = None if mask is None else mask[start:]
    near = hamming_range_search(codes[first], codes[start:], radius, allowed=allowed)
    pairs = np.stack([np.repeat(first, np.diff(near.offsets)), near.ids + start], 1)
    later = pairs[:, 1] > pairs[:, 0]
    distances, pairs = near.distances[later], pairs[later]
    order = np.argsort(pairs[:, 0] * len(codes) + pairs[:, 1], kind="stable")
    return Pairs(distances[order], pairs[order])


def best_parts(codes: CodeArray, radius: int, mask: Mask | None) -> IdArray | None:
    """Return by which parts all pairs are found soonest, None for a scan.

    A part is its first bit, number of bits, and flips, -1 for none to look at. Bits
    that are often equal make large buckets: a sample of the codes tells.
    """
    if not _kernels.COMPILED or len(codes) >= 2**32:
        return None
    n_bits = 8 * codes.shape[1]
    radius = min(radius, n_bits)
    positions = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    n = len(positions)
    plans = [
        (_price(n, parts), parts)
        for m in range(1, min(radius + 1, n_bits) + 1)
        if radius // m <= _MOST_FLIPS
        for parts in [parts_of(n_bits, radius, m)]
    ]
    sample = positions[:: max(1, n // _SAMPLE)][:_SAMPLE]
    bits = np.unpackbits(codes[sample], axis=1)
    best, chosen = float(n**2 * -(-codes.shape[1] // 8) * _SCAN), None
    for price, parts in sorted(plans, key=lambda plan: plan[0])[:_TRIED]:
        total = price + _skew_price(bits, parts, n)
        if total < best:
            best, chosen = total, parts
    return chosen


def parts_of(n_bits: int, radius: int, m: int) -> IdArray:
    """Return m parts of codes: first bit, number of bits, and flips of each."""
    cuts = np.linspace(0, n_bits, m + 1).astype(np.int64)
    most = radius // m
    flips = np.where(np.arange(m) <= radius - m * most, most, most - 1)
    return np.stack([cuts[:-1], np.minimum(np.diff(cuts), _LONGEST), flips], axis=1)


def _price(n: int, parts: IdArray) -> float:
    """Return the price of a join where bits are even and independent."""
    price = 0.0
    for _, length, most in parts.tolist():
        price += n * _SORT if most >= 0 else 0
        for flips in range(most + 1):
            lookups = n * comb(length, flips) / 2
            bucket = n / 2 ** min(length, n.bit_length())
            price += lookups * ((_LOOKUP if flips else 0) + _CANDIDATE * bucket)
    return price


def _skew_price(bits: NDArray[np.uint8], parts: IdArray, n: int) -> float:
    """Return the price of comparisons with equal parts, estimated from a sample."""
    if len(bits) < 2:
        return 0.0
    price = 0.0
    for begin, length, flips in parts.tolist():
        if flips >= 0:
            weights = 1 << np.arange(length, dtype=np.int64)
            values = bits[:, begin : begin + length].astype(np.int64) @ weights
            counts = np.unique(values, return_counts=True)[1]
            equal = int((counts * (counts - 1)).sum()) / (len(bits) * (len(bits) - 1))
            price += n**2 / 2 * equal * _CANDIDATE
    return price
