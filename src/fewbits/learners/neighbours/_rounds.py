"""The fast map of codes that keep neighbours: small blocks between transforms."""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits.encoders import BlockHadamardEncoder
from fewbits.encoders._rounds import padded_size
from fewbits.learners.neighbours._frame import Frame
from fewbits.learners.neighbours._maps import Map

Float32Array = NDArray[np.float32]


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
        self.blocks = random_rotations(shape, rng)
        self.bias = np.zeros(n_bits, np.float32)
        self.parameters = [self.blocks, self.bias]

    def scores(self, V: Float32Array) -> Float32Array:
        found = np.empty((len(V), len(self.bias)), np.float32)
        threads = _kernels.num_threads()
        _kernels.hadamard_scores(V, self._weights(1.0), self.bias, found, threads)
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        by_blocks = np.empty_like(self.blocks)
        for series, blocks in enumerate(self.blocks):
            span = slice(series * self.size, (series + 1) * self.size)
            some = by_scores[:, span] * np.float32(np.sqrt(self.size))
            outputs = np.zeros((len(V), self.size), np.float32)
            outputs[:, : some.shape[1]] = some
            slope, inputs = transformed(outputs), self._inputs(V, blocks)
            for i in range(len(blocks) - 1, -1, -1):
                by_blocks[series, i] = block_products(inputs[i], slope, self.width)
                if i:
                    slope = one_round(slope, blocks[i].transpose(0, 2, 1))
        return [by_blocks, by_scores.sum(axis=0)]

    def encoder(self, frame: Frame) -> BlockHadamardEncoder:
        weights, none = self._weights(frame.scale), np.zeros(len(self.bias))
        plain = BlockHadamardEncoder(weights, none, self.n_inputs, zero_bit=1)
        # Its own scores of the mean err by no more than those of a row near the mean.
        bias = self.bias - plain.project(frame.mean[None])[0]
        return BlockHadamardEncoder(weights, bias, self.n_inputs, zero_bit=1)

    def _weights(self, scale: float) -> Float32Array:
        """Return the blocks as the encoder has them, for features times `scale`."""
        n_series, n_rounds = self.blocks.shape[:2]
        factors = np.full(n_rounds, self.size**-0.5)
        factors[0] *= scale
        factors[-1] *= np.sqrt(self.size)
        weights = self.blocks * factors.astype(np.float32)[:, None, None, None]
        return weights.reshape(n_series, n_rounds, self.size, self.width)

    def _inputs(self, V: Float32Array, blocks: Float32Array) -> list[Float32Array]:
        """Return what each round takes."""
        rows = np.zeros((len(V), self.size), np.float32)
        rows[:, : self.n_inputs] = V
        inputs = [rows]
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


def transformed(rows: Float32Array) -> Float32Array:
    """Return the orthogonal Walsh-Hadamard transform of each row."""
    return one_round(rows, np.ones((rows.shape[1], 1, 1), np.float32))


def one_round(rows: Float32Array, blocks: Float32Array) -> Float32Array:
    """Multiply rows by a block-diagonal matrix, and transform what comes out.

    Parameters
    ----------
    rows : ndarray of shape (n, n_blocks * width)
    blocks : ndarray of shape (n_blocks, width, width)
    """
    size, width = rows.shape[1], blocks.shape[1]
    # Divided, the transform is orthogonal.
    weights = np.ascontiguousarray(blocks * np.float32(size**-0.5))
    weights = weights.reshape(1, 1, size, width)
    found, none = np.empty_like(rows), np.zeros(size, np.float32)
    _kernels.hadamard_scores(rows, weights, none, found, _kernels.num_threads())
    return found


def block_products(
    inputs: Float32Array, slopes: Float32Array, width: int
) -> Float32Array:
    """Return the gradient by each block, from what it took and the slopes behind it."""
    if width == 1:
        sums: Float32Array = (inputs * slopes).sum(axis=0)
        return sums[:, None, None]
    taken = in_blocks(inputs, width).transpose(0, 2, 1)
    found: Float32Array = taken @ in_blocks(slopes, width)
    return found


def in_blocks(rows: Float32Array, width: int) -> Float32Array:
    """Return the parts of the rows that a block takes: (n_blocks, n, width)."""
    return rows.reshape(len(rows), -1, width).transpose(1, 0, 2)
