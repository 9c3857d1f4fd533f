"""NumPy versions of the kernels: the specification, the oracle, the fallback.

Searches compare a query with every code and sort by (distance, row). Scores are
defined down to the last bit: the score of output ``j`` starts as ``bias[j]`` and takes
one fused multiply-add ``x[i] * w[i, j]`` for each feature ``i`` in rising order, in
float32. Whatever computes a score in that order gets the same float on any machine.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels._reference_additive import additive_scores as additive_scores
from fewbits._kernels._reference_additive import pair_sums as pair_sums
from fewbits._kernels._reference_checksum import crc32c as crc32c
from fewbits._kernels._reference_fma import fused_multiply_add
from fewbits._kernels._reference_multi_index import Budget as Budget
from fewbits._kernels._reference_multi_index import MultiIndexTables as MultiIndexTables
from fewbits._kernels._reference_multi_index import PairJoin as PairJoin
from fewbits._kernels._reference_multi_index import RangeHits as RangeHits
from fewbits._kernels._reference_multi_index import (
    multi_index_build as multi_index_build,
)
from fewbits._kernels._reference_multi_index import (
    multi_index_nearest as multi_index_nearest,
)
from fewbits._kernels._reference_multi_index import multi_index_topk as multi_index_topk
from fewbits._kernels._reference_rerank import first_pairs as first_pairs
from fewbits._kernels._reference_rerank import int8_distances as int8_distances
from fewbits._kernels._reference_rerank import vector_distances as vector_distances
from fewbits._kernels._reference_transforms import (
    bilinear_encode as bilinear_encode,
)
from fewbits._kernels._reference_transforms import (
    bilinear_scores as bilinear_scores,
)
from fewbits._kernels._reference_transforms import (
    block_encode as block_encode,
)
from fewbits._kernels._reference_transforms import (
    block_scores as block_scores,
)
from fewbits._kernels._reference_transforms import (
    circulant_encode as circulant_encode,
)
from fewbits._kernels._reference_transforms import (
    circulant_scores as circulant_scores,
)
from fewbits._kernels._reference_transforms import (
    hadamard_encode as hadamard_encode,
)
from fewbits._kernels._reference_transforms import (
    hadamard_scores as hadamard_scores,
)
from fewbits._typing import CodeArray, DistanceArray, IdArray, ScoreArray

Float32Array = NDArray[np.float32]
Mask = NDArray[np.uint8]

_PADDING = -1
_BLOCK = 1 << 20  # matrix entries handled at once
_LANES = 16  # sums that an asymmetric distance is split into


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
    rows: IdArray,
    n_threads: int,
) -> None:
    """Fill (q, k) matrices, nearest first; `allowed` holds one bit a row, MSB first."""
    candidates = _candidates(allowed, len(database))
    found = min(rows.shape[1], len(candidates))
    for q, query in enumerate(queries):
        all_distances = _distances(query, database[candidates])
        order = np.argsort(all_distances, kind="stable")[:found]
        distances[q, :found] = all_distances[order]
        rows[q, :found] = candidates[order]
    distances[:, found:] = _PADDING
    rows[:, found:] = _PADDING


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
        self._found = []
        for query in queries:
            distances = _distances(query, database[candidates])
            hits = np.flatnonzero(distances <= radius)
            hits = hits[np.argsort(distances[hits], kind="stable")]
            self._found.append((distances[hits], candidates[hits]))

    def counts(self, counts: IdArray) -> None:
        counts[:] = [len(rows) for _, rows in self._found]

    def write(self, distances: DistanceArray, rows: IdArray) -> None:
        if self._found:
            distances[:], rows[:] = map(np.concatenate, zip(*self._found, strict=True))


@np.errstate(over="ignore")
def asymmetric_distances(
    scores: ScoreArray,
    database: CodeArray,
    rows: IdArray,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Sum ``|score|`` over the bits on which a code and the score's sign disagree.

    Rows of -1 give inf. The order of the float32 additions is fixed: 16 sums, one for
    each place within two bytes, then halves added to halves.
    """
    n_bits = scores.shape[1]
    for q, score in enumerate(scores):
        codes = database[np.maximum(rows[q], 0)]
        bits = np.unpackbits(codes, axis=1, count=n_bits).astype(bool)
        costs = np.where(bits != (score > 0), np.abs(score), np.float32(0))
        total = _sum_by_lanes(costs)
        distances[q] = np.where(rows[q] < 0, np.float32(np.inf), total)


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


