"""NumPy versions of the kernels: the specification, the oracle, the fallback.

Searches compare a query with every code and sort by (distance, position), where a
*position* is where a code or a vector stands in its array. Distances of vectors are
defined down to the last bit: all arithmetic is in float64 and not fused, feature ``i``
goes into sum ``i % 16`` of 16 that start at zero, halves are then added to halves, and
the result is rounded to float32 once. The kernels of encoders stand in
``_reference_encode``. Multi-index hashing counts the work of a search, so that it gives
up the same queries everywhere.
"""

from functools import cache
from itertools import combinations, count, pairwise
from math import comb
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels._reference_encode import *  # noqa: F403
from fewbits._typing import CodeArray, DistanceArray, IdArray, ScoreArray

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Mask = NDArray[np.uint8]
_Float = TypeVar("_Float", np.float32, np.float64)
Sums = NDArray[np.uint32]

EUCLIDEAN, COSINE, DOT = range(3)  # of `metric`
INT8_BLOCK = 32

_PADDING = -1
_BLOCK = 1 << 20  # matrix entries handled at once
_LANES = 16  # sums that a distance is split into
_AHEAD = 32  # look-ups after which a search asks whether it can afford the rest
_POLYNOMIAL = 0x82F63B78  # reflected
_LANE = 256  # bytes that are summed one by one, in all lanes at once


def isas() -> list[str]:
    return ["numpy"]


def active_isa() -> str:
    return "numpy"


def force_isa(name: str) -> bool:
    return name == "numpy"


def hamming_distances(
    queries: CodeArray, database: CodeArray, distances: DistanceArray, n_threads: int
) -> None:
    for query, row in zip(queries, distances, strict=True):
        row[:] = _distances(query, database)


def hamming_topk(
    queries: CodeArray,
    database: CodeArray,
    allowed: Mask | None,
    distances: DistanceArray,
    positions: IdArray,
    n_threads: int,
) -> None:
    """Fill (q, k) matrices, nearest first; `allowed` has one bit a code, MSB first."""
    distances[:], positions[:] = _PADDING, _PADDING
    candidates = _candidates(allowed, len(database))
    k = min(positions.shape[1], len(candidates))
    for q, query in enumerate(queries):
        all_distances = _distances(query, database[candidates])
        order = np.argsort(all_distances, kind="stable")[:k]
        distances[q, :k], positions[q, :k] = all_distances[order], candidates[order]


def hamming_within_count(
    queries: CodeArray,
    database: CodeArray,
    radius: int,
    allowed: Mask | None,
    counts: IdArray,
    n_threads: int,
) -> None:
    chosen = database[_candidates(allowed, len(database))]
    for q, query in enumerate(queries):
        counts[q] = np.count_nonzero(_distances(query, chosen) <= radius)


class HammingHits:
    """The allowed codes within a radius of each query, nearest first."""

    def __init__(
        self,
        queries: CodeArray,
        database: CodeArray,
        radius: int,
        allowed: Mask | None,
        n_threads: int,
    ) -> None:
        candidates = _candidates(allowed, len(database))
        self._hits = []
        for query in queries:
            distances = _distances(query, database[candidates])
            hits = np.flatnonzero(distances <= radius)
            hits = hits[np.argsort(distances[hits], kind="stable")]
            self._hits.append((distances[hits], candidates[hits]))

    def counts(self, counts: IdArray) -> None:
        counts[:] = [len(positions) for _, positions in self._hits]

    def write(self, distances: DistanceArray, positions: IdArray) -> None:
        if self._hits:
            distances[:], positions[:] = map(
                np.concatenate, zip(*self._hits, strict=True)
            )


