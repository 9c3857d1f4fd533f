"""Product quantization, a peer whose codes hold numbers of centres instead of bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def nearest_labels(
    X: NDArray[np.float32],
    y: NDArray[Any],
    queries: NDArray[np.float32],
    n_bytes: int,
    seed: int,
) -> NDArray[Any]:
    """Return the label of the code nearest to each query, by asymmetric distance.

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
    found: NDArray[Any] = y[index.search(asked, 1)[1][:, 0]]
    return found


def _padded(Z: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    padded = np.zeros((len(Z), width), np.float32)
    padded[:, : Z.shape[1]] = Z
    return padded
