"""Checked settings of the re-ranking of a shortlist."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_k
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError
from fewbits.index._corrections import Corrections
from fewbits.index._int8 import Int8Vectors
from fewbits.index._matrices import as_query_vectors, as_scores, as_vectors
from fewbits.index._rerank import METRICS, Stored, asymmetric, best, exact
from fewbits.index._segments import Segments
from fewbits.index._vector_parts import VectorParts

#: Returns what is added to the asymmetric distance of each code, or None; or a
#: correction of each row.
Offsets: TypeAlias = Callable[[CodeArray], NDArray[np.float32] | None] | Corrections


@dataclass(frozen=True, eq=False)
class Reranking:
    """Scores or vectors, and how many codes pass each step."""

    k: int
    scores: NDArray[np.float32] | None
    vectors: tuple[NDArray[np.float64], Stored] | None
    metric: str
    offsets: Offsets | None = None
    shortlist: int = 0
    finalists: int = 0

    @classmethod
    def of(
        cls,
        k: int,
        sizes: tuple[CodeArray, int],
        scores: ArrayLike | None,
        vectors: tuple[ArrayLike | Int8Vectors | VectorParts | None, ArrayLike | None],
        metric: str,
        offsets: Offsets | None = None,
    ) -> Self:
        """Check scores and vectors against the queries and the number of codes."""
        queries, n = sizes
        bits = _scores(scores, queries)
        pair = _vectors(*vectors, n, len(queries), metric)
        if bits is None and pair is None:
            raise ArgumentError("re-ranking needs scores, or vectors and query_vectors")
        if isinstance(offsets, Corrections):
            if len(offsets) != n:
                raise ArgumentError(
                    f"corrections must have {n} rows, got {len(offsets)}"
                )
        elif offsets is not None and offsets(queries[:0]) is None:
            offsets = None  # as of most encoders: nothing is gathered for it
        return cls(k, bits, pair, metric, offsets)

    def sized(self, shortlist: int | None, finalists: int | None) -> Self:
        k = self.k
        first = _at_least(k, shortlist, max(100, 10 * k), "shortlist")
        second = _at_least(k, finalists, first, "finalists")
        return replace(self, shortlist=first, finalists=second)

    def ranked(
        self, segments: Segments, places: IdArray
    ) -> tuple[NDArray[np.float32], IdArray]:
        """Return distances and places of the best, of a shortlist of places."""
        distances = np.empty(places.shape, np.float32)
        # Where every vector is read, the order before that decides nothing.
        every = self.vectors is not None and self.finalists >= places.shape[1]
        if self.scores is not None and not every:
            passed = self.finalists if self.vectors else self.k
            codes, rows = segments.codes_at(places)
            each = asymmetric(self.scores, codes, rows)
            if isinstance(self.offsets, Corrections):
                self.offsets.apply(each, self.scores, segments.rows_at(places))
            elif self.offsets is not None:
                _add_offsets(each, self.offsets, codes, rows)
            distances, places = best(each, places, passed)
        if self.vectors is not None:
            each = exact(*self.vectors, segments.rows_at(places), self.metric)
            distances, places = best(each, places, self.k)
        return distances, places


def _add_offsets(
    distances: NDArray[np.float32],
    offsets: Callable[[CodeArray], NDArray[np.float32] | None],
    codes: CodeArray,
    rows: IdArray,
) -> None:
    """Add those of the rows, each computed once."""
    there = rows >= 0
    chosen, places = np.unique(rows[there], return_inverse=True)
    found = offsets(codes[chosen])
    if found is not None:
        distances[there] += found[places]


def _scores(scores: ArrayLike | None, queries: CodeArray) -> NDArray[np.float32] | None:
    return None if scores is None else as_scores(scores, *queries.shape)


def _vectors(
    vectors: ArrayLike | Int8Vectors | VectorParts | None,
    query_vectors: ArrayLike | None,
    n: int,
    n_queries: int,
    metric: str,
) -> tuple[NDArray[np.float64], Stored] | None:
    """Return (query vectors, vectors) when both are given."""
    check_choice(metric, "metric", METRICS)
    if vectors is None and query_vectors is None:
        return None
    if vectors is None or query_vectors is None:
        missing = "vectors" if vectors is None else "query_vectors"
        raise ArgumentError(f"comparing vectors needs {missing} too")
    if isinstance(vectors, Int8Vectors | VectorParts):
        stored: Stored = vectors
        if len(vectors) != n:
            raise ArgumentError(f"vectors must have {n} rows, got {len(vectors)}")
    else:
        stored = as_vectors(vectors, n)
    return as_query_vectors(query_vectors, n_queries, stored.shape[1]), stored


def _at_least(k: int, value: int | None, default: int, name: str) -> int:
    return max(k, default if value is None else check_k(value, name))
