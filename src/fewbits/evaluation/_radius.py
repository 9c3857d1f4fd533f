"""Precision and recall of everything within a Hamming radius."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._typing import Array
from fewbits.evaluation._average_precision import average_precisions
from fewbits.evaluation._curve import Curve, MeanCurve, share_found
from fewbits.evaluation._relevance import Relevance
from fewbits.evaluation._score import Score, mean_score
from fewbits.evaluation._ties import TieGroups, tie_groups


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
    mean = MeanCurve(8 * np.shape(database)[-1] + 1)
    for span, groups in _balls(queries, database, relevance):
        inside, hits = np.cumsum(groups.sizes, axis=1), np.cumsum(groups.relevant, 1)
        recall = share_found(hits, hits[:, -1])
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
        recall[span] = share_found(hits[:, None], groups.relevant.sum(axis=1))[:, 0]
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


def _balls(
    queries: Array, database: Array, relevance: Relevance
) -> Iterator[tuple[slice, TieGroups]]:
    rng = np.random.default_rng(0)  # not used: nothing is drawn
    return tie_groups(queries, database, relevance, "hamming", "expected", rng)
