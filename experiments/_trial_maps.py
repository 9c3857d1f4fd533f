"""Fast maps that were tried in place of those of `FastNeighbourCodes`.

They are trained as these are, and end as dense maps: only what they find is of
interest, and what it would cost to apply them is known from their shapes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits.encoders import LinearEncoder
from fewbits.encoders._rounds import padded_size
from fewbits.learners import FastNeighbourCodes
from fewbits.learners.neighbours import FastNeighbourTraining
from fewbits.learners.neighbours._frame import Frame
from fewbits.learners.neighbours._maps import Map
from fewbits.learners.neighbours._rounds import (
    block_products,
    in_blocks,
    random_rotations,
    transformed,
)
from fewbits.learners.neighbours._training import ValidationSplit
from fewbits.learners.structured._bilinear import near_square

Float32Array = NDArray[np.float32]


class TrialMap(Map):
    """A linear map without a constant before its bias.

    Attributes
    ----------
    n_inputs : int
    bias : ndarray of shape (n_bits,)
    """

    n_inputs: int
    bias: Float32Array

    def encoder(self, frame: Frame) -> LinearEncoder:
        one = np.eye(self.n_inputs, dtype=np.float32)
        W = frame.weights(self.scores(one) - self.bias)
        return LinearEncoder(W, bias=self.bias - frame.mean @ W, zero_bit=1)


class Kronecker(TrialMap):
    """Two small products: scores are ``A' X B``, X being a row as a matrix.

    Rows are filled up with zeros to a rectangle, and bits are cut from one. A and B
    start with orthonormal columns, or rows where these are fewer.
    """

    def __init__(self, n_inputs: int, n_bits: int, rng: RandomState) -> None:
        self.n_inputs, self.n_bits = n_inputs, n_bits
        self.shape, self.grid = near_square(n_inputs), near_square(n_bits)
        sides = list(zip(self.shape, self.grid, strict=True))
        self.left, self.right = (rotation_part(*side, rng) for side in sides)
        #: Gives scores a variance of about 1, as that of `BlockHadamardMap` does.
        self.scale = np.float32(np.sqrt(max(sides[0]) * max(sides[1])))
        self.bias = np.zeros(n_bits, np.float32)
        self.parameters = [self.left, self.right, self.bias]

    def scores(self, V: Float32Array) -> Float32Array:
        products = self.left.T @ self._matrices(V, self.shape) @ self.right
        cut: Float32Array = products.reshape(len(V), -1)[:, : self.n_bits]
        found: Float32Array = cut * self.scale + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        X = self._matrices(V, self.shape)
        G = self._matrices(self.scale * by_scores, self.grid)
        by_left = np.einsum("npr,nqr->pq", X @ self.right, G)
        by_right = np.einsum("npq,npr->qr", X, self.left @ G)
        return [by_left, by_right, by_scores.sum(axis=0)]

    def _matrices(self, rows: Float32Array, shape: tuple[int, int]) -> Float32Array:
        full = np.zeros((len(rows), shape[0] * shape[1]), np.float32)
        full[:, : rows.shape[1]] = rows
        return full.reshape(len(rows), *shape)


def rotation_part(n: int, k: int, rng: RandomState) -> Float32Array:
    """Return random orthonormal columns (n, k), or rows where these are fewer."""
    size = max(n, k)
    return np.ascontiguousarray(random_rotations((size, size), rng)[:n, :k])


class Butterfly(TrialMap):
    """All stages of a butterfly: 2 x 2 blocks over pairs 1, 2, 4, ... numbers apart.

    The stages start as rotations, behind random signs, so that scores are those of a
    random rotation.
    """

    def __init__(self, n_inputs: int, n_bits: int, rng: RandomState) -> None:
        self.n_inputs, self.size = n_inputs, padded_size(n_inputs)
        assert n_bits <= self.size
        n_stages = self.size.bit_length() - 1
        shape = (n_stages, self.size // 2, 2, 2)
        self.stages = random_rotations(shape, rng)
        #: Gives scores a variance of about 1, as that of `BlockHadamardMap` does.
        self.scale = np.float32(np.sqrt(self.size))
        self.bias = np.zeros(n_bits, np.float32)
        self.parameters = [self.stages, self.bias]

    def scores(self, V: Float32Array) -> Float32Array:
        outputs = self._inputs(V)[-1][:, : len(self.bias)]
        found: Float32Array = self.scale * outputs + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        inputs = self._inputs(V)
        slope = np.zeros((len(V), self.size), np.float32)
        slope[:, : by_scores.shape[1]] = self.scale * by_scores
        by_stages = np.empty_like(self.stages)
        for i in range(len(self.stages) - 1, -1, -1):
            taken, behind = self._pairs(inputs[i], i), self._pairs(slope, i)
            by_stages[i] = np.einsum("nak,nbk->kab", taken, behind)
            slope = self._turned(slope, i, self.stages[i].transpose(0, 2, 1))
        return [by_stages, by_scores.sum(axis=0)]

    def _inputs(self, V: Float32Array) -> list[Float32Array]:
        """Return what each stage takes, and what the last one gives."""
        rows = np.zeros((len(V), self.size), np.float32)
        rows[:, : self.n_inputs] = V
        found = [rows]
        for i, stage in enumerate(self.stages):
            found.append(self._turned(found[-1], i, stage))
        return found

    def _turned(self, rows: Float32Array, i: int, blocks: Float32Array) -> Float32Array:
        """Multiply pairs by blocks: ``out_b = sum_a in_a blocks[a, b]``."""
        first, second = self._pairs(rows, i).transpose(1, 0, 2)
        halves = [first * blocks[:, 0, b] + second * blocks[:, 1, b] for b in (0, 1)]
        stride, n = 1 << i, len(rows)
        parts = [each.reshape(n, -1, 1, stride) for each in halves]
        return np.concatenate(parts, axis=2).reshape(n, self.size)

    def _pairs(self, rows: Float32Array, i: int) -> Float32Array:
        """Return the two halves of all pairs, of shape (n, 2, size / 2)."""
        some = rows.reshape(len(rows), -1, 2, 1 << i)
        return some.transpose(0, 2, 1, 3).reshape(len(rows), 2, -1)


class MixedRounds(TrialMap):
    """Rounds of `BlockHadamardMap` whose blocks have a width of their own.

    Parameters
    ----------
    widths : sequence of int
        Of the blocks of each round.
    """

    def __init__(
        self, n_inputs: int, n_bits: int, rng: RandomState, *, widths: Sequence[int]
    ) -> None:
        self.n_inputs, self.size = n_inputs, padded_size(n_inputs)
        assert n_bits <= self.size
        shapes = [(self.size // width, width, width) for width in widths]
        self.rounds = [random_rotations(shape, rng) for shape in shapes]
        #: Gives scores a variance of about 1, as that of `BlockHadamardMap` does.
        self.scale = np.float32(np.sqrt(self.size))
        self.bias = np.zeros(n_bits, np.float32)
        self.parameters = [*self.rounds, self.bias]

    def scores(self, V: Float32Array) -> Float32Array:
        outputs = self._inputs(V)[-1][:, : len(self.bias)]
        found: Float32Array = self.scale * outputs + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        slope = np.zeros((len(V), self.size), np.float32)
        slope[:, : by_scores.shape[1]] = self.scale * by_scores
        found = [by_scores.sum(axis=0)]
        taken = self._inputs(V)[:-1]
        for inputs, blocks in reversed(list(zip(taken, self.rounds, strict=True))):
            slope = transformed(slope)
            found.insert(0, block_products(inputs, slope, blocks.shape[1]))
            slope = times_blocks(slope, blocks.transpose(0, 2, 1))
        return found

    def _inputs(self, V: Float32Array) -> list[Float32Array]:
        """Return what each round takes, and what the last one gives."""
        rows = np.zeros((len(V), self.size), np.float32)
        rows[:, : self.n_inputs] = V
        found = [rows]
        for blocks in self.rounds:
            found.append(transformed(times_blocks(found[-1], blocks)))
        return found


def times_blocks(rows: Float32Array, blocks: Float32Array) -> Float32Array:
    """Multiply rows by a block-diagonal matrix: (n_blocks, width, width)."""
    products = in_blocks(rows, blocks.shape[1]) @ blocks
    return np.ascontiguousarray(products.transpose(1, 0, 2)).reshape(rows.shape)


class TrialCodes(FastNeighbourCodes):
    """`FastNeighbourCodes` with another map, which starts at random."""

    def __init__(
        self,
        n_bits: int = 64,
        *,
        form: Any = Kronecker,
        training: FastNeighbourTraining | None = None,
        n_iter: int = 60,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_bits, training=training, n_iter=n_iter, random_state=random_state
        )
        self.form = form

    def _start(self, split: ValidationSplit, rng: RandomState) -> Any:
        return self.form(split.rows.shape[1], self.n_bits, rng)
