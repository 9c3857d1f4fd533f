"""Precision and recall of rankings with ties, at ranks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._curve import Curve, MeanCurve, share_found
from fewbits.evaluation._hits import hits_at
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._score import Score, mean_score
from fewbits.evaluation._ties import tie_groups


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
        values[span] = share_found(hits, groups.relevant.sum(axis=1))[:, 0]
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
    mean = MeanCurve(len(ranks))
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        hits = hits_at(groups, ranks, ties)
        recall = share_found(hits, groups.relevant.sum(axis=1))
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
