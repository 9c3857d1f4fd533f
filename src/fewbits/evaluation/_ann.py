"""The protocol of ITQ and sparse projections: near means closer than a threshold."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._typing import Array
from fewbits.errors import ArgumentError
from fewbits.evaluation._average_precision import mean_average_precision
from fewbits.evaluation._checks import as_features
from fewbits.evaluation._neighbours import exact_neighbours
from fewbits.evaluation._relevance import Listed, Relevance
from fewbits.evaluation._score import Score
from fewbits.evaluation._screen import (
    Screen,
    blocks,
    check_known,
    check_pair,
    exact_distances,
)


def neighbour_threshold(
    database: ArrayLike,
    k: int = 50,
    *,
    n_sample: int | None = 1000,
    random_state: Any = None,
) -> float:
    """Mean Euclidean distance of database rows to their `k`-th neighbour.

    Parameters
    ----------
    database : array-like of shape (n, n_features)
    k : int, default=50
        Below the number of rows; a row is not a neighbour of itself.
    n_sample : int or None, default=1000
        Rows averaged over, drawn without replacement; None or more than there are means
        all.
    random_state : int, Generator or None, default=None
        Seeds the sample.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Examples
    --------
    >>> neighbour_threshold([[0.0], [1.0], [3.0]], k=1)
    1.3333333333333333
    """
    X = as_features(database, "database")
    k = check_count(k, "k")
    check_known(k, len(X) - 1, "other rows of the database")
    rows = np.arange(len(X))
    if n_sample is not None and check_count(n_sample, "n_sample") < len(rows):
        rows = np.sort(generator(random_state).choice(rows, n_sample, replace=False))
    # The nearest is the row itself, or an equal one: either way its distance is 0.
    return float(exact_neighbours(X[rows], X, k + 1).distances[:, -1].mean())


def within_distance(
    queries: ArrayLike, database: ArrayLike, threshold: float
) -> Relevance:
    """Call a row relevant when it is closer than `threshold` in Euclidean distance.

    Parameters
    ----------
    queries, database : array-like of shape (n, n_features)
        Finite features.
    threshold : float
        Above 0, for example from `neighbour_threshold`.

    Returns
    -------
    Relevance
        A query with nothing that near has no relevant item; average precision and
        recall skip and count it.

    Examples
    --------
    >>> within_distance([[0.0]], [[0.5], [2.0], [-1.0]], 1.5).block(slice(0, 1))
    array([[ True, False,  True]])
    """
    Q, D = check_pair(queries, database, "euclidean")
    if not 0 < threshold < np.inf:
        raise ArgumentError(f"threshold must be a finite distance, got {threshold}")
    offsets, found = [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
    for span in blocks(Q, D)[0]:
        query, item = _closer(Q[span], D, threshold)
        counts = np.bincount(query, minlength=span.stop - span.start)
        offsets.append(offsets[-1][-1] + np.cumsum(counts))
        found.append(item)
    return Listed(
        np.concatenate(offsets),
        np.concatenate(found),
        len(D),
        f"relevant: Euclidean distance below {threshold:.6g}",
    )


def ann_mean_average_precision(
    query_codes: Array,
    database_codes: Array,
    query_features: ArrayLike,
    database_features: ArrayLike,
    *,
    k: int = 50,
    n_sample: int | None = 1000,
    at: int | None = None,
    ties: str = "expected",
    random_state: Any = None,
) -> Score:
    """Mean average precision against the neighbours of the features themselves.

    True positives are the rows closer than the mean distance to the `k`-th neighbour.

    Parameters
    ----------
    query_codes, database_codes : ndarray of shape (n, n_bytes), dtype uint8
    query_features, database_features : array-like of shape (n, n_features)
        The features of the same items.
    k, n_sample
        As in `neighbour_threshold`.
    at, ties
        As in `mean_average_precision`.
    random_state : int, Generator or None, default=None
        Seeds the sample and ``ties="random"``.

    Returns
    -------
    Score
        Queries without a true positive are skipped and counted: no ranking of theirs is
        right or wrong.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> codes = np.packbits(X > 0, axis=1)
    >>> score = ann_mean_average_precision(codes[:9], codes, X[:9], X, n_sample=None)
    >>> score.n_skipped
    0
    """
    rng = generator(random_state)
    threshold = neighbour_threshold(
        database_features, k, n_sample=n_sample, random_state=rng
    )
    relevance = within_distance(query_features, database_features, threshold)
    return mean_average_precision(
        query_codes, database_codes, relevance, at=at, ties=ties, random_state=rng
    )


def _closer(queries: Array, database: Array, threshold: float) -> tuple[Array, Array]:
    """Return pairs (query, item) below the threshold, in order."""
    screen = Screen(queries, database, "euclidean")
    key = np.float32((threshold * screen.scale) ** 2 * (1 + 1e-6))
    pairs = [np.empty((2, 0), np.int64)]
    for span in blocks(queries, database)[1]:
        query, item = np.nonzero(screen.bounds(database[span])[0] <= key)
        item += span.start
        distances = exact_distances(queries, database, (query, item), "euclidean")
        pairs.append(np.stack([query, item])[:, distances < threshold])
    query, item = np.concatenate(pairs, axis=1)
    order = np.argsort(query, kind="stable")
    return query[order], item[order]
