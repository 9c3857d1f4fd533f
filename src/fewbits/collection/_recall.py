"""Recall of the searches of a collection, estimated on a sample with its interval."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count, check_k, check_rate, generator
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.collection._model import Model, Progress
from fewbits.collection._rows import Rows
from fewbits.collection._search import Query, Search, others_than
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
        Codes that are re-ranked; None where none are.
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
        return short_repr(self)

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
    vectors_at = _vectors(model, rows, vectors)
    rng = generator(random_state)
    if not len(rows):
        raise ArgumentError("the collection is empty: there is nothing to find")
    held_out = queries is not None
    if k > len(rows) - (not held_out):
        kind = "items" if held_out else "other items"
        raise ArgumentError(
            f"k={k} asks for more neighbours than the {len(rows) - (not held_out)} "
            f"{kind}"
        )
    # The sample: features, and the rows of those that are items of the collection.
    stored: IdArray | None = None
    if held_out:
        if model.kind == "codes":
            raise ArgumentError(
                "queries of this collection are codes, whose nearest vectors are not "
                "known: leave them out, and items of the collection are drawn"
            )
        features = model.features(queries)
        if len(features) < 2:
            raise ArgumentError(f"need at least 2 queries, got {len(features)}")
        positions = _sampled_positions(rng, len(features), n_queries or len(features))
        sample, codes = features[positions], model.encoder.encode(features[positions])
    else:
        positions = _sampled_positions(rng, len(rows), n_queries or _N_ROWS)
        sample, codes = vectors_at(positions), rows.codes[positions]
        stored = rows.row_numbers[positions]
        if model.kind != "codes":
            stored_codes, codes = codes, model.encoder.encode(sample)
            differences = np.bitwise_count(codes ^ stored_codes)
            n_different = int(differences.sum(dtype=np.int64))
            if n_different > _OTHERS * len(codes) * model.encoder.n_bits:
                raise ArgumentError(
                    "vectors are not those of the items, in their order: "
                    f"{n_different / len(codes):.1f} of {model.encoder.n_bits} bits of "
                    "their codes differ"
                )
    truth = _nearest(vectors_at, rows, sample, stored, k, progress)
    searches = ["hamming"]  # codes of another system have no scores
    if model.kind != "codes":
        searches += ["scores"] + ["euclidean"] * (rows.vector_dtype is not None)
    estimates = []
    for search in searches:
        # An item is in the shortlist of itself, and takes the place of another.
        more = None if search == "hamming" else size + (not held_out)
        recalls = []
        for span in spans(len(sample), _QUERIES):
            query = Query(
                model,
                rows,
                stored=None if stored is None else stored[span],
                codes=codes[span],
                features=sample[span],
            )
            hits = Search(query, search, more).nearest(k)[1]
            recalls.append(search_recall(hits, truth[span]).per_query)
        estimates.append(
            RecallEstimate(
                search,
                k,
                *mean_interval(np.concatenate(recalls), confidence),
                float(confidence),
                None if search == "hamming" else size,
                held_out,
            )
        )
    return tuple(estimates)


def _vectors(
    model: Model, rows: Rows, vectors: Any
) -> Callable[[IdArray], NDArray[Any]]:
    """Return what gives the vectors at some positions: those kept, or finite others."""
    if vectors is None:
        if rows.vector_dtype is None:
            raise ArgumentError(
                "this collection keeps no vectors to find the true neighbours with: "
                "build it with keep_vectors, or give vectors= (on the command line "
                "--keep-vectors, --vectors)"
            )
        return lambda positions: rows.vectors_at(rows.row_numbers[positions])
    if model.kind == "codes":
        array = as_features(vectors)
    else:
        array = model.features(vectors, kind="vectors")
    if len(array) != len(rows):
        raise ArgumentError(
            f"vectors must have a row for each of the {len(rows):,} items, got "
            f"{len(array):,}"
        )

    def at(positions: IdArray) -> NDArray[Any]:
        values: NDArray[Any] = array[positions]
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            row = positions[np.argmin(finite)]
            raise FeatureError(
                f"vectors must be finite, got NaN or infinity in row {row}"
            )
        return values

    return at


def _sampled_positions(rng: np.random.Generator, n: int, size: int) -> IdArray:
    """Return at most `size` of `n` positions, in their order."""
    return np.sort(rng.choice(n, min(n, size), replace=False, shuffle=False))


def _nearest(
    vectors_at: Callable[[IdArray], NDArray[Any]],
    rows: Rows,
    queries: NDArray[Any],
    stored: IdArray | None,
    k: int,
    progress: Progress | None,
) -> IdArray:
    """Return the rows nearest by vectors, each query left out of its own."""
    from fewbits.evaluation import exact_neighbours

    k += stored is not None
    n = len(queries)
    distances, nearest = np.empty((n, 0)), np.empty((n, 0), np.int64)
    for span in spans(len(rows), _NUMBERS // max(1, queries.shape[1])):
        here = np.arange(span.start, span.stop)
        more = exact_neighbours(queries, vectors_at(here), min(k, len(here)))
        distances = np.concatenate([distances, more.distances], axis=1)
        nearest = np.concatenate([nearest, rows.row_numbers[here][more.ids]], axis=1)
        # Stable: items of equal distance stay in order, over all spans.
        best = np.argsort(distances, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(distances, best, axis=1)
        nearest = np.take_along_axis(nearest, best, axis=1)
        if progress is not None:
            progress(span.stop, len(rows))
    if stored is None:
        return nearest
    return nearest[others_than(stored, nearest)].reshape(n, k - 1)
