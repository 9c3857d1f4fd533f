"""Precision and recall of rankings with ties, at ranks and by radius."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._average_precision import average_precisions
from fewbits.evaluation._checks import check_count, generator
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._score import Score, mean_score
from fewbits.evaluation._ties import FloatArray, TieGroups, tie_groups


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


class RadiusScores(NamedTuple):
    """What lies within a Hamming radius of the queries.

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
    >>> from fewbits.evaluation import share_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = share_label(["owl"], ["owl", "cat", "owl"])
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
    >>> from fewbits.evaluation import share_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = share_label(["owl"], ["owl", "cat", "owl"])
    >>> recall_at(database[:1], database, relevance, 1).value
    0.25
    """
    k = min(check_count(k, "k"), max(1, len(database)))
    rng = generator(random_state)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        hits = hits_at(groups, np.array([k]), ties)
        values[span] = _share(hits, groups.relevant.sum(axis=1))[:, 0]
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
    >>> from fewbits.evaluation import share_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = share_label(["owl"], ["owl", "cat", "owl"])
    >>> curve = precision_recall_curve(database[:1], database, relevance)
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.5, 0.67], [0.5, 0.5, 1.0])
    """
    ranks = _ranks(at, len(database))
    rng = generator(random_state)
    mean = _MeanCurve(len(ranks))
    for span, groups in tie_groups(queries, database, relevance, metric, ties, rng):
        hits = hits_at(groups, ranks, ties)
        recall = _share(hits, groups.relevant.sum(axis=1))
        mean.add(hits / ranks, recall, relevance.labelled[span])
    text = _text("precision and recall at ranks", ties, metric, relevance)
    return mean.curve(ranks, text)


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
    >>> from fewbits.evaluation import share_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = share_label(["owl"], ["owl", "cat", "owl"])
    >>> radius_curve(database[:1], database, relevance).recall[:3].tolist()
    [0.5, 0.5, 1.0]
    """
    mean = _MeanCurve(8 * np.shape(database)[-1] + 1)
    for span, groups in _balls(queries, database, relevance):
        inside, hits = np.cumsum(groups.sizes, axis=1), np.cumsum(groups.relevant, 1)
        recall = _share(hits, hits[:, -1])
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
    >>> from fewbits.evaluation import share_label
    >>> database = np.array([[0], [1], [3]], dtype=np.uint8)
    >>> relevance = share_label(["owl"], ["owl", "cat", "owl"])
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
        recall[span] = _share(hits[:, None], groups.relevant.sum(axis=1))[:, 0]
        ap[span] = average_precisions(groups, inside, "hits", "expected")
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


def hits_at(groups: TieGroups, ranks: IdArray, ties: str) -> FloatArray:
    """Return how many relevant items are among the first ranks (n_queries, n_ranks).

    Along a ranking this number rises evenly within a group of ties; under
    ``optimistic`` and ``pessimistic`` each group is a rising and a flat part.
    """
    if ties in ("stable", "random"):
        counts = np.cumsum(groups.relevant, axis=1)[:, ranks - 1]
        return counts.astype(np.float64)
    hits = np.empty((len(groups.sizes), len(ranks)))
    for row, (sizes, relevant) in enumerate(zip(*groups, strict=True)):
        chosen = sizes > 0
        sizes, relevant = sizes[chosen], relevant[chosen]
        xs, ys = np.cumsum(sizes), np.cumsum(relevant)
        if ties != "expected":
            first, rises = relevant, ys
            if ties == "pessimistic":
                first, rises = sizes - relevant, ys - relevant
            xs = np.stack([xs - sizes + first, xs], axis=1).ravel()
            ys = np.stack([rises, ys], axis=1).ravel()
        keep = np.diff(xs, prepend=0) > 0
        xs, ys = xs[keep], ys[keep]
        hits[row] = np.interp(ranks, np.append(0, xs), np.append(0, ys))
    return hits


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
                f"{definition} is not defined: all {self._total} queries lack "
                "a label or a relevant item"
            )
        precision, recall = self._precision, self._recall
        return Curve(
            at,
            precision / self._counted,
            recall / self._counted,
            self._total - self._counted,
            definition,
        )


def _balls(queries: Array, database: Array, relevance: Relevance) -> Any:
    rng = np.random.default_rng(0)  # not used: nothing is drawn
    return tie_groups(queries, database, relevance, "hamming", "expected", rng)


def _share(hits: NDArray[Any], relevant: IdArray) -> FloatArray:
    """Divide each row by its number of relevant items; NaN when there are none."""
    values = np.full(hits.shape, np.nan)
    np.divide(hits, relevant[:, None], out=values, where=relevant[:, None] > 0)
    return values


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
