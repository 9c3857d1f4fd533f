"""NumPy versions of the kernels that rank a shortlist again.

Distances are defined down to the last bit: all arithmetic is in float64 and not fused,
feature ``i`` goes into sum ``i % 16`` of 16 that start at zero, halves are then added
to halves, and the result is rounded to float32 once.
"""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

EUCLIDEAN, COSINE, DOT = range(3)  # of `metric`

INT8_BLOCK = 32
_LANES = 16


@np.errstate(over="ignore")
def vector_distances(
    queries: Float64Array,
    vectors: Float64Array | Float32Array | NDArray[np.uint16],
    rows: IdArray,
    metric: int,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Fill (q, m) `distances`; half precision passes as its bits, in uint16.

    Rows of -1 give inf, and rows whose sums are not finite give NaN.
    """
    if vectors.dtype == np.uint16:
        vectors = vectors.view(np.float16)  # type: ignore[assignment]
    for q, query in enumerate(queries):
        D = vectors[np.maximum(rows[q], 0)].astype(np.float64)
        distances[q] = np.where(rows[q] < 0, np.inf, _distances(query, D, metric))


@np.errstate(over="ignore", invalid="ignore")
def int8_distances(
    queries: Float64Array,
    values: NDArray[np.int8],
    blocks: Float32Array,
    rows: IdArray,
    metric: int,
    distances: Float32Array,
    n_threads: int,
) -> None:
    """Compare with vectors ``value * scale + offset``, rounded to float32 twice.

    `blocks` (n, ceil(n_features / 32), 2) holds the scale and the offset of each 32
    numbers of each vector.
    """
    for q, query in enumerate(queries):
        chosen = np.maximum(rows[q], 0)
        each = np.repeat(blocks[chosen], INT8_BLOCK, axis=1)[:, : values.shape[1]]
        D = values[chosen].astype(np.float32) * each[..., 0] + each[..., 1]
        found = _distances(query, D.astype(np.float64), metric)
        distances[q] = np.where(rows[q] < 0, np.inf, found)


def first_pairs(
    distances: Float32Array,
    rows: IdArray,
    first_distances: Float32Array,
    first_rows: IdArray,
    n_threads: int,
) -> None:
    """Keep the first pairs in the order of (distance, row); rows of -1 come last."""
    last = np.where(rows < 0, np.iinfo(np.int64).max, rows)
    order = np.lexsort((last, distances), axis=1)[:, : first_rows.shape[1]]
    first_distances[:] = np.take_along_axis(distances, order, axis=1)
    first_rows[:] = np.take_along_axis(rows, order, axis=1)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _distances(query: Float64Array, D: Float64Array, metric: int) -> Float32Array:
    if metric == EUCLIDEAN:
        found = np.sqrt(_sum(np.square(query - D)))
    elif metric == DOT:
        found = -_sum(query * D)
    else:
        squares = _sum(np.square(D))
        lengths = np.sqrt(_sum(np.square(query[None]))) * np.sqrt(squares)
        found = np.where(lengths > 0, 1.0 - _sum(query * D) / lengths, 1.0)
        found[~np.isfinite(squares)] = np.nan
    found[~np.isfinite(found)] = np.nan
    return found.astype(np.float32)


def _sum(terms: Float64Array) -> Float64Array:
    """Add up each row: 16 sums side by side, then halves added to halves."""
    n, d = terms.shape
    # The first row of 16 is where the sums start.
    padded = np.pad(terms, ((0, 0), (_LANES, -d % _LANES)))
    parts = padded.reshape(n, padded.shape[1] // _LANES, _LANES)
    total: Float64Array = np.cumsum(parts, axis=1)[:, -1]
    while total.shape[1] > 1:
        low, high = np.split(total, 2, axis=1)
        total = low + high
    return total[:, 0]
