"""The fast map of neighbour-preserving codes: small blocks between transforms."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.linalg import hadamard

from fewbits import _kernels
from fewbits.encoders import BlockHadamardEncoder, padded_size
from fewbits.learners._core._device import Matrix, current_backend, namespace
from fewbits.learners.neighbours._frame import Frame
from fewbits.learners.neighbours._maps import Map

Float32Array = NDArray[np.float32]

_TIGHTNESS = 0.3  # share of a Newton-Schulz step towards rotations


class BlockHadamardMap(Map):
    """Rounds of a block-diagonal matrix and an orthogonal Walsh-Hadamard transform.

    They start as random rotations: blocks are rotations, or signs.

    Parameters
    ----------
    n_inputs, n_bits, n_rounds : int
    width : {1, 16}
        Of the blocks.
    rng : RandomState

    Notes
    -----
    The last transform is scaled up, so that scores have a variance of about 1 for rows
    with a mean square of 1.
    """

    def __init__(
        self, n_inputs: int, n_bits: int, n_rounds: int, width: int, rng: RandomState
    ) -> None:
        self.n_inputs, self.size = n_inputs, padded_size(n_inputs)
        self.width = width
        n_series, n_blocks = -(-n_bits // self.size), self.size // width
        shape = (n_series, n_rounds, n_blocks, width, width)
        self.blocks = current_backend().put(random_rotations(shape, rng))
        self.bias = current_backend().put(np.zeros(n_bits, np.float32))
        self.parameters = [self.blocks, self.bias]
        # Of fewer scores than features it takes away the choice between directions, and
        # diagonals would be signs.
        self.tightness = _TIGHTNESS if n_bits >= self.size and width > 1 else 0.0

    def prepare(self, progress: float) -> None:
        if self.tightness:
            squares = self.blocks @ self.blocks.swapaxes(-1, -2)
            self.blocks += self.tightness / 2 * (self.blocks - squares @ self.blocks)

    def scores(self, V: Matrix) -> Matrix:
        if not isinstance(V, np.ndarray):
            return self._scores_there(V)
        found = np.empty((len(V), len(self.bias)), np.float32)
        threads = _kernels.num_threads()
        _kernels.hadamard_scores(V, self._weights(1.0), self.bias, found, threads)
        return found

    def _scores_there(self, V: Matrix) -> Matrix:
        """Return the scores by torch, which has no kernel for all rounds."""
        series = [
            one_round(self._inputs(V, blocks)[-1], blocks[-1]) for blocks in self.blocks
        ]
        outputs = namespace(V).concatenate(series, axis=1)[:, : len(self.bias)]
        return outputs * self.size**0.5 + self.bias

    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        by_blocks = namespace(V).empty_like(self.blocks)
        for series, blocks in enumerate(self.blocks):
            span = slice(series * self.size, (series + 1) * self.size)
            outputs = padded(by_scores[:, span] * self.size**0.5, self.size)
            slope, inputs = transformed(outputs), self._inputs(V, blocks)
            for i in range(len(blocks) - 1, -1, -1):
                by_blocks[series, i] = block_products(inputs[i], slope, self.width)
                if i:
                    slope = one_round(slope, blocks[i].swapaxes(1, 2))
        return [by_blocks, by_scores.sum(axis=0)]

    def encoder(self, frame: Frame) -> BlockHadamardEncoder:
        bias = current_backend().get(self.bias)
        weights, none = self._weights(frame.scale), np.zeros(len(bias))
        plain = BlockHadamardEncoder(weights, none, self.n_inputs, zero_bit=1)
        # Its own scores of the mean err by no more than those of a row near the mean.
        bias = bias - plain.project(frame.mean[None])[0]
        return BlockHadamardEncoder(weights, bias, self.n_inputs, zero_bit=1)

    def _weights(self, scale: float) -> Float32Array:
        """Return the blocks as the encoder has them, for features times `scale`."""
        blocks: Float32Array = current_backend().get(self.blocks)
        n_series, n_rounds = blocks.shape[:2]
        factors = np.full(n_rounds, self.size**-0.5)
        factors[0] *= scale
        factors[-1] *= np.sqrt(self.size)
        weights = blocks * factors.astype(np.float32)[:, None, None, None]
        return weights.reshape(n_series, n_rounds, self.size, self.width)

    def _inputs(self, V: Matrix, blocks: Matrix) -> list[Matrix]:
        """Return what each round takes."""
        inputs = [padded(V, self.size)]
        for each in blocks[:-1]:
            inputs.append(one_round(inputs[-1], each))
        return inputs


def random_rotations(shape: tuple[int, ...], rng: RandomState) -> Float32Array:
    """Return random orthogonal matrices; of width 1, signs."""
    matrices = rng.standard_normal(shape)
    rotations, triangles = np.linalg.qr(matrices)
    signs = np.sign(np.diagonal(triangles, axis1=-2, axis2=-1))
    found: Float32Array = (rotations * signs[..., None, :]).astype(np.float32)
    return found


def padded(rows: Matrix, size: int) -> Matrix:
    """Return a copy of rows with zeros behind them."""
    xp, shape = namespace(rows), (len(rows), size)
    found = xp.zeros(shape, dtype=rows.dtype, device=rows.device)
    found[:, : rows.shape[1]] = rows
    return found


def transformed(rows: Matrix) -> Matrix:
    """Return the orthogonal Walsh-Hadamard transform of each row."""
    ones = namespace(rows).ones(
        (rows.shape[1], 1, 1), dtype=rows.dtype, device=rows.device
    )
    return one_round(rows, ones)


def one_round(rows: Matrix, blocks: Matrix) -> Matrix:
    """Multiply rows by a block-diagonal matrix, and transform what comes out.

    Parameters
    ----------
    rows : ndarray or Tensor of shape (n, n_blocks * width)
    blocks : ndarray or Tensor of shape (n_blocks, width, width)
    """
    size, width = rows.shape[1], blocks.shape[1]
    # Divided, the transform is orthogonal.
    weights = blocks * size**-0.5
    if not isinstance(rows, np.ndarray):
        turned = (in_blocks(rows, width) @ weights).swapaxes(0, 1)
        return transform_there(turned.reshape(rows.shape))
    weights = np.ascontiguousarray(weights)
    weights = weights.reshape(1, 1, size, width)
    found, none = np.empty_like(rows), np.zeros(size, np.float32)
    _kernels.hadamard_scores(rows, weights, none, found, _kernels.num_threads())
    return found


def transform_there(rows: Matrix) -> Matrix:
    """Return the transform of tensors, by two products with small matrices."""
    size = rows.shape[1]
    left = 1 << (size.bit_length() - 1) // 2
    right = size // left
    cubes = rows.reshape(-1, left, right)
    found = walsh(left, rows.device) @ cubes @ walsh(right, rows.device)
    return found.reshape(rows.shape)


@lru_cache(maxsize=8)
def walsh(size: int, device: Any) -> Matrix:
    """Return the matrix of -1 and 1 of a transform, on a device."""
    import torch

    return torch.from_numpy(hadamard(size, np.float32)).to(device)


def block_products(inputs: Matrix, slopes: Matrix, width: int) -> Matrix:
    """Return the gradient by each block, from what it took and the slopes behind it."""
    if width == 1:
        return (inputs * slopes).sum(axis=0)[:, None, None]
    return in_blocks(inputs, width).swapaxes(1, 2) @ in_blocks(slopes, width)


def in_blocks(rows: Matrix, width: int) -> Matrix:
    """Return the parts of the rows that a block takes: (n_blocks, n, width)."""
    return rows.reshape(len(rows), -1, width).swapaxes(0, 1)
