"""NumPy versions of the kernels of encoders, equal to the last bit.

Scores are defined down to the last bit: the score of output ``j`` starts as ``bias[j]``
and takes one fused multiply-add ``x[i] * w[i, j]`` for each feature ``i`` in rising
order, in float32. Whatever computes a score in that order gets the same float on any
machine. In the fast transforms each operation below is one operation of IEEE 754 on
float32, and the order in which stages follow each other is part of the definition.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels import ring
from fewbits._typing import CodeArray, IdArray, ScoreArray

__all__ = [
    "SparseMap",
    "additive_scores",
    "bilinear_encode",
    "bilinear_scores",
    "block_encode",
    "block_scores",
    "circulant_encode",
    "circulant_scores",
    "fused_multiply_add",
    "hadamard_encode",
    "hadamard_scores",
    "linear_encode",
    "linear_scores",
    "pair_sums",
    "sparse_encode",
    "sparse_scores",
]

Float32Array = NDArray[np.float32]

_BLOCK = 1 << 20  # numbers in flight at once
_MOST_CHANGES = 4  # of each bit, in a round of coordinate descent


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


def hadamard_scores(
    X: Float32Array,
    weights: Float32Array,
    bias: Float32Array,
    scores: ScoreArray,
    n_threads: int,
) -> None:
    """Score with rounds of block-diagonal matrices and transforms.

    `weights` is (n_series, n_rounds, size, width): row i of a round is what number i is
    worth to each output of its block.
    """
    size = weights.shape[2]
    step = max(1, _BLOCK // size)
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        for series, rounds in enumerate(weights):
            first = series * size
            last = min(first + size, len(bias))
            Z = np.zeros((len(rows), size), np.float32)
            Z[:, : rows.shape[1]] = rows
            with np.errstate(all="ignore"):
                for blocks in rounds:
                    Z = _hadamard(_times_blocks(Z, blocks))
                total = Z[:, : last - first] + bias[first:last]
            scores[start : start + step, first:last] = total


def circulant_scores(
    X: Float32Array,
    diagonal: Float32Array,
    roots: Float32Array,
    spectra: Float32Array,
    bias: Float32Array,
    scores: ScoreArray,
    n_threads: int,
) -> None:
    """Score with products of polynomials: `spectra` is (n_blocks, 2, size)."""
    d, size = X.shape[1], roots.shape[1]
    step = max(1, _BLOCK // size)
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        real = np.zeros((len(rows), size), np.float32)
        with np.errstate(all="ignore"):
            real[:, :d] = rows * diagonal
            z = ring.forward((real, np.zeros_like(real)), roots)
            for block, (re, im) in enumerate(spectra):
                first = block * d
                last = min(first + d, len(bias))
                y, _ = ring.back(ring.product((re, im), z), roots)
                total = y[:, : last - first] + bias[first:last]
                scores[start : start + step, first:last] = total


def bilinear_scores(
    X: Float32Array,
    left: Float32Array,
    right: Float32Array,
    bias: Float32Array,
    scores: ScoreArray,
    n_threads: int,
) -> None:
    """Score with ``left' Z right``, `left` (d1, b1) and `right` (d2, b2)."""
    (d1, b1), (d2, b2) = left.shape, right.shape
    step = max(1, _BLOCK // max(d1 * d2, d1 * b2, b1 * b2))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        Z = np.zeros((len(rows), d1 * d2), np.float32)
        Z[:, : X.shape[1]] = rows
        half = _product(Z.reshape(-1, d1, d2), right)
        whole = _product(half.transpose(0, 2, 1), left).reshape(len(rows), b2 * b1)
        with np.errstate(all="ignore"):
            scores[start : start + step] = whole[:, : len(bias)] + bias


def block_scores(
    X: Float32Array,
    features: NDArray[np.int32],
    feature_starts: IdArray,
    bit_starts: IdArray,
    weights: Float32Array,
    bias: Float32Array,
    scores: ScoreArray,
    n_threads: int,
) -> None:
    """Score with a small dense map for each block; 16 weights behind are ignored."""
    start = 0
    for b in range(len(bit_starts) - 1):
        seen = X[:, features[feature_starts[b] : feature_starts[b + 1]]]
        bits = slice(bit_starts[b], bit_starts[b + 1])
        shape = seen.shape[1], bits.stop - bits.start
        block = weights[start : start + shape[0] * shape[1]].reshape(shape)
        start += block.size
        total = np.broadcast_to(bias[bits], (len(X), shape[1]))
        for k, row in enumerate(block):
            total = fused_multiply_add(seen[:, k, None], row, total)
        scores[:, bits] = total


def _encode(score: Callable[..., None], X: Float32Array, *arguments: Any) -> None:
    """Pack the signs of scores, block by block.

    `arguments` are those of `score` up to bias, then zero_bit, codes and n_threads.
    """
    *arrays, bias, zero_bit, codes, n_threads = arguments
    step = max(1, _BLOCK // len(bias))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        scores = np.empty((len(rows), len(bias)), np.float32)
        score(rows, *arrays, bias, scores, n_threads)
        codes[start : start + step] = np.packbits(_bits(scores, zero_bit), axis=1)


hadamard_encode = partial(_encode, hadamard_scores)
circulant_encode = partial(_encode, circulant_scores)
bilinear_encode = partial(_encode, bilinear_scores)
block_encode = partial(_encode, block_scores)


def _product(Z: Float32Array, weights: Float32Array) -> Float32Array:
    """Multiply each matrix (rows, k) of `Z` by `weights` (k, columns), term by term."""
    total = np.zeros((*Z.shape[:2], weights.shape[1]), np.float32)
    for k, row in enumerate(weights):
        total = fused_multiply_add(Z[:, :, k, None], row, total)
    return total


def _times_blocks(Z: Float32Array, weights: Float32Array) -> Float32Array:
    """Multiply each row by the block-diagonal matrix that `weights` are the rows of."""
    size, width = weights.shape
    numbers = Z.reshape(len(Z), size // width, width, 1)
    blocks = weights.reshape(size // width, width, width)
    total = numbers[:, :, 0] * blocks[:, 0]
    for i in range(1, width):
        total = fused_multiply_add(numbers[:, :, i], blocks[:, i], total)
    return total.reshape(Z.shape)


def _hadamard(Z: Float32Array) -> Float32Array:
    """Transform each row, the longest stride first."""
    stride = Z.shape[1] // 2
    while stride:
        pairs = Z.reshape(len(Z), -1, 2, stride)
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        Z = np.stack([low + high, low - high], axis=2).reshape(Z.shape)
        stride //= 2
    return Z


def additive_scores(
    scores: ScoreArray,
    sums: ScoreArray,
    gram: Float32Array,
    n_rounds: int,
    tolerance: float,
    n_threads: int,
) -> None:
    """Choose bits by coordinate descent; leave the score of each given the others.

    See additive.hpp. `scores` and `sums` are overwritten.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for row, row_sums in zip(scores, sums, strict=True):
            _descend(row, row_sums, gram, n_rounds, np.float32(tolerance))


def _descend(
    scores: Float32Array,
    sums: Float32Array,
    gram: Float32Array,
    n_rounds: int,
    tolerance: np.float32,
) -> None:
    bits = np.where(scores > 0, np.float32(1), np.float32(-1))
    diagonal, scale = np.diagonal(gram), np.float32(1)
    for turn in range(n_rounds):
        if turn:
            along, squared = (
                np.cumsum(row * bits, dtype=np.float64)[-1] for row in (scores, sums)
            )
            factor = np.float32(squared / along)
            if not (along > 0 and 0 < factor <= np.finfo(np.float32).max):
                break
            scale = factor
        for _ in range(_MOST_CHANGES * len(bits)):
            gains = bits * (scale * scores - sums) + diagonal
            best = np.fmin.reduce(gains)
            if not best < -tolerance:
                break
            at = int(np.argmax(gains == best))
            bits[at] = -bits[at]
            sums += 2 * bits[at] * gram[at]
    scores[:] = (scale * scores - sums) + bits * diagonal


def pair_sums(
    products: NDArray[np.int8], codes: CodeArray, sums: IdArray, n_threads: int
) -> None:
    """Write for each code the sum of products of pairs of bits, as -1 and 1.

    See additive.hpp. Numbers of this size have no rounding in float64.
    """
    n = len(products)
    signs = 2.0 * np.unpackbits(codes, axis=1, count=n) - 1
    sums[:] = np.einsum("ij,ij->i", signs @ products[:, :n].astype(float), signs)


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


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def fused_multiply_add(
    x: Float32Array, w: Float32Array, total: Float32Array
) -> Float32Array:
    """Return ``x * w + total`` rounded once to float32.

    The product is exact in float64. The sum is rounded to odd there (Boldo and
    Melquiond 2008), so that rounding it again to float32 makes no second error.
    """
    product = x.astype(np.float64) * np.float64(w)
    addend = total.astype(np.float64)
    sum_ = product + addend
    # TwoSum: the exact error of the addition above; no number once it overflowed.
    virtual = sum_ - product
    error = (product - (sum_ - virtual)) + (addend - virtual)
    even = (sum_.view(np.int64) & 1) == 0
    inexact = np.isfinite(sum_) & (error != 0)
    away = np.where((error > 0) == (sum_ > 0), 1, -1)
    odd = sum_.view(np.int64) + np.where(inexact & even, away, 0)
    return odd.view(np.float64).astype(np.float32)