@np.errstate(over="ignore")
def asymmetric_distances(
    scores: ScoreArray,
    database: CodeArray,
    positions: IdArray,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Sum ``|score|`` over the bits on which a code and the score's sign disagree.

    Positions of -1 give inf. The order of the float32 additions is fixed: 16 sums, one
    for each place within two bytes, then halves added to halves.
    """
    n_bits = scores.shape[1]
    for q, score in enumerate(scores):
        codes = database[np.maximum(positions[q], 0)]
        bits = np.unpackbits(codes, axis=1, count=n_bits).astype(bool)
        costs = np.where(bits != (score > 0), np.abs(score), np.float32(0))
        total = _sum_by_lanes(costs)
        distances[q] = np.where(positions[q] < 0, np.float32(np.inf), total)


def bit_sums(
    weights: Float32Array, codes: CodeArray, sums: Float32Array, n_threads: int
) -> None:
    """Sum the weights of the bits that are set, added like asymmetric distances."""
    n_bits = weights.shape[1]
    step = max(1, _BLOCK // n_bits)
    for start in range(0, len(codes), step):
        part = codes[start : start + step]
        bits = np.unpackbits(part, axis=1, count=n_bits).astype(bool)
        for q, weight in enumerate(weights):
            chosen = np.where(bits, weight, np.float32(0))
            sums[q, start : start + step] = _sum_by_lanes(chosen)


@np.errstate(over="ignore", invalid="ignore")
def _sum_by_lanes(terms: NDArray[_Float]) -> NDArray[_Float]:
    """Add up each row: 16 sums from zero, side by side, then halves added to halves."""
    n, width = terms.shape
    padded = np.pad(terms, ((0, 0), (_LANES, -width % _LANES)))
    parts = padded.reshape(n, padded.shape[1] // _LANES, _LANES)
    total: NDArray[_Float] = np.cumsum(parts, axis=1, dtype=terms.dtype)[:, -1]
    while total.shape[1] > 1:
        low, high = np.split(total, 2, axis=1)
        total = low + high
    return total[:, 0]


def _distances(query: CodeArray, database: CodeArray) -> DistanceArray:
    result: DistanceArray = np.bitwise_count(database ^ query).sum(
        axis=1, dtype=np.int32
    )
    return result


def _candidates(allowed: Mask | None, n: int) -> IdArray:
    if allowed is None:
        return np.arange(n, dtype=np.int64)
    return np.flatnonzero(np.unpackbits(allowed, count=n))


@np.errstate(over="ignore")
def vector_distances(
    queries: Float64Array,
    vectors: Float64Array | Float32Array | NDArray[np.uint16],
    positions: IdArray,
    metric: int,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Fill (q, m) `distances`; half precision passes as its bits, in uint16.

    Positions of -1 give inf, and vectors whose sums are not finite give NaN.
    """
    if vectors.dtype == np.uint16:
        vectors = vectors.view(np.float16)  # type: ignore[assignment]
    for q, query in enumerate(queries):
        D = vectors[np.maximum(positions[q], 0)].astype(np.float64)
        distances[q] = np.where(positions[q] < 0, np.inf, _exact(query, D, metric))


@np.errstate(over="ignore", invalid="ignore")
def int8_distances(
    queries: Float64Array,
    values: NDArray[np.int8],
    blocks: Float32Array,
    positions: IdArray,
    metric: int,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Compare with vectors ``value * scale + offset``, rounded to float32 twice.

    `blocks` (n, ceil(n_features / 32), 2) holds the scale and the offset of each 32
    numbers of each vector.
    """
    for q, query in enumerate(queries):
        chosen = np.maximum(positions[q], 0)
        block = np.repeat(blocks[chosen], INT8_BLOCK, axis=1)[:, : values.shape[1]]
        D = values[chosen].astype(np.float32) * block[..., 0] + block[..., 1]
        exact = _exact(query, D.astype(np.float64), metric)
        distances[q] = np.where(positions[q] < 0, np.inf, exact)


def first_pairs(
    distances: Float32Array,
    positions: IdArray,
    first_distances: Float32Array,
    first_positions: IdArray,
    n_threads: int,
) -> None:
    """Keep the first pairs by (distance, position); positions of -1 come last."""
    last = np.where(positions < 0, np.iinfo(np.int64).max, positions)
    order = np.lexsort((last, distances), axis=1)[:, : first_positions.shape[1]]
    first_distances[:] = np.take_along_axis(distances, order, axis=1)
    first_positions[:] = np.take_along_axis(positions, order, axis=1)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _exact(query: Float64Array, D: Float64Array, metric: int) -> Float32Array:
    if metric == EUCLIDEAN:
        exact = np.sqrt(_sum_by_lanes(np.square(query - D)))
    elif metric == DOT:
        exact = -_sum_by_lanes(query * D)
    else:
        squares = _sum_by_lanes(np.square(D))
        lengths = np.sqrt(_sum_by_lanes(np.square(query[None]))) * np.sqrt(squares)
        products = _sum_by_lanes(query * D)
        exact = np.where(lengths > 0, 1.0 - products / lengths, 1.0)
        exact[~np.isfinite(squares)] = np.nan
    exact[~np.isfinite(exact)] = np.nan
    return np.asarray(exact, np.float32)


class MultiIndexTables(NamedTuple):
    codes: CodeArray
    cuts: IdArray
    starts: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    entries: NDArray[np.uint8] | None


class Budget(NamedTuple):
    lookup: int
    candidate: int
    limit: int


def multi_index_build(
    codes: CodeArray,
    cuts: IdArray,
    starts: NDArray[np.uint32],
    positions: NDArray[np.uint32],
    entries: NDArray[np.uint8] | None,
    n_threads: int,
) -> None:
    bits = np.unpackbits(codes, axis=1)
    first = at = 0
    for number, (begin, end) in enumerate(pairwise(cuts.tolist())):
        values = bits[:, begin:end].astype(np.int64) @ (
            1 << np.arange(end - begin, dtype=np.int64)[::-1]
        )
        n_values = 1 << (end - begin)
        counts = np.bincount(values, minlength=n_values)
        starts[first : first + n_values + 1] = np.append(0, np.cumsum(counts))
        first += n_values + 1
        positions[number] = np.argsort(values, kind="stable")
        if entries is not None:
            kept = np.delete(codes, slice(-(-begin // 8), max(end // 8, 0)), axis=1)
            if end // 8 <= -(-begin // 8):
                kept = codes
            entries[at : at + kept.size] = kept[positions[number]].ravel()
            at += kept.size


def multi_index_topk(
    queries: CodeArray,
    tables: MultiIndexTables,
    allowed: Mask | None,
    budget: Budget,
    distances: DistanceArray,
    positions: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None:
    distances[:], positions[:] = -1, -1
    k, n_bits = positions.shape[1], 8 * queries.shape[1]
    for q, query in enumerate(queries):
        search = _Search(tables, query, allowed, k)
        done[q] = search.run(n_bits, budget)
        work[q] = search.work
        if done[q]:
            for rank, pair in enumerate(sorted(search.pairs)[:k]):
                distances[q, rank], positions[q, rank] = pair


def multi_index_nearest(
    queries: CodeArray,
    tables: MultiIndexTables,
    budget: Budget,
    distances: DistanceArray,
    positions: IdArray,
    ties: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None:
    for q, query in enumerate(queries):
        search = _Search(tables, query, None, 1)
        done[q] = search.run(8 * queries.shape[1], budget)
        work[q] = search.work
        pairs = sorted(search.pairs) if done[q] else []
        distances[q], positions[q] = pairs[0] if pairs else (-1, -1)
        ties[q] = sum(pair[0] == pairs[0][0] for pair in pairs)


class RangeHits:
    def __init__(
        self,
        queries: CodeArray,
        tables: MultiIndexTables,
        allowed: Mask | None,
        radius: int,
        budget: Budget,
        n_threads: int,
    ) -> None:
        searches = [_Search(tables, query, allowed, None) for query in queries]
        self._done = [search.run(radius, budget) for search in searches]
        self._work = [search.work for search in searches]
        self._pairs = [
            sorted(pair for pair in search.pairs if pair[0] <= radius) if done else []
            for search, done in zip(searches, self._done, strict=True)
        ]

    def counts(self, counts: IdArray, work: IdArray, done: NDArray[np.uint8]) -> None:
        counts[:] = [len(pairs) for pairs in self._pairs]
        work[:], done[:] = np.reshape(self._work, (-1, 2)), self._done

    def write(self, distances: DistanceArray, positions: IdArray) -> None:
        every = [pair for pairs in self._pairs for pair in pairs]
        distances[:] = [distance for distance, _ in every]
        positions[:] = [position for _, position in every]


class _Search:
    """Search of one query; `pairs` are distances and positions that it found."""

    def __init__(
        self,
        tables: MultiIndexTables,
        query: CodeArray,
        allowed: Mask | None,
        k: int | None,
    ) -> None:
        self._tables, self._k = tables, k
        codes = tables.codes
        self._distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.int64)
        # Codes that are not allowed count as seen: they are compared and never found.
        self._seen = np.zeros(len(codes), np.bool_)
        if allowed is not None:
            self._seen = np.unpackbits(allowed, count=len(codes)) == 0
        bits = np.unpackbits(query)
        self._values = [
            int("".join(map(str, bits[a:b])), 2) for a, b in pairwise(tables.cuts)
        ]
        self.work = [0, 0]
        self.pairs: list[tuple[int, int]] = []

    def run(self, bound: int, budget: Budget) -> bool:
        """Look up until nothing nearer can be found; False where that costs more."""
        m = len(self._values)
        for flips, number in ((f, j) for f in count() for j in range(m)):
            length = int(self._tables.cuts[number + 1] - self._tables.cuts[number])
            if flips * m + number > bound or flips > length:
                return True
            if not self._affordable(length, flips, budget):
                return False
            if not self._look_up(number, _patterns(length, flips), budget):
                return False
            near = sorted(pair[0] for pair in self.pairs)
            if self._k is not None and len(near) >= self._k:
                bound = near[self._k - 1]
        raise AssertionError("a search ends when all flips are done")

    def _affordable(self, length: int, flips: int, budget: Budget) -> bool:
        lookups = float(comb(length, flips))
        candidates = lookups * float(len(self._seen)) / float(1 << length)
        spent = self.work[0] * budget.lookup + self.work[1] * budget.candidate
        cost = spent + lookups * float(budget.lookup)
        return cost + candidates * float(budget.candidate) <= float(budget.limit)

    def _look_up(
        self, number: int, patterns: NDArray[np.int64], budget: Budget
    ) -> bool:
        begins, ends = self._buckets(number, self._values[number] ^ patterns)
        n, candidates = len(patterns), 0
        for start in range(0, n, _AHEAD):
            span = slice(start, start + _AHEAD)
            candidates += int((ends[span] - begins[span]).sum())
            looked_up = min(n, start + _AHEAD)
            all_lookups = self.work[0] + n
            all_candidates = self.work[1] + candidates * n // looked_up
            cost = all_lookups * budget.lookup + all_candidates * budget.candidate
            if cost > budget.limit:
                self.work[0] += looked_up
                self.work[1] += candidates
                return False
        self.work[0] += n
        self.work[1] += candidates
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            positions = self._tables.positions[number, begin:end]
            new = positions[~self._seen[positions]]
            self._seen[new] = True
            self.pairs += zip(self._distances[new].tolist(), new.tolist(), strict=True)
        return True

    def _buckets(self, number: int, values: IdArray) -> tuple[IdArray, IdArray]:
        lengths = np.diff(self._tables.cuts)[:number]
        starts = self._tables.starts[int((2**lengths + 1).sum()) :].astype(np.int64)
        return starts[values], starts[values + 1]


def _patterns(length: int, flips: int) -> NDArray[np.int64]:
    """Return all numbers with so many of the lowest bits set, in order."""
    sets = combinations(range(length), flips)
    return np.sort(np.array([sum(1 << bit for bit in bits) for bits in sets], np.int64))


class PairJoin:
    """All pairs at once, by comparing every code with every other."""

    def __init__(
        self,
        codes: CodeArray,
        allowed: Mask | None,
        parts: IdArray,
        radius: int,
        before: int,
        n_threads: int,
    ) -> None:
        apart = np.bitwise_count(codes[:, None] ^ codes[None]).sum(axis=2, dtype=int)
        near = np.triu(apart <= radius, 1)
        near[before:] = False
        if allowed is not None:
            mask = np.unpackbits(allowed, count=len(codes)).astype(np.bool_)
            near &= mask[:, None] & mask
        self._pairs = np.argwhere(near)
        self._distances = apart[near]
        self._is_new = True

    def advance(self) -> bool:
        self._is_new, was_new = False, self._is_new
        return was_new

    def __len__(self) -> int:
        return len(self._pairs)

    def write(self, distances: DistanceArray, pairs: IdArray) -> None:
        distances[:], pairs[:] = self._distances, self._pairs


def crc32c(data: NDArray[np.uint8], offsets: IdArray, sums: Sums) -> None:
    """Write the CRC-32C of each piece of `data`, [offsets[i], offsets[i + 1])."""
    for i in range(len(sums)):
        sums[i] = _crc(data[offsets[i] : offsets[i + 1]])


def _crc(piece: NDArray[np.uint8]) -> int:
    """Return the sum of one piece, which is linear over GF(2) but for its start.

    Zeros in front change nothing as long as the register is zero, so a piece is filled
    up to whole lanes, which are summed side by side and then put together in pairs. The
    register starts with ones: they are what ``_pushed(ones, len(piece))`` is left of.
    """
    n_lanes = 1 << max(0, (-(-len(piece) // _LANE) - 1).bit_length())
    filled = np.zeros(n_lanes * _LANE, np.uint8)
    filled[len(filled) - len(piece) :] = piece
    lanes = np.zeros(n_lanes, np.uint32)
    for column in filled.reshape(n_lanes, _LANE).T:
        lanes = _table()[(lanes ^ column) & 255] ^ lanes >> np.uint32(8)
    width = _LANE
    while len(lanes) > 1:
        lanes = _pushed(lanes[::2], width) ^ lanes[1::2]
        width *= 2
    start = _pushed(np.array([0xFFFFFFFF], np.uint32), len(piece))
    return int(lanes[0] ^ start[0]) ^ 0xFFFFFFFF


def _pushed(sums: Sums, n: int) -> Sums:
    """Return the sums after `n` more bytes of zero."""
    for power in range(n.bit_length()):
        if n >> power & 1:
            bits = (sums[:, None] >> np.arange(32, dtype=np.uint32)) & 1
            terms = np.where(bits == 1, _zeros(power), np.uint32(0))
            sums = np.bitwise_xor.reduce(terms, axis=1)
    return sums


@cache
def _table() -> Sums:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        last = np.where(table & 1 == 1, np.uint32(_POLYNOMIAL), np.uint32(0))
        table = table >> np.uint32(1) ^ last
    return table


@cache
def _zeros(power: int) -> Sums:
    """Return what becomes of each bit of a sum after ``2**power`` bytes of zero."""
    if power:
        return _pushed(_zeros(power - 1), 1 << (power - 1))
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    pushed: Sums = _table()[bits & 255] ^ bits >> np.uint32(8)
    return pushed
