"""Average precision of rankings with ties."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._precision_sums import expected_over_hits, precision_sums
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._score import Score, mean_score
from fewbits.evaluation._ties import (
    TIES,
    FloatArray,
    TieGroups,
    histograms,
    level_numbers,
    ordered,
    tie_groups,
)

DENOMINATORS = ("min", "hits", "hits-skip", "R")
_DENOMINATOR_TEXT = {
    "min": "min(R, relevant)",
    "hits": "relevant items found, 0 if none",
    "hits-skip": "relevant items found, query skipped if none",
    "R": "R",
}


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
        values[span] = average_precisions(groups, at, denominator, ties)
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
    return float(average_precisions(groups, at, denominator, ties)[0])


def average_precisions(
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