def _sum_by_lanes(terms: Float32Array) -> Float32Array:
    """Add up each row: 16 sums side by side, then halves added to halves."""
    padded = np.pad(terms, ((0, 0), (0, -terms.shape[1] % _LANES)))
    parts = padded.reshape(len(terms), padded.shape[1] // _LANES, _LANES)
    with np.errstate(over="ignore", invalid="ignore"):
        total: Float32Array = np.cumsum(parts, axis=1, dtype=np.float32)[:, -1]
        while total.shape[1] > 1:
            low, high = np.split(total, 2, axis=1)
            total = low + high
    return total[:, 0]


def linear_scores(
    X: Float32Array,
    weights: Float32Array,
    bias: Float32Array,
    scores: ScoreArray,
    n_threads: int,
) -> None:
    step = max(1, _BLOCK // max(1, weights.shape[1]))
    for start in range(0, len(X), step):
        block = X[start : start + step]
        total = np.broadcast_to(bias, (len(block), len(bias)))
        for i, row in enumerate(weights):
            total = fused_multiply_add(block[:, i, None], row, total)
        scores[start : start + step] = total


def linear_encode(
    X: Float32Array,
    weights: Float32Array,
    bias: Float32Array,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None:
    """Decide each bit in float64, where that is safe, and else by the definition."""
    step = max(1, _BLOCK // max(1, weights.shape[1]))
    for start in range(0, len(X), step):
        block = X[start : start + step]
        bits, rows, columns = _decided(block, weights, bias)
        for part in range(0, len(rows), _BLOCK):
            r, j = rows[part : part + _BLOCK], columns[part : part + _BLOCK]
            total = bias[j]
            for x, w in zip(block.T, weights, strict=True):
                total = fused_multiply_add(x[r], w[j], total)
            bits[r, j] = _bits(total, zero_bit)
        codes[start : start + step] = np.packbits(bits, axis=1)


class SparseMap(NamedTuple):
    """One row of a CSR matrix (n_bits, n_features) and one bias for each bit."""

    indptr: IdArray
    indices: NDArray[np.int32]
    values: Float32Array
    bias: Float32Array
    n_features: int


def sparse_scores(
    X: Float32Array, map: SparseMap, scores: ScoreArray, n_threads: int
) -> None:
    """Score with a sparse map."""
    for j in range(len(map.bias)):
        total = np.full(len(X), map.bias[j], np.float32)
        for i in range(map.indptr[j], map.indptr[j + 1]):
            total = fused_multiply_add(X[:, map.indices[i]], map.values[i], total)
        scores[:, j] = total


def sparse_encode(
    X: Float32Array, map: SparseMap, zero_bit: int, codes: CodeArray, n_threads: int
) -> None:
    """Zero weights change no bit, so blocks of outputs are encoded as dense maps."""
    indptr, indices, values, bias, d = map
    step = max(8, 8 * _BLOCK // d // 8 * 8)
    for first in range(0, len(bias), step):
        last = min(first + step, len(bias))
        span = slice(indptr[first], indptr[last])
        bits = np.repeat(np.arange(last - first), np.diff(indptr[first : last + 1]))
        weights = np.zeros((d, last - first), np.float32)
        weights[indices[span], bits] = values[span]
        part = codes[:, first // 8 : -(-last // 8)]
        linear_encode(X, weights, bias[first:last], zero_bit, part, n_threads)


def _distances(query: CodeArray, database: CodeArray) -> DistanceArray:
    result: DistanceArray = np.bitwise_count(database ^ query).sum(
        axis=1, dtype=np.int32
    )
    return result


def _candidates(allowed: Mask | None, n: int) -> IdArray:
    if allowed is None:
        return np.arange(n, dtype=np.int64)
    return np.flatnonzero(np.unpackbits(allowed, count=n))


def _bits(scores: ScoreArray, zero_bit: int) -> NDArray[np.bool_]:
    return scores >= 0 if zero_bit else scores > 0


def _decided(
    X: Float32Array, weights: Float32Array, bias: Float32Array
) -> tuple[NDArray[np.bool_], IdArray, IdArray]:
    """Return bits from a float64 product, and the places where they are not certain.

    A chain of d fused multiply-adds errs by at most gamma * A + d * tiny, where A is
    the sum of the absolute values of all terms, gamma = d u / (1 - d u), u = 2**-24,
    and tiny the smallest float32 (Higham 2002, section 3.1). Here A is bounded by
    norms. The few percent cover the errors of the float64 arithmetic.
    """
    d = weights.shape[0]
    X64, weights64 = X.astype(np.float64), weights.astype(np.float64)
    norms = np.linalg.norm(X64, axis=1), np.linalg.norm(weights64, axis=0)
    size = np.outer(*norms) + np.abs(bias)
    relative = d * 2.0**-24
    limits = np.finfo(np.float32)
    scores = X64 @ weights64 + bias
    bound = 1.05 * (relative / (1 - relative) * size + d * limits.smallest_subnormal)
    certain = (np.abs(scores) > bound) & (size < 0.5 * limits.max) & (relative < 0.5)
    rows, columns = np.nonzero(~certain)
    return scores > 0, rows, columns
