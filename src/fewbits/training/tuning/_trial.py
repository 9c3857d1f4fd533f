"""Items to learn from, others to search among, and queries that are neither."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.classify import nearest_vote, vote
from fewbits.codes import Neighbours
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    exact_neighbours,
    mean_average_precision,
    same_label,
    search_recall,
)
from fewbits.index import Corrections, FlatIndex
from fewbits.training.tuning._configuration import KEPT, Configuration
from fewbits.training.tuning._floats import (
    QUERIES_ALONE,
    FloatScan,
    reduced,
    scan_seconds,
    stored,
    vector_bytes,
)
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._timing import seconds_alone

Offsets = Callable[[CodeArray], NDArray[np.float32] | None] | Corrections
Values = NDArray[np.float64]
#: Shortlists to try, in units of the neighbours that count.
_SHORTLISTS = (3, 10, 30, 100)
#: Re-ranking more than a tenth of the items makes the codes pointless.
_LARGEST_SHARE = 10
#: Minimum number of values for a standard error.
_FEWEST = 2


class Sample(NamedTuple):
    """Rows to learn from, and their labels or None."""

    X: NDArray[Any]
    y: NDArray[Any] | None


class _Coded(NamedTuple):
    """The items by their codes, and the queries by codes and scores."""

    items: FlatIndex
    codes: CodeArray
    scores: NDArray[Any]
    offsets: Offsets | None


@dataclass(frozen=True, eq=False)
class Trial:
    """One collection with its queries; labels are None where there are none.

    Attributes
    ----------
    X : ndarray of shape (n_items, n_features)
        Items to search among.
    y : ndarray of shape (n_items,) or (n_items, n_labels), or None
    queries : ndarray of shape (n_queries, n_features)
    query_labels : ndarray, or None
    quality : str
        See `fewbits.training.tuning.Target`.
    k : int
        Neighbours that count.
    vectors : bool
        Whether to try re-ranking by vectors, which takes most of the time.
    sample : Sample or None
        Rows to learn from; None takes those that are searched.
    """

    X: NDArray[Any]
    y: NDArray[Any] | None
    queries: NDArray[Any]
    query_labels: NDArray[Any] | None
    quality: str
    k: int
    vectors: bool = True
    sample: Sample | None = None

    @property
    def learnt_from(self) -> Sample:
        """The rows to learn from."""
        return Sample(self.X, self.y) if self.sample is None else self.sample

    def searches(self, learner: Configuration) -> list[Configuration]:
        """Return the ways to search with one encoder.

        Re-ranking a shortlist leaves the rest of a ranking as it is, so the mean
        average precision of the whole has only one.
        """
        if self.quality == "map":
            return [learner]
        most = len(self.X) // _LARGEST_SHARE
        sizes = [n * self.k for n in _SHORTLISTS if n * self.k <= most]
        vectors = [name for name, kind in KEPT.items() if kind in self._kept]
        again = [
            replace(learner, rerank=rerank, shortlist=size)
            for rerank in ("scores", *vectors)
            for size in sizes
        ]
        return [learner, *again]

    def measure(
        self, encoder: Encoder, searches: list[Configuration], fit_seconds: float
    ) -> list[Measured]:
        """Return the metrics of some ways to search with an encoder."""
        (encode,) = seconds_alone([encoder], self.queries)
        coded = self._coded(encoder)
        n_constant = _n_constant_bits(coded.items.codes, encoder.n_bits)
        found = []
        for each in searches:
            start = time.perf_counter()
            answer = self._search(coded, each, self.k)
            seconds = (time.perf_counter() - start) / len(self.queries)
            alone = encode + self._seconds_alone(coded, each)
            values = self._values(answer, coded, each)
            kind = each.keep_vectors
            vectors = vector_bytes(kind, self.X.shape[1]) if kind else 0
            memory = coded.codes.shape[1] + each.correction_bytes
            found.append(
                Measured(
                    configuration=each,
                    n_items=len(self.X),
                    quality=float(values.mean()),
                    error=float(values.std(ddof=1) / np.sqrt(len(values))),
                    memory_bytes=memory,
                    bytes_per_item=memory + vectors,
                    encode_us=1e6 * encode,
                    search_us=1e6 * seconds,
                    query_us=1e6 * alone,
                    scan_us=self._scan_us,
                    fit_seconds=fit_seconds,
                    n_constant_bits=n_constant,
                )
            )
        return found

    def _seconds_alone(self, coded: _Coded, how: Configuration) -> float:
        """Return the time to search with one query, the shortest of several.

        Other work on the machine only delays.
        """
        times = []
        for row in range(min(len(self.queries), QUERIES_ALONE)):
            one = slice(row, row + 1)
            query = coded._replace(codes=coded.codes[one], scores=coded.scores[one])
            start = time.perf_counter()
            self._search(query, how, self.k, one)
            times.append(time.perf_counter() - start)
        return min(times)

    @cached_property
    def _scan_us(self) -> float:
        return 1e6 * scan_seconds(self.X, self.queries, self.k)

    def floats(self) -> list[FloatScan]:
        """Return the metrics of full scans, in each precision."""
        return [
            FloatScan(name, size, self._float_quality(rows), self._scan_us)
            for name, size, rows in stored(self.X)
        ]

    def _float_quality(self, rows: NDArray[np.float32]) -> float:
        if self.quality == "map":
            relevance = same_label(self.query_labels, self.y)  # type: ignore[arg-type]
            asked = np.asarray(self.queries, np.float32)
            found = mean_average_precision(asked, rows, relevance, metric="euclidean")
            return found.value
        ids = exact_neighbours(self.queries, rows, self.k).ids
        if self.quality == "recall":
            return search_recall(ids, self._nearest).value
        assert self.y is not None
        order = np.broadcast_to(np.arange(self.k, dtype=np.int32), ids.shape)
        classes = vote(Neighbours(order, ids), self.y, self.k).labels
        return float(np.mean(classes == self.query_labels))

    def _coded(self, encoder: Encoder) -> _Coded:
        items = encoder.encode(self.X)
        return _Coded(
            FlatIndex(items),
            encoder.encode(self.queries),
            encoder.query_scores(self.queries),
            encoder.corrections(self.X, items) or encoder.offsets,
        )

    def _search(
        self, coded: _Coded, how: Configuration, k: int, rows: slice = slice(None)
    ) -> Any:
        """Search as a bundle does."""
        if how.rerank is None:
            return coded.items.search(coded.codes, k)
        again: dict[str, Any] = {"scores": coded.scores, "offsets": coded.offsets}
        if how.keep_vectors:
            kept = self._kept[how.keep_vectors]
            again = {"vectors": kept, "query_vectors": self.queries[rows]}
        return coded.items.search_reranked(
            coded.codes, k, shortlist=how.shortlist, **again
        )

    def _values(self, answer: Any, coded: _Coded, how: Configuration) -> Values:
        """Return the quality of the answer to each query, where it is defined."""
        if self.quality == "recall":
            values = search_recall(answer.ids, self._nearest).per_query
        elif self.quality == "accuracy":
            classes = self._classes(answer, coded, how)
            values = (classes == self.query_labels).astype(np.float64)
        else:
            relevance = same_label(self.query_labels, self.y)  # type: ignore[arg-type]
            found = mean_average_precision(coded.codes, coded.items.codes, relevance)
            values = found.per_query
        values = values[~np.isnan(values)]
        if len(values) < _FEWEST:
            raise ArgumentError(
                f"{len(values)} of {len(self.queries)} queries have a label that any "
                f"of {len(self.X)} items has: too few to measure the quality"
            )
        return values

    def _classes(self, answer: Any, coded: _Coded, how: Configuration) -> Any:
        """Return the classes that won the votes, as `fewbits.bundle.vote_answers`."""
        assert self.y is not None
        if how.rerank is None:
            return nearest_vote(coded.codes, coded.items.codes, self.y, self.k).labels
        if how.rerank == "scores":  # items of one code are equally far away
            answer = self._search(coded, how, how.shortlist or self.k)
        found = Neighbours(answer.distances, answer.ids)
        return vote(found, self.y, self.k).labels

    @cached_property
    def _nearest(self) -> NDArray[np.int64]:
        return exact_neighbours(self.queries, self.X, self.k).ids

    @cached_property
    def _kept(self) -> Mapping[str, Any]:
        """The vectors to rank by, in each precision."""
        return reduced(self.X) if self.vectors else {}


def _n_constant_bits(codes: CodeArray, n_bits: int) -> int:
    varied = np.bitwise_or.reduce(codes) & ~np.bitwise_and.reduce(codes)
    return n_bits - int(np.bitwise_count(varied).sum())
