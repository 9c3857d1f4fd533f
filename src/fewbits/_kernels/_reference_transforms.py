"""NumPy versions of the fast transforms, equal to the compiled ones to the last bit.

Each operation below is one operation of IEEE 754 on float32, and the order in which
stages follow each other is part of the definition.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels import ring
from fewbits._kernels._reference_fma import fused_multiply_add
from fewbits._typing import CodeArray, IdArray, ScoreArray

Float32Array = NDArray[np.float32]

_BLOCK = 1 << 20  # numbers in flight at once


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


def hadamard_encode(
    X: Float32Array,
    weights: Float32Array,
    bias: Float32Array,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None:
    _encode(X, codes, zero_bit, hadamard_scores, weights, bias, n_threads)


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


def circulant_encode(
    X: Float32Array,
    diagonal: Float32Array,
    roots: Float32Array,
    spectra: Float32Array,
    bias: Float32Array,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None:
    arrays = diagonal, roots, spectra, bias
    _encode(X, codes, zero_bit, circulant_scores, *arrays, n_threads)


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


def bilinear_encode(
    X: Float32Array,
    left: Float32Array,
    right: Float32Array,
    bias: Float32Array,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None:
    _encode(X, codes, zero_bit, bilinear_scores, left, right, bias, n_threads)


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


def block_encode(
    X: Float32Array,
    features: NDArray[np.int32],
    feature_starts: IdArray,
    bit_starts: IdArray,
    weights: Float32Array,
    bias: Float32Array,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None:
    maps = features, feature_starts, bit_starts, weights
    _encode(X, codes, zero_bit, block_scores, *maps, bias, n_threads)


def _product(Z: Float32Array, weights: Float32Array) -> Float32Array:
    """Multiply each matrix (rows, k) of `Z` by `weights` (k, columns), term by term."""
    total = np.zeros((*Z.shape[:2], weights.shape[1]), np.float32)
    for k, row in enumerate(weights):
        total = fused_multiply_add(Z[:, :, k, None], row, total)
    return total


def _encode(
    X: Float32Array,
    codes: CodeArray,
    zero_bit: int,
    score: Callable[..., None],
    *arguments: Any,
) -> None:
    """Pack the signs of scores, block by block; `arguments` end in bias and threads."""
    *arrays, bias, n_threads = arguments
    step = max(1, _BLOCK // len(bias))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        scores = np.empty((len(rows), len(bias)), np.float32)
        score(rows, *arrays, bias, scores, n_threads)
        bits = scores >= 0 if zero_bit else scores > 0
        codes[start : start + step] = np.packbits(bits, axis=1)


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
