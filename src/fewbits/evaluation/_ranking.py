"""Average precision, precision and recall of rankings with ties."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._repr import one_line
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._ties import (
    TIES,
    FloatArray,
    TieGroups,
    expected_over_hits,
    histograms,
    hits_at,
    level_numbers,
    ordered,
    precision_sums,
    tie_groups,
)

DENOMINATORS = ("min", "hits", "hits-skip", "R")
_DENOMINATOR_TEXT = {
    "min": "min(R, relevant)",
    "hits": "relevant items found, 0 if none",
    "hits-skip": "relevant items found, query skipped if none",
    "R": "R",
}


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """A mean over queries, and what it is the mean of.

    Attributes
    ----------
    value : float
        Mean over the queries that count; ``float(score)`` is the same.
    per_query : ndarray of shape (n_queries,), dtype float64
        NaN for skipped queries.
    n_skipped : int
        Queries for which the measure is not defined; they are not in the mean.
    definition : str
        Which measure this is, in words.
    """

    value: float
    per_query: NDArray[np.float64]
    n_skipped: int
    definition: str

    def __repr__(self) -> str:
        return one_line(self)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.definition})"


class Curve(NamedTuple):
    """Means over queries at each of `at` ranks or radii; nothing is interpolated.

    Attributes
    ----------
    at : ndarray of shape (n,), dtype int64
        Ranks from 1 on, or radii from 0 on.
    precision, recall : ndarray of shape (n,), dtype float64
    n_skipped : int
        Queries without a label or a relevant item in the database.
    definition : str
    """

    at: IdArray
    precision: FloatArray
    recall: FloatArray
    n_skipped: int
    definition: str

    def __repr__(self) -> str:
        return one_line(self)


class RadiusScores(NamedTuple):
    """Precision and recall within a Hamming radius of the queries.

    Attributes
    ----------
    precision : Score
        Relevant share of the items in the ball; 0 for an empty ball.
    recall : Score
        Share of the relevant items that lie in the ball.
    mean_average_precision : Score
        AP of the ranking inside the ball, divided by its relevant items; 0 if none.
    n_empty : int
        Queries with nothing in the ball.
    """

    precision: Score
    recall: Score
    mean_average_precision: Score
    n_empty: int

    def __repr__(self) -> str:
        return one_line(self)


def mean_average_precision(
    queries: Array,
    database: Array,
    relevance: Relevance,
    *,
    at: int | None = None,
    denominator: str = "min",
    ties: str = "expected",
    metric: str = "hamming",
    random_state: Any = None,
) -> Score:
    """Mean over queries of the average precision of a ranking by distance.

    With ``S`` the sum of precision@i over the ranks ``i <= R`` that hold a relevant
    item, the average precision of a query is ``S`` divided by a `denominator`.
    Five numbers go by the name "mAP"; they differ by up to .2 on the same ranking:

    ============= ======================== ========================================
    denominator   divides by               who uses it
    ============= ======================== ========================================
    ``min``       min(R, relevant items    the definition of information retrieval;
                  in the database);        comparable with LLC wherever a class has
                  skipped when none        at least R items
    ``hits``      relevant items among     DeepHash-pytorch (so the tables of
                  the first R; 0 if none   LBHash), CSQ, OrthoHash, GreedyHash, FIRe
    ``hits-skip`` the same; query skipped  HashNet and DeepHash, original code
                  when there are none
    ``R``         R                        the MRL code of LLC's group
    any           (``at=None``: R is the   CIFAR-10 protocols, ITQ, sparse
                  whole database)          projections
    ============= ======================== ========================================

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; with another `metric`, features of shape (n, n_features).
    relevance : Relevance
        From `same_label`, `ground_truth` or `within_distance`.
    at : int or None, default=None
        R, the length of the ranking; None, or more than the database holds, ranks it
        all.
    denominator : {"min", "hits", "hits-skip", "R"}, default="min"
        See above. ``hits`` hides failures of recall: a ranking that finds one relevant
        item first and no other scores 1.
    ties : str, default="expected"
        Order of items at equal distance: ``expected`` is the exact mean over all
        orders, ``stable`` the order of the database, ``random`` one drawn order per
        query, ``optimistic`` puts relevant items first and ``pessimistic`` last.
    metric : {"hamming", "euclidean", "cosine", "dot"}, default="hamming"
        Distance to rank by; the others rank features, for comparison.
    random_state : int, Generator or None, default=None
        Seeds ``ties="random"``.

    Returns
    -------
    Score
        Queries without a label are skipped, and so are those without any relevant item
        in the database unless the denominator makes them 0 (``hits`` and ``R``).

    Raises
    ------
    ArgumentError
        When an option is unknown, sizes do not fit, or every query is skipped.

    Notes
    -----
    O(N + n_bits) per query and no sorting, except under ``stable`` and ``random``.
    Under ``hits-skip`` the expected value is conditional on the query counting at all.

    References
    ----------
    McSherry and Najork, "Computing Information Retrieval Performance Measures
    Efficiently in the Presence of Tied Scores", ECIR 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> score = mean_average_precision(database[:1], database, relevance)
    >>> round(score.value, 4)  # (1 + 2/3) / 2 and (1/2 + 2/3) / 2, equally likely
    0.7083
    """
    check_choice(denominator, "denominator", DENOMINATORS)
    at = None if at is None else check_count(at, "at")
    rng = generator(random_state)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        values[span] = _average_precisions(groups, at, denominator, ties)
        values[span][~relevance.labelled[span]] = np.nan
    name = "mAP" if at is None else f"mAP@{at}"
    return mean_score(
        values,
        f"{name}, AP divides by {_DENOMINATOR_TEXT[denominator]}; ties: {ties}; "
        f"ranked by {metric} distance; {relevance.description}",
    )


def average_precision(
    distances: ArrayLike,
    relevant: ArrayLike,
    *,
    at: int | None = None,
    denominator: str = "min",
    ties: str = "expected",
    random_state: Any = None,
) -> float:
    """Average precision of one ranking.

    Parameters
    ----------
    distances : array-like of shape (n,)
        Finite numbers, small is near; equal ones, to 12 digits, are ties.
    relevant : array-like of shape (n,), dtype bool
    at, denominator, ties, random_state
        As in `mean_average_precision`.

    Returns
    -------
    float
        NaN when `mean_average_precision` would skip the query.

    Examples
    --------
    >>> average_precision([1, 2, 3], [True, False, True])
    0.8333333333333333
    >>> average_precision([1, 2, 3], [True, False, False], denominator="R")
    0.3333333333333333
    """
    check_choice(denominator, "denominator", DENOMINATORS)
    check_choice(ties, "ties", TIES)
    at = None if at is None else check_count(at, "at")
    values = np.asarray(distances, dtype=np.float64)
    truth = np.asarray(relevant)
    if values.ndim != 1 or values.shape != truth.shape or not values.size:
        raise ArgumentError(
            "need one distance and one truth value per item, got shapes "
            f"{values.shape} and {truth.shape}"
        )
    if truth.dtype != np.bool_ or not np.isfinite(values).all():
        raise ArgumentError("need finite distances and boolean truth values")
    levels, n_levels = level_numbers(values[None])
    if ties in ("stable", "random"):
        rng = generator(random_state) if ties == "random" else None
        groups = ordered(levels, truth[None], rng)
    else:
        groups = histograms(levels, truth[None], n_levels)
    return float(_average_precisions(groups, at, denominator, ties)[0])


def _average_precisions(
    groups: TieGroups, at: int | IdArray | None, denominator: str, ties: str
) -> FloatArray:
    """Return the average precision of every query; NaN where it is not defined."""
    total = groups.sizes.sum(axis=1)
    relevant = groups.relevant.sum(axis=1)
    length = total if at is None else np.minimum(at, total)
    if denominator.startswith("hits"):
        empty = np.nan if denominator == "hits-skip" else 0.0
        return _over_hits(groups, length, ties, empty)
    sums = precision_sums(groups, length, ties).sum(axis=1)
    if denominator == "R":
        return _divide(sums, length, np.nan)
    return _divide(sums, np.minimum(length, relevant), np.nan)


def _over_hits(
    groups: TieGroups, length: IdArray, ties: str, empty: float
) -> FloatArray:
    """Divide by the relevant items found, whose number may depend on the order."""
    parts = precision_sums(groups, length, ties)
    before = np.cumsum(groups.sizes, axis=1) - groups.sizes
    inside = np.clip(length[:, None] - before, 0, groups.sizes)
    if ties == "optimistic":
        found = np.minimum(inside, groups.relevant)
    elif ties == "pessimistic":
        found = np.maximum(inside - (groups.sizes - groups.relevant), 0)
    else:
        found = np.where(inside == groups.sizes, groups.relevant, 0)
    values = _divide(parts.sum(axis=1), found.sum(axis=1), empty)
    if ties == "expected":
        cut = (inside > 0) & (inside < groups.sizes) & (groups.relevant > 0)
        for row, group in np.argwhere(cut):
            values[row] = expected_over_hits(
                groups, parts, int(row), int(group), int(inside[row, group]), empty
            )
    return values


def _divide(a: FloatArray, b: NDArray[Any], empty: float) -> FloatArray:
    values = np.full(len(a), empty)
    np.divide(a, b, out=values, where=b > 0)
    return values


def precision_at(
    queries: Array,
    database: Array,
    relevance: Relevance,
    k: int,
    *,
    ties: str = "expected",
    metric: str = "hamming",
    random_state: Any = None,
) -> Score:
    """Share of relevant items among the first `k`.

    Parameters
    ----------
    queries, database, relevance, ties, metric, random_state
        As in `mean_average_precision`.
    k : int
        Length of the ranking; more than the database holds means all of it.

    Returns
    -------
    Score
        Queries without a label are skipped; those without any relevant item score 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> precision_at(database[:1], database, relevance, 1).value
    0.5
    """
    k = min(check_count(k, "k"), max(1, len(database)))
    rng = generator(random_state)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        values[span] = hits_at(groups, np.array([k]), ties)[:, 0] / k
        values[span][~relevance.labelled[span]] = np.nan
    return mean_score(values, _text(f"precision@{k}", ties, metric, relevance))


def recall_at(
    queries: Array,
    database: Array,
    relevance: Relevance,
    k: int,
    *,
    ties: str = "expected",
    metric: str = "hamming",
    random_state: Any = None,
) -> Score:
    """Share of all relevant items that are among the first `k`.

    Parameters
    ----------
    queries, database, relevance, k, ties, metric, random_state
        As in `precision_at`.

    Returns
    -------
    Score
        Queries without a label or without any relevant item are skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> recall_at(database[:1], database, relevance, 1).value
    0.25
    """
    k = min(check_count(k, "k"), max(1, len(database)))
    rng = generator(random_state)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        hits = hits_at(groups, np.array([k]), ties)
        values[span] = _share_found(hits, groups.relevant.sum(axis=1))[:, 0]
        values[span][~relevance.labelled[span]] = np.nan
    return mean_score(values, _text(f"recall@{k}", ties, metric, relevance))


def precision_recall_curve(
    queries: Array,
    database: Array,
    relevance: Relevance,
    *,
    at: ArrayLike | None = None,
    ties: str = "expected",
    metric: str = "hamming",
    random_state: Any = None,
) -> Curve:
    """Precision and recall at ranks, each averaged over the queries.

    Parameters
    ----------
    queries, database, relevance, ties, metric, random_state
        As in `mean_average_precision`.
    at : array-like of int, default=None
        Ranks from 1 on; those beyond the database are left out. None means every rank.

    Returns
    -------
    Curve
        Queries without a label or a relevant item are skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> curve = precision_recall_curve(database[:1], database, relevance)
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.5, 0.67], [0.5, 0.5, 1.0])
    """
    ranks = _ranks(at, len(database))
    rng = generator(random_state)
    mean = _MeanCurve(len(ranks))
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        hits = hits_at(groups, ranks, ties)
        recall = _share_found(hits, groups.relevant.sum(axis=1))
        mean.add(hits / ranks, recall, relevance.labelled[span])
    text = _text("precision and recall at ranks", ties, metric, relevance)
    return mean.curve(ranks, text)


def _ranks(at: ArrayLike | None, n: int) -> IdArray:
    if at is None:
        return np.arange(1, n + 1)
    ranks = np.unique(np.asarray(at))
    if ranks.dtype.kind not in "iu" or not ranks.size or ranks[0] < 1:
        raise ArgumentError(f"at must be ranks, whole numbers from 1 on, got {at!r}")
    if ranks[0] > n:
        raise ArgumentError(f"at must hold a rank up to {n}, got {ranks[0]} and more")
    return ranks[ranks <= n].astype(np.int64)


def _text(name: str, ties: str, metric: str, relevance: Relevance) -> str:
    return f"{name}; ties: {ties}; ranked by {metric} distance; {relevance.description}"


def radius_curve(queries: Array, database: Array, relevance: Relevance) -> Curve:
    """Precision and recall within every Hamming radius, averaged over the queries.

    Ties do not matter here. The precision of an empty ball is 0.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes.
    relevance : Relevance

    Returns
    -------
    Curve
        At the radii from 0 to the number of bits in whole bytes. Queries without a
        label or a relevant item are skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> radius_curve(database[:1], database, relevance).recall[:3].tolist()
    [0.5, 0.5, 1.0]
    """
    mean = _MeanCurve(8 * np.shape(database)[-1] + 1)
    for span, groups in _balls(queries, database, relevance):
        inside, hits = np.cumsum(groups.sizes, axis=1), np.cumsum(groups.relevant, 1)
        recall = _share_found(hits, hits[:, -1])
        mean.add(hits / np.maximum(inside, 1), recall, relevance.labelled[span])
    radii = np.arange(mean.size)
    return mean.curve(radii, f"precision and recall by radius; {relevance.description}")


def radius_scores(
    queries: Array, database: Array, relevance: Relevance, radius: int = 2
) -> RadiusScores:
    """Precision, recall and mAP of looking up everything within a Hamming radius.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes.
    relevance : Relevance
    radius : int, default=2
        Largest distance that counts.

    Returns
    -------
    RadiusScores
        Queries without a label are skipped, in the recall also those without any
        relevant item. Ties in the mAP are averaged over.

    References
    ----------
    Cao et al., "Deep Cauchy Hashing for Hamming Space Retrieval", CVPR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> scores = radius_scores(database[:1], database, relevance, radius=1)
    >>> scores.precision.value, scores.recall.value
    (0.5, 0.5)
    """
    radius = min(check_count(radius, "radius", 0), 8 * np.shape(database)[-1])
    precision, recall, ap = np.full((3, len(queries)), np.nan)
    n_empty = 0
    for span, groups in _balls(queries, database, relevance):
        inside = groups.sizes[:, : radius + 1].sum(axis=1)
        hits = groups.relevant[:, : radius + 1].sum(axis=1)
        precision[span] = hits / np.maximum(inside, 1)
        recall[span] = _share_found(hits[:, None], groups.relevant.sum(axis=1))[:, 0]
        ap[span] = _average_precisions(groups, inside, "hits", "expected")
        n_empty += int(np.count_nonzero(inside == 0))
    for values in (precision, recall, ap):
        values[~relevance.labelled] = np.nan
    where = f"within radius {radius}; {relevance.description}"
    return RadiusScores(
        mean_score(precision, f"precision {where}"),
        mean_score(recall, f"recall {where}"),
        mean_score(ap, f"mAP {where}"),
        n_empty,
    )


def _balls(
    queries: Array, database: Array, relevance: Relevance
) -> Iterator[tuple[slice, TieGroups]]:
    rng = np.random.default_rng(0)  # not used: nothing is drawn
    return tie_groups(queries, database, relevance, "hamming", "expected", rng)


class _MeanCurve:
    """Sums precision and recall over the queries that count."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._precision, self._recall = np.zeros((2, size))
        self._counted = self._total = 0

    def add(
        self, precision: FloatArray, recall: FloatArray, labelled: NDArray[np.bool_]
    ) -> None:
        counted = labelled & ~np.isnan(recall[:, -1])
        self._precision += precision[counted].sum(axis=0)
        self._recall += recall[counted].sum(axis=0)
        self._counted += int(np.count_nonzero(counted))
        self._total += len(counted)

    def curve(self, at: IdArray, definition: str) -> Curve:
        if not self._counted:
            raise ArgumentError(
                f"none of the {self._total:,} queries has a label and a relevant item, "
                f"so there is no {definition}"
            )
        precision, recall = self._precision, self._recall
        return Curve(
            at,
            precision / self._counted,
            recall / self._counted,
            self._total - self._counted,
            definition,
        )


def _share_found(hits: NDArray[Any], relevant: IdArray) -> FloatArray:
    """Divide each row by its number of relevant items; NaN when there are none."""
    values = np.full(hits.shape, np.nan)
    np.divide(hits, relevant[:, None], out=values, where=relevant[:, None] > 0)
    return values


def mean_score(per_query: NDArray[np.float64], definition: str) -> Score:
    """Average over the queries that are not NaN."""
    counted = per_query[~np.isnan(per_query)]
    n_skipped = len(per_query) - len(counted)
    if not len(counted):
        raise ArgumentError(
            f"none of the {len(per_query):,} queries has a label and a relevant item, "
            f"so there is no {definition}"
        )
    note = f"; {n_skipped} of {len(per_query)} queries skipped" if n_skipped else ""
    return Score(float(counted.mean()), per_query, n_skipped, definition + note)
