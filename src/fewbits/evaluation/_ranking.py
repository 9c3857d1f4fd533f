"""Average precision of rankings with ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._repr import short_repr
from fewbits._typing import Array
from fewbits.errors import ArgumentError
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._ties import (
    FloatArray,
    TieGroups,
    expected_over_hits,
    precision_sums,
    tie_groups,
)

_DENOMINATORS = {
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
        Mean over the queries that count.
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

    __repr__ = short_repr


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
        From `same_label` or `within_distance`.
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
    check_choice(denominator, "denominator", tuple(_DENOMINATORS))
    at = None if at is None else check_count(at, "at")
    rng = generator(random_state)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        values[span] = _average_precisions(groups, at, denominator, ties)
        values[span][~relevance.labelled[span]] = np.nan
    name = "mAP" if at is None else f"mAP@{at}"
    return mean_score(
        values,
        f"{name}, AP divides by {_DENOMINATORS[denominator]}; ties: {ties}; "
        f"ranked by {metric} distance; {relevance.description}",
    )


def _average_precisions(
    groups: TieGroups, at: int | None, denominator: str, ties: str
) -> FloatArray:
    """Return the average precision of every query; NaN where it is not defined."""
    total = groups.sizes.sum(axis=1)
    length = total if at is None else np.minimum(at, total)
    parts = precision_sums(groups, length, ties)
    sums = parts.sum(axis=1)
    if denominator == "R":
        return ratios(sums, length)
    if denominator == "min":
        return ratios(sums, np.minimum(length, groups.relevant.sum(axis=1)))
    # How many relevant items are found may depend on the order.
    empty = np.nan if denominator == "hits-skip" else 0.0
    before = np.cumsum(groups.sizes, axis=1) - groups.sizes
    inside = np.clip(length[:, None] - before, 0, groups.sizes)
    if ties == "optimistic":
        hits = np.minimum(inside, groups.relevant)
    elif ties == "pessimistic":
        hits = np.maximum(inside - (groups.sizes - groups.relevant), 0)
    else:
        hits = np.where(inside == groups.sizes, groups.relevant, 0)
    values = ratios(sums, hits.sum(axis=1), empty)
    if ties == "expected":
        cut = (inside > 0) & (inside < groups.sizes) & (groups.relevant > 0)
        for row, group in np.argwhere(cut):
            values[row] = expected_over_hits(
                groups, parts, int(row), int(group), int(inside[row, group]), empty
            )
    return values


def ratios(a: NDArray[Any], b: NDArray[Any], empty: float = np.nan) -> FloatArray:
    """Divide; `empty` where there is nothing to find."""
    values = np.full(a.shape, empty)
    np.divide(a, b, out=values, where=b > 0)
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
