"""Recall of the searches of a collection, estimated on a sample with its interval."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count, check_k, check_rate, generator
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.collection._model import Model, Progress
from fewbits.collection._rows import Rows
from fewbits.collection._search import offsets_of
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError, FeatureError

_N_ROWS = 1000  # that are drawn
_QUERIES = 4096  # at a time
_NUMBERS = 1 << 24  # of vectors at a time
#: Share of bits that differ between items and other vectors; rounding changes fewer.
_OTHERS = 0.05


@dataclass(frozen=True, repr=False)
class RecallEstimate:
    """Recall of one way to search, and the confidence interval of the estimate.

    Attributes
    ----------
    search : {"hamming", "scores", "euclidean"}
        What orders the answers: the codes alone; or, of a shortlist, the scores of the
        query; or its distances to the kept vectors.
    k : int
        Neighbours that are looked for.
    recall : float
        Share of the `k` nearest vectors among the first `k` answers, the mean over the
        queries of the sample.
    low, high : float
        Bounds of the confidence interval of the mean over all queries of this kind.
    n_queries : int
        Queries of the sample.
    confidence : float
        Share of samples whose interval contains that mean.
    shortlist : int or None
        Codes that are ranked again; None where none are.
    held_out : bool
        Whether queries were given, and not drawn from the collection.
    """

    search: str
    k: int
    recall: float
    low: float
    high: float
    n_queries: int
    confidence: float
    shortlist: int | None = None
    held_out: bool = False

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def estimate_recall(
    model: Model,
    rows: Rows,
    k: int,
    *,
    queries: Any,
    vectors: Any,
    n_queries: int | None,
    shortlist: int | None,
    confidence: float,
    random_state: Any,
    progress: Progress | None,
) -> tuple[RecallEstimate, ...]:
    """Return what `Collection.recall` does."""
    # Imported here: they take a while, and no search needs them.
    from fewbits.evaluation import search_recall
    from fewbits.evaluation.statistics import mean_interval

    k = check_k(k)
    check_rate(confidence, "confidence")
    if n_queries is not None:
        check_count(n_queries, "n_queries", 2)
    size = max(100, 10 * k) if shortlist is None else check_k(shortlist, "shortlist")
    size = max(k, size)
    stored = _Stored(model, rows, vectors)
    sample, own = _sample(model, stored, k, queries, n_queries, random_state)
    truth = _nearest(stored, sample, own, k, progress)
    recalls: dict[str, list[NDArray[np.float64]]] = {}
    for span in spans(len(sample), _QUERIES):
        mine = None if own is None else own[span]
        for search, positions in _answers(model, rows, sample[span], mine, k, size):
            others = _without_own(positions, mine)
            recalls.setdefault(search, []).append(
                search_recall(others, truth[span]).per_query
            )
    return tuple(
        RecallEstimate(
            search,
            k,
            *mean_interval(np.concatenate(values), confidence),
            float(confidence),
            None if search == "hamming" else size,
            queries is not None,
        )
        for search, values in recalls.items()
    )


class _Stored:
    """The vectors that the truth is about: those kept in the collection, or given."""

    def __init__(self, model: Model, rows: Rows, vectors: Any) -> None:
        self.rows, self._given = rows, None
        if vectors is None:
            if rows.vector_dtype is None:
                raise ArgumentError(
                    "this collection keeps no vectors to find the true neighbours "
                    "with: build it with keep_vectors, or give the vectors"
                )
            return
        if model.kind == "codes":
            self._given = as_features(vectors)
        elif model.backbone is None:
            self._given = np.asarray(model.features(vectors))
        else:
            self._given = as_features(vectors, model.encoder.n_features)
        if len(self._given) != len(rows):
            raise ArgumentError(
                f"vectors must have a row for each of the {len(rows):,} items, got "
                f"{len(self._given):,}"
            )

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, positions: IdArray) -> NDArray[Any]:
        """Return the vectors at some positions, which are finite."""
        if self._given is None:
            return self.rows.vectors_at(self.rows.row_numbers[positions])
        vectors: NDArray[Any] = self._given[positions]
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            row = positions[np.argmin(finite)]
            raise FeatureError(
                f"vectors must be finite, got NaN or infinity in row {row}"
            )
        return vectors


def _sample(
    model: Model,
    stored: _Stored,
    k: int,
    queries: Any,
    n_queries: int | None,
    random_state: Any,
) -> tuple[NDArray[Any], IdArray | None]:
    """Return vectors of queries, and the positions of those of the collection."""
    rng = generator(random_state)
    if not len(stored):
        raise ArgumentError("the collection is empty: there is nothing to find")
    n_others = len(stored) - (queries is None)
    if k > n_others:
        kind = "other items" if queries is None else "items"
        raise ArgumentError(
            f"k={k} asks for more neighbours than the {n_others} {kind}"
        )
    if queries is None:
        own = _drawn(rng, len(stored), n_queries or _N_ROWS)
        vectors = stored.at(own)
        if model.kind != "codes":
            codes = stored.rows.codes[own]
            different = np.bitwise_count(model.encoder.encode(vectors) ^ codes)
            n_different = different.sum(dtype=np.int64)
            if n_different > _OTHERS * len(codes) * model.encoder.n_bits:
                raise ArgumentError(
                    "vectors are not those of the items, in their order: "
                    f"{n_different / len(codes):.1f} of {model.encoder.n_bits} bits of "
                    "their codes differ"
                )
        return vectors, own
    if model.kind == "codes":
        raise ArgumentError(
            "queries of this collection are codes, whose nearest vectors are not "
            "known: leave them out, and items of the collection are drawn"
        )
    features = model.features(queries)
    if len(features) < 2:
        raise ArgumentError(f"need at least 2 queries, got {len(features)}")
    return features[_drawn(rng, len(features), n_queries or len(features))], None


def _drawn(rng: np.random.Generator, n: int, size: int) -> IdArray:
    """Return at most `size` of `n` positions, in their order."""
    return np.sort(rng.choice(n, min(n, size), replace=False, shuffle=False))


def _nearest(
    stored: _Stored,
    queries: NDArray[Any],
    own: IdArray | None,
    k: int,
    progress: Progress | None,
) -> IdArray:
    """Return the positions nearest by vectors, each query left out of its own."""
    from fewbits.evaluation import exact_neighbours

    k += own is not None
    n = len(queries)
    distances, nearest = np.empty((n, 0)), np.empty((n, 0), np.int64)
    for span in spans(len(stored), _NUMBERS // max(1, queries.shape[1])):
        here = np.arange(span.start, span.stop)
        more = exact_neighbours(queries, stored.at(here), min(k, len(here)))
        distances = np.concatenate([distances, more.distances], axis=1)
        nearest = np.concatenate([nearest, more.ids + span.start], axis=1)
        # Stable: items of equal distance stay in order, over all spans.
        best = np.argsort(distances, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(distances, best, axis=1)
        nearest = np.take_along_axis(nearest, best, axis=1)
        if progress is not None:
            progress(span.stop, len(stored))
    return _without_own(nearest, own)


def _without_own(positions: IdArray, own: IdArray | None) -> IdArray:
    """Return answers without the queries themselves, one fewer for each."""
    if own is None:
        return positions
    others = positions != own[:, None]
    others[others.all(axis=1), -1] = False  # behind many of the same distance
    kept: IdArray = positions[others].reshape(len(positions), -1)
    return kept


def _answers(
    model: Model,
    rows: Rows,
    vectors: NDArray[Any],
    own: IdArray | None,
    k: int,
    shortlist: int,
) -> Iterator[tuple[str, IdArray]]:
    """Yield the positions that each way to search returns."""
    # An item is among the answers to itself, and takes the place of another.
    more = 0 if own is None else 1
    index = rows.index(model.facts.index or "auto")
    encodes = model.kind != "codes"
    codes = model.encoder.encode(vectors) if encodes else rows.codes[own]
    yield "hamming", _positions(rows, index.search(codes, k + more).ids)
    if not encodes:
        return  # which have no scores beside their bits
    ranked = index.search_reranked(
        codes,
        k + more,
        scores=model.encoder.query_scores(vectors),
        offsets=offsets_of(model, rows),
        shortlist=shortlist + more,
    )
    yield "scores", _positions(rows, ranked.ids)
    if rows.vector_dtype is not None:
        ranked = index.search_reranked(
            codes,
            k + more,
            vectors=rows.vectors,
            query_vectors=vectors,
            shortlist=shortlist + more,
        )
        yield "euclidean", _positions(rows, ranked.ids)


def _positions(rows: Rows, found: IdArray) -> IdArray:
    return np.where(found < 0, -1, rows.positions_of(np.maximum(found, 0)))
