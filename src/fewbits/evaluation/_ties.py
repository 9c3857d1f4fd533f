"""Rankings with ties, as groups of items at equal distance.

Hamming distance takes few values, so most of a ranking is ties. Everything that the
measures need of a query is, for each distance, how many items are there and how many of
them are relevant: two histograms, made without sorting.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._spans import spans
from fewbits._typing import Array, IdArray
from fewbits._unit_rows import unit_rows
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import as_features, check_not_empty
from fewbits.evaluation._relevance import Mask, Relevance

TIES = ("expected", "stable", "optimistic", "pessimistic", "random")
METRICS = ("hamming", "euclidean", "cosine", "dot")
FloatArray = NDArray[np.float64]
WholeArray = NDArray[np.int32] | NDArray[np.int64]
Levels = tuple[slice, WholeArray, int]
_BLOCK_ENTRIES = 1 << 20


class TieGroups(NamedTuple):
    """Two matrices (n_queries, n_groups), nearest group first; groups may be empty."""

    sizes: IdArray
    relevant: IdArray


def tie_groups(
    queries: Array,
    database: Array,
    relevance: Relevance,
    metric: str = "hamming",
    ties: str = "expected",
    rng: np.random.Generator | None = None,
) -> Iterator[tuple[slice, TieGroups]]:
    """Rank the database for each query; under `stable` and `random` without ties."""
    if check_choice(metric, "metric", METRICS) == "hamming":
        queries, database = as_codes(queries), as_codes(database)
        check_not_empty(queries, "queries")
        check_not_empty(database, "database")
    else:
        database = as_features(database, "database")
        queries = as_features(queries, "queries", database.shape[1])
    check_choice(ties, "ties", TIES)
    if not isinstance(relevance, Relevance):
        raise ArgumentError(
            "relevance must come from same_label or within_distance, "
            f"got {type(relevance).__name__}"
        )
    needed = relevance.n_queries, relevance.n_database
    if (len(queries), len(database)) != needed:
        raise ArgumentError(
            f"relevance is known for {needed[0]} queries and {needed[1]} items, "
            f"got {len(queries)} queries and {len(database)} items"
        )
    for span, levels, n_levels in _levels(queries, database, metric):
        relevant = relevance.block(span)
        if ties in ("stable", "random"):
            yield span, ordered(levels, relevant, rng if ties == "random" else None)
        else:
            yield span, histograms(levels, relevant, n_levels)


def histograms(levels: WholeArray, relevant: Mask, n_levels: int) -> TieGroups:
    """Count items and relevant items at each level, for every row at once."""
    n = len(levels)
    # One pass of bincount for all rows: row and level as one number. Few are relevant.
    keys = levels + n_levels * np.arange(n, dtype=np.int64)[:, None]
    sizes, hits = (
        np.bincount(part, minlength=n_levels * n).reshape(n, n_levels)
        for part in (keys.ravel(), keys[np.broadcast_to(relevant, keys.shape)])
    )
    return TieGroups(sizes, hits)


def ordered(
    levels: WholeArray, relevant: Mask, rng: np.random.Generator | None
) -> TieGroups:
    """Break ties by row number, or at random, so that each item is its own group."""
    # Sorting narrow integers is a radix sort.
    keys = levels.astype(np.min_scalar_type(int(levels.max())))
    result = np.empty(levels.shape, np.int64)
    for row, (key, truth) in enumerate(zip(keys, relevant, strict=True)):
        if rng is not None:
            shuffle = rng.permutation(len(key))
            key, truth = key[shuffle], truth[shuffle]
        result[row] = truth[np.argsort(key, kind="stable")]
    return TieGroups(np.ones_like(result), result)


def _levels(queries: Array, database: Array, metric: str) -> Iterator[Levels]:
    """Yield spans of queries, their distances as numbers, and how many there may be."""
    if metric == "hamming":
        for span in spans(len(queries), _BLOCK_ENTRIES // len(database)):
            levels = hamming_distances(queries[span], database)
            yield span, levels, 8 * database.shape[1] + 1
        return

    def rows(X: Array) -> FloatArray:
        X = X.astype(np.float64)
        return unit_rows(X) if metric == "cosine" else X

    for chunk in spans(len(queries), 16 * _BLOCK_ENTRIES // len(database)):
        Q = rows(queries[chunk])
        distances = np.empty((len(Q), len(database)))
        for items in spans(len(database), 4 * _BLOCK_ENTRIES // database.shape[1]):
            D = rows(database[items])
            np.matmul(Q, D.T, out=distances[:, items])
            distances[:, items] *= -1
            if metric == "euclidean":
                distances[:, items] += np.einsum("ij,ij->i", D, D) / 2
        for span in spans(len(distances), _BLOCK_ENTRIES // len(database)):
            whole = slice(chunk.start + span.start, chunk.start + span.stop)
            yield whole, *level_numbers(distances[span])


def level_numbers(distances: FloatArray) -> tuple[IdArray, int]:
    """Replace the values of each row by the ranks of the distinct ones, from 0 on.

    Values that differ by some 1e-12 of the row's largest count as equal, since matrix
    products may round equal items differently.
    """
    largest = np.abs(distances).max(axis=1, keepdims=True)
    steps = np.rint(distances * (2.0**40 / np.where(largest > 0, largest, 1.0)))
    order = np.argsort(steps, axis=1)  # equal values get one number in any order
    values = np.take_along_axis(steps, order, axis=1)
    numbers = np.zeros(distances.shape, np.int64)
    np.cumsum(values[:, 1:] != values[:, :-1], axis=1, out=numbers[:, 1:])
    levels = np.empty_like(numbers)
    np.put_along_axis(levels, order, numbers, axis=1)
    return levels, int(numbers[:, -1].max()) + 1


def hits_at(groups: TieGroups, k: int) -> FloatArray:
    """Return how many relevant items are among the first `k`; within ties, the mean."""
    sizes, relevant = groups
    ends = np.cumsum(sizes, axis=1)
    inside = np.clip(k - (ends - sizes), 0, sizes)
    whole = np.where(inside == sizes, relevant, 0).sum(axis=1)
    cut = np.where(inside < sizes, relevant / np.maximum(sizes, 1) * inside, 0)
    return np.asarray(cut.sum(axis=1) + whole)


# In a group of ``n`` items, ``r`` of them relevant, that follows ``t`` items with ``p``
# relevant ones, the item at place ``j`` is relevant with probability ``r / n``, and the
# places before it then hold ``(j - 1)(r - 1)/(n - 1)`` relevant items on average. So
# the first ``m`` places contribute
#
#     sum_{j <= m}  r/n (p + 1 + (j - 1)(r - 1)/(n - 1)) / (t + j)
#
# which, as (j - 1)/(t + j) = 1 - (t + 1)/(t + j), needs only the difference of two
# harmonic numbers, and costs the same for a group of any size.
_EXACT = 64
_HARMONIC = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, _EXACT + 1))])


def precision_sums(groups: TieGroups, length: IdArray, ties: str) -> FloatArray:
    """Return what each group adds to the sum over the first `length` ranks."""
    n, r = groups
    if (n == 1).all():
        ranks = np.arange(1, r.shape[1] + 1)
        hits = r * (ranks <= length[:, None])
        return hits * (np.cumsum(r, axis=1) / ranks)
    t, p = np.cumsum(n, axis=1) - n, np.cumsum(r, axis=1) - r
    rest = length[:, None] - t
    if ties == "optimistic":
        return _consecutive(t, p, np.clip(rest, 0, r))
    if ties == "pessimistic":
        return _consecutive(t + n - r, p, np.clip(rest - (n - r), 0, r))
    return _expected(t, p, n, r, np.clip(rest, 0, n))


def expected_over_hits(
    groups: TieGroups,
    parts: FloatArray,
    row: int,
    group: int,
    inside: int,
    empty: float,
) -> float:
    """Return the mean of sum / hits for a query whose ranking ends inside a tie."""
    # How many of the group's relevant items come first, h, is hypergeometric; given h,
    # their places among the first `inside` are again equally likely.
    n, r = groups.sizes[row, group], groups.relevant[row, group]
    t, p = groups.sizes[row, :group].sum(), groups.relevant[row, :group].sum()
    n, r, m = int(n), int(r), inside
    h = np.arange(max(0, m - (n - r)), min(r, m) + 1)
    low = h[:-1].astype(np.float64)
    steps = np.log((r - low) * (m - low) / ((low + 1) * (n - r - m + low + 1)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    if p == 0 and h[0] == 0:
        h, weights = h[1:], weights[1:]
        if np.isnan(empty):  # a query that may drop out counts where it does not
            weights = weights / weights.sum()
    sums = parts[row, :group].sum() + _expected(t, p, inside, h, inside)
    return float(weights @ (sums / (p + h)))


def _expected(
    t: ArrayLike, p: ArrayLike, n: ArrayLike, r: ArrayLike, m: ArrayLike
) -> FloatArray:
    t, p, n, r, m = (np.asarray(x, np.int64) for x in (t, p, n, r, m))
    slope = (r - 1) / np.maximum(n - 1, 1)
    span = _harmonic_span(t, m)
    sums: FloatArray = (p + 1) * span + slope * (m - (t + 1) * span)
    return sums * (r / np.maximum(n, 1))


def _consecutive(t: IdArray, p: IdArray, m: IdArray) -> FloatArray:
    """Sum ``(p + j) / (t + j)`` over ``j <= m``: relevant items in a row."""
    return m + (p - t) * _harmonic_span(t, m)


def _harmonic_span(after: ArrayLike, length: ArrayLike) -> FloatArray:
    """Return the sum of ``1 / i`` over ``after < i <= after + length``."""
    start: Array = np.asarray(after)
    stop = start + np.asarray(length)
    near = _HARMONIC[np.minimum(stop, _EXACT)] - _HARMONIC[np.minimum(start, _EXACT)]
    start = np.maximum(start, _EXACT)
    stop = np.maximum(stop, _EXACT)

    # H(n) = ln x + gamma + 1/(24 x^2) - 7/(960 x^4) + 31/(8064 x^6) - ..., x = n + 1/2
    def correction(n: Array) -> FloatArray:
        z = (n + 0.5) ** -2.0
        tail: FloatArray = z * (1 / 24 - z * (7 / 960 - z * (31 / 8064)))
        return tail

    far = np.log1p((stop - start) / (start + 0.5)) + correction(stop)
    result: FloatArray = near + (far - correction(start))
    return result
