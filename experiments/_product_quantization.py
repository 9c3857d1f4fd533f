"""Product quantization, a peer whose codes hold numbers of centres instead of bits."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Quantized(NamedTuple):
    """What product quantization makes of two sets of rows.

    Attributes
    ----------
    rows, queries : ndarray of shape (n, width), dtype float32
        The centres that stand for them, padded with zeros.
    nearest : ndarray of shape (n_queries,)
        Which row has the code nearest to each query, by asymmetric distance.
    """

    rows: NDArray[np.float32]
    queries: NDArray[np.float32]
    nearest: NDArray[np.int64]


def quantized(
    X: NDArray[np.float32], queries: NDArray[np.float32], n_bytes: int, seed: int
) -> Quantized:
    """Learn centres from `X`, and code both sides by them.

    Features are padded with zeros to a multiple of the number of parts. With fewer
    than 256 rows, there are as many centres as the next smaller power of two.
    """
    import faiss

    width = -(-X.shape[1] // n_bytes) * n_bytes
    centres = min(8, int(np.log2(len(X))))
    index: Any = faiss.IndexPQ(width, n_bytes, centres)
    index.pq.cp.seed = seed
    index.pq.cp.min_points_per_centroid = 1
    rows, asked = (_padded(Z, width) for Z in (X, queries))
    index.train(rows)
    index.add(rows)
    decoded = (index.sa_decode(index.sa_encode(Z)) for Z in (rows, asked))
    return Quantized(*decoded, index.search(asked, 1)[1][:, 0])


def _padded(Z: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    padded = np.zeros((len(Z), width), np.float32)
    padded[:, : Z.shape[1]] = Z
    return padded
