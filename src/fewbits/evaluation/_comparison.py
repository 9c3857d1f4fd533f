"""Codes beside the vectors that they stand for: recall, bytes and speed."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import IdArray
from fewbits.encoders import Encoder, as_features, feature_blocks
from fewbits.evaluation._neighbours import (
    Progress,
    exact_neighbours,
    neighbour_recall,
    search_recall,
)
from fewbits.index import FlatIndex

#: Distances that are in memory at a time.
_DISTANCES = 1 << 22
_LONG = 0.25  # seconds


class Comparison(NamedTuple):
    """One way to store and search items.

    Attributes
    ----------
    name : str
    bytes_per_item : int
    recall : float
        Share of the k nearest vectors among the first k found; its expectation over
        the order of items at the same distance.
    recall_reranked : float or None
        The same after re-ranking a shortlist by the asymmetric distance.
    queries_per_second : float
        Encoding of the query included, all queries at once.
    """

    name: str
    bytes_per_item: int
    recall: float
    recall_reranked: float | None
    queries_per_second: float


def compare_encoders(
    encoders: Mapping[str, Encoder],
    database: ArrayLike,
    queries: ArrayLike,
    *,
    k: int = 10,
    nearest: IdArray | None = None,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Compare encoders with the float vectors, by the nearest in Euclidean distance.

    The vectors themselves come first, then each encoder under its name. Queries must
    not be in the database, or they find themselves; `nearest` are the rows of their `k`
    exact nearest, where they are known already.
    """
    database, queries = as_features(database), as_features(queries)
    truth = exact_neighbours(queries, database, k).ids if nearest is None else nearest
    seconds, floats = 0.0, np.ascontiguousarray(queries, np.float32)

    def brute_force(items: NDArray[Any], squares: NDArray[Any]) -> None:
        step = max(1, min(100, _DISTANCES // len(items)))
        for start in range(0, len(floats), step):
            distances = squares - 2 * (floats[start : start + step] @ items.T)
            np.argpartition(distances, min(k, len(items) - 1), axis=1)

    for _, items in feature_blocks(database):  # reading a memory map is not counted
        squares = np.einsum("ij,ij->i", items, items)
        seconds += _seconds(partial(brute_force, items, squares))
    width, speed = 4 * database.shape[1], len(queries) / seconds
    rows = [Comparison("float vectors", width, 1.0, None, speed)]
    for name, encoder in encoders.items():
        if progress is not None:
            progress(len(rows), len(encoders) + 1)
        codes, query_codes = encoder.encode(database), encoder.encode(queries)
        index = FlatIndex(codes)
        corrections = encoder.corrections(database, codes)
        reranked = index.search_reranked(
            query_codes,
            k,
            scores=encoder.query_scores(queries),
            offsets=corrections or encoder.offsets,
        )

        def search(encoder: Encoder = encoder, index: FlatIndex = index) -> None:
            index.search(encoder.encode(queries), k)

        rows.append(
            Comparison(
                name,
                codes.shape[1] + (0 if corrections is None else corrections.n_bytes),
                neighbour_recall(query_codes, codes, truth, k).value,
                search_recall(reranked.ids, truth).value,
                len(queries) / _seconds(search),
            )
        )
    if progress is not None:
        progress(len(rows), len(rows))
    return rows


def _seconds(function: Callable[[], Any]) -> float:
    """Return the median time of three calls; one is enough where it takes long."""
    times: list[float] = []
    while len(times) < 3 and (not times or times[0] < _LONG):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))
