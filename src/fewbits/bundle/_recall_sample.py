"""Queries that recall is estimated with, and their exact nearest neighbours."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import generator
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._encoding import Progress
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError, FeatureError
from fewbits.evaluation import exact_neighbours, search_recall

if TYPE_CHECKING:
    from fewbits.bundle._search import SearchMixin as Bundle

_N_ROWS = 1000  # that are drawn
_QUERIES = 4096  # at a time
_NUMBERS = 1 << 24  # of vectors at a time
#: Share of bits that differ between items and other vectors; rounding changes fewer.
_OTHERS = 0.05


@dataclass(frozen=True, eq=False)
class Stored:
    """The vectors that the truth is about: those kept in a collection, or given."""

    bundle: "Bundle"
    given: NDArray[Any] | None

    @classmethod
    def of(cls, bundle: "Bundle", vectors: Any) -> Self:
        items = bundle.collection
        if vectors is None:
            if items.vectors is None:
                raise ArgumentError(
                    "this collection keeps no vectors to find the true neighbours "
                    "with: build it with keep_vectors, or give the vectors"
                )
            return cls(bundle, None)
        given = _as_vectors(bundle, vectors)
        if len(given) != len(items):
            raise ArgumentError(
                f"vectors must have a row for each of the {len(items):,} items, got "
                f"{len(given):,}"
            )
        return cls(bundle, given)

    def __len__(self) -> int:
        return len(self.bundle.collection)

    def at(self, rows: IdArray) -> NDArray[Any]:
        """Return the vectors of some rows, which are finite."""
        if self.given is None:
            kept = self.bundle.collection.some_vectors(rows)
            assert kept is not None
            return kept
        vectors: NDArray[Any] = self.given[rows]
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            row = rows[np.argmin(finite)]
            raise FeatureError(
                f"vectors must be finite, got NaN or infinity in row {row}"
            )
        return vectors

    def spans(self) -> Iterator[slice]:
        """Yield spans of rows whose vectors fit in memory."""
        width = self.at(np.zeros(1, np.int64)).shape[1]
        yield from spans(len(self), _NUMBERS // max(1, width))


@dataclass(frozen=True, eq=False)
class Sample:
    """Codes and vectors of queries, and their rows where they are of the collection."""

    stored: Stored
    codes: CodeArray
    vectors: NDArray[Any]
    rows: IdArray | None

    @classmethod
    def draw(
        cls,
        bundle: "Bundle",
        k: int,
        queries: Any,
        vectors: Any,
        n_queries: int | None,
        random_state: Any,
    ) -> Self:
        """Draw rows of the collection, or some of the queries that are given."""
        rng = generator(random_state)
        stored = Stored.of(bundle, vectors)
        if not len(stored):
            raise ArgumentError("the collection is empty: there is nothing to find")
        n_others = len(stored) - (queries is None)
        if k > n_others:
            kind = "other items" if queries is None else "items"
            raise ArgumentError(
                f"k={k} asks for more neighbours than the {n_others} {kind}"
            )
        if queries is None:
            rows = _drawn(rng, len(stored), n_queries or _N_ROWS)
            return cls._of_rows(stored, rows)
        features = _checked_queries(bundle, queries)
        features = features[_drawn(rng, len(features), n_queries or len(features))]
        return cls(stored, bundle.encoder.encode(features), features, None)

    @classmethod
    def _of_rows(cls, stored: Stored, rows: IdArray) -> Self:
        bundle, vectors = stored.bundle, stored.at(rows)
        known = bundle.collection.codes[rows]
        if bundle.item_kind == "codes":
            return cls(stored, known, vectors, rows)
        codes = bundle.encoder.encode(vectors)
        n_different = np.bitwise_count(codes ^ known).sum(dtype=np.int64)
        if n_different > _OTHERS * len(rows) * bundle.encoder.n_bits:
            raise ArgumentError(
                "vectors are not those of the items, in the order of the rows: "
                f"{n_different / len(rows):.1f} of {bundle.encoder.n_bits} bits of "
                "their codes differ"
            )
        return cls(stored, codes, vectors, rows)

    def blocks(
        self, k: int, progress: Progress | None = None
    ) -> Iterator[tuple[Self, IdArray]]:
        """Yield a few of the queries at a time, with the rows nearest to them."""
        truth = self._nearest(k, progress)
        for span in spans(len(self.codes), _QUERIES):
            rows = None if self.rows is None else self.rows[span]
            codes, vectors = self.codes[span], self.vectors[span]
            yield replace(self, codes=codes, vectors=vectors, rows=rows), truth[span]

    def recalls(self, found: IdArray, truth: IdArray) -> NDArray[np.float64]:
        """Return the share of the true neighbours that each query found."""
        return search_recall(self._of_others(found), truth).per_query

    def _nearest(self, k: int, progress: Progress | None) -> IdArray:
        """Return the nearest rows by vectors, each query left out of its own."""
        wanted = k + (self.rows is not None)
        n = len(self.vectors)
        distances, rows = np.empty((n, 0)), np.empty((n, 0), np.int64)
        for span in self.stored.spans():
            here = np.arange(span.start, span.stop)
            more = exact_neighbours(
                self.vectors, self.stored.at(here), min(wanted, len(here))
            )
            distances = np.concatenate([distances, more.distances], axis=1)
            rows = np.concatenate([rows, more.ids + span.start], axis=1)
            # Stable: rows of equal distance stay in order, over all spans.
            best = np.argsort(distances, axis=1, kind="stable")[:, :wanted]
            distances = np.take_along_axis(distances, best, axis=1)
            rows = np.take_along_axis(rows, best, axis=1)
            if progress is not None:
                progress(span.stop, len(self.stored))
        return self._of_others(rows)

    def _of_others(self, found: IdArray) -> IdArray:
        """Return rows without those of the queries themselves, one fewer for each."""
        if self.rows is None:
            return found
        others = found != self.rows[:, None]
        others[others.all(axis=1), -1] = False  # behind many of the same distance
        left: IdArray = found[others].reshape(len(found), -1)
        return left


def _as_vectors(bundle: "Bundle", vectors: Any) -> NDArray[Any]:
    """Return the features of items as a matrix whose values are not read yet."""
    if bundle.item_kind == "codes":
        return as_features(vectors)
    if bundle.backbone is None:
        return bundle.features(vectors)
    return as_features(vectors, bundle.encoder.n_features)


def _drawn(rng: np.random.Generator, n: int, size: int) -> IdArray:
    """Return at most `size` of `n` rows, in their order."""
    return np.sort(rng.choice(n, min(n, size), replace=False, shuffle=False))


def _checked_queries(bundle: "Bundle", queries: Any) -> NDArray[Any]:
    if bundle.item_kind == "codes":
        raise ArgumentError(
            "queries of this bundle are codes, whose nearest vectors are not known: "
            "leave them out, and rows of the collection are drawn"
        )
    features = bundle.features(queries)
    if len(features) < 2:
        raise ArgumentError(f"need at least 2 queries, got {len(features)}")
    return features
