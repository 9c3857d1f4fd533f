"""Float distances: bounds for all pairs, exact values for the few that matter.

All pairs go through one float32 matrix product, whose rounding error has a rigorous
bound. Whatever the bound cannot decide is computed again in float64, feature by feature
in a fixed order, so that answers depend neither on blocks nor on the BLAS.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._spans import spans
from fewbits._typing import Array, IdArray
from fewbits._unit_rows import unit_rows
from fewbits.errors import ArgumentError, FeatureError
from fewbits.evaluation._checks import as_features
from fewbits.index import METRICS

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

_ROUNDING = 2.0**-24
_UNDERFLOW = 1e-35
_LARGEST = 1e150  # its square is a float64
_ENTRIES = 1 << 24  # of a block of features
_PAIR_ENTRIES = 1 << 20  # of features compared in float64 at once


class Screen:
    """Bounds of *keys*, numbers that order like the distances of a query.

    The key of a pair is ``w (|q|^2 + |d|^2) - c q.d`` after scaling: the squared
    Euclidean distance (w = 1, c = 2), or the negative product (w = 0, c = 1) of unit
    vectors (cosine) or with a unit query (dot).
    """

    def __init__(self, queries: Array, database: Array, metric: str) -> None:
        self._metric = metric
        self._w, self._c = (1.0, 2.0) if metric == "euclidean" else (0.0, 1.0)
        self._centre = np.zeros(database.shape[1])
        if metric == "euclidean":
            # Distances do not depend on the origin; their rounding errors do.
            sample = database[:: -(-len(database) // 1024)]
            self._centre = sample.mean(axis=0, dtype=np.float64)
        largest = max(_largest(queries), _largest(database), 1e-150)
        # No row is longer than 1 afterwards.
        self.scale = 1.0 / (2.0 * largest * np.sqrt(database.shape[1]))
        self._queries, self._query_norms = self._transform(
            queries, unit=metric == "dot"
        )
        # Products of n terms, the rounding of their factors, and a few additions.
        self._error = (database.shape[1] + 16) * _ROUNDING

    def bounds(self, rows: Array) -> tuple[Float32Array, Float32Array]:
        """Return the lower and upper bounds of the keys of all queries with `rows`."""
        items, norms = self._transform(rows)
        lower = self._queries @ items.T
        lower *= np.float32(-self._c)
        upper = lower.copy()
        for bounds, sign in ((lower, -1), (upper, 1)):
            weight = self._w + sign * self._error
            bounds += (weight * norms + sign * _UNDERFLOW).astype(np.float32)
            bounds += (weight * self._query_norms).astype(np.float32)[:, None]
        return lower, upper

    def _transform(
        self, X: Array, unit: bool = False
    ) -> tuple[Float32Array, FloatArray]:
        """Return scaled rows in float32 and their squared norms."""
        result = np.empty(X.shape, np.float32)
        norms = np.empty(len(X))
        for span in spans(len(X), _PAIR_ENTRIES // X.shape[1]):
            rows = X[span].astype(np.float64)
            if unit or self._metric == "cosine":
                rows = unit_rows(rows)
            else:
                rows = (rows - self._centre) * self.scale
            norms[span] = np.einsum("ij,ij->i", rows, rows)
            result[span] = rows
        return result, norms


def exact_distances(
    queries: Array, database: Array, pairs: tuple[IdArray, IdArray], metric: str
) -> FloatArray:
    """Return the distances of pairs (query row, database row), a few MB at a time."""
    distances = np.empty(len(pairs[0]))
    for span in spans(len(distances), _PAIR_ENTRIES // database.shape[1]):
        q, d = pairs[0][span], pairs[1][span]
        distances[span] = _pair_distances(
            queries[q].astype(np.float64), database[d].astype(np.float64), metric
        )
    return distances


def _pair_distances(Q: FloatArray, D: FloatArray, metric: str) -> FloatArray:
    """Compare each row of `Q` with the same row of `D`.

    Euclidean distance, 1 - cosine (a vector of zeros is at cosine 0 with everything),
    or minus the dot product.
    """
    if metric == "euclidean":
        return np.asarray(np.sqrt(np.square(Q - D).sum(axis=1)))
    products: FloatArray = (Q * D).sum(axis=1)
    if metric == "dot":
        return -products
    lengths = np.sqrt(np.square(Q).sum(axis=1)) * np.sqrt(np.square(D).sum(axis=1))
    cosines = np.divide(products, lengths, out=np.zeros(len(Q)), where=lengths > 0)
    return np.asarray(1.0 - cosines)


def blocks(
    queries: Array, database: Array
) -> tuple[Iterator[slice], tuple[slice, ...]]:
    """Return spans of queries and of the database whose products fit into memory."""
    width = max(1, _ENTRIES // database.shape[1])
    return (
        spans(len(queries), min(2048, width)),
        tuple(spans(len(database), min(8192, width))),
    )


def check_pair(
    queries: ArrayLike, database: ArrayLike, metric: str
) -> tuple[Array, Array]:
    """Return two matrices of finite features of the same width."""
    check_choice(metric, "metric", METRICS)
    items = as_features(database, "database")
    return as_features(queries, "queries", items.shape[1]), items


def _largest(X: Array) -> float:
    largest = 0.0
    for span in spans(len(X), _PAIR_ENTRIES // X.shape[1]):
        largest = max(largest, float(X[span].max()), -float(X[span].min()))
    if largest > _LARGEST:
        raise FeatureError(f"features must lie within {_LARGEST:g}, got {largest:g}")
    return largest


def check_known(k: int, n: int, what: str) -> None:
    """Refuse a ground truth of more neighbours than there are."""
    if k > n:
        raise ArgumentError(f"k={k} asks for more neighbours than the {n} {what}")
