"""Shortlists that Hamming distance returns, and how near their rows are."""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.codes import unpack
from fewbits.index import FlatIndex

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

#: Rows of a shortlist, and those of them that are to come first.
LENGTH, NEAREST = 100, 10
_QUERIES, _FEWEST_QUERIES, _ENTRIES = 64, 8, 1 << 21
#: Of softmax, in the squared distance of the last row that is to come first.
_TEMPERATURE = 0.1
_LEAST = 1e-15


class Shortlists:
    """The nearest codes of some rows, among the other rows, with true distances.

    Parameters
    ----------
    V : ndarray of shape (n, k), dtype float32
        Rows with a mean square of about 1.
    codes : ndarray of shape (n, ceil(n_bits / 8))
    n_bits : int
    n_batches : int
        As many batches of rows ask at most.
    rng : RandomState
        Draws who asks.

    Attributes
    ----------
    n_at_once : int
        Queries of a batch, so that its bits take some megabytes.
    asking : ndarray of shape (m,)
        The rows that ask.
    rows : ndarray of shape (m, length)
        Of their shortlists, without themselves.
    distances : ndarray of shape (m, length)
        Squared, between vectors.
    temperatures : ndarray of shape (m, 1)
    squares : ndarray of shape (n,)
        Squared lengths of V.
    """

    def __init__(
        self,
        V: Float32Array,
        codes: CodeArray,
        n_bits: int,
        n_batches: int,
        rng: RandomState,
    ) -> None:
        self.V, self.codes, self.n_bits = V, codes, n_bits
        self.squares = np.einsum("ij,ij->i", V, V)
        length = min(LENGTH, len(V) - 1)
        room = _ENTRIES // (length * n_bits)
        self.n_at_once = min(max(room, _FEWEST_QUERIES), _QUERIES)
        self.asking = rng.permutation(len(V))[: self.n_at_once * n_batches]
        found = FlatIndex(codes).search(codes[self.asking], length + 1).ids
        itself = found == self.asking[:, None]
        itself[~itself.any(axis=1), -1] = True
        self.rows: IntArray = found[~itself].reshape(-1, length)
        self.distances = self._distances()
        nearest = np.partition(self.distances, NEAREST, axis=1)[:, NEAREST]
        # Of rows that are there many times, all distances may be 0.
        nearest = np.maximum(nearest, max(1e-3 * float(nearest.mean()), _LEAST))
        self.temperatures = _TEMPERATURE * nearest[:, None]

    def batches(self) -> list[IntArray]:
        """Return all queries in batches."""
        step = self.n_at_once
        every = np.arange(len(self.asking))
        return [every[i : i + step] for i in range(0, len(every), step)]

    def signs(self, rows: IntArray) -> Float32Array:
        """Return the bits of rows as -1 and 1."""
        bits = unpack(self.codes[rows.ravel()], self.n_bits).astype(np.float32)
        return (2 * bits - 1).reshape(*rows.shape, self.n_bits)

    def _distances(self) -> Float32Array:
        found = np.empty(self.rows.shape, np.float32)
        (_, length), (_, width) = self.rows.shape, self.V.shape
        for some in spans(len(found), _ENTRIES // (length * width)):
            asking, rows = self.asking[some], self.rows[some]
            products = np.matmul(self.V[rows], self.V[asking][:, :, None])[:, :, 0]
            sums = self.squares[rows] + self.squares[asking, None]
            found[some] = sums - 2 * products
        return found.clip(min=0)
