"""A scorer for searches over parameters of methods that learn without labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError
from fewbits.evaluation._neighbours import exact_neighbours, neighbour_recall

_QUERY_SHARE, _MOST_QUERIES = 5, 1000


def recall_score(
    learner: Any,
    X: ArrayLike,
    y: Any = None,
    *,
    k: int = 10,
    at: int | None = None,
    random_state: int = 0,
) -> float:
    """Score a fitted learner by the true neighbours that its codes find.

    A scorer for scikit-learn. A fifth of the rows, 1,000 at most, are queries to the
    others; whether the learner saw them is up to the folds.

    Parameters
    ----------
    learner : Learner
        Fitted to other rows.
    X : array-like of shape (n, n_features)
    y : None
        Not used.
    k : int, default=10
        Nearest vectors that count, by Euclidean distance.
    at : int, default=None
        Codes that are looked at; None takes `k`.
    random_state : int, default=0
        Draws the queries.

    Returns
    -------
    float
        Recall k@at; its expectation over the order of items at the same distance.

    Raises
    ------
    ArgumentError
        When there are too few rows for `k`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from fewbits.learners import LSH
    >>> X, _ = load_digits(return_X_y=True)
    >>> search = GridSearchCV(
    ...     LSH(random_state=0),
    ...     {"n_bits": [16, 64]},
    ...     cv=2,
    ...     scoring=recall_score,
    ... )
    >>> search.fit(X).best_params_
    {'n_bits': 64}
    """
    features = as_features(X)
    check_count(k, "k")
    n_queries = min(len(features) // _QUERY_SHARE, _MOST_QUERIES)
    if not n_queries or len(features) - n_queries < k:
        raise ArgumentError(f"{len(features)} rows are too few to score by k={k}")
    order = np.random.default_rng(random_state).permutation(len(features))
    asked, among = (features[np.sort(r)] for r in np.split(order, [n_queries]))
    nearest = exact_neighbours(asked, among, k).ids
    codes = learner.encode(asked), learner.encode(among)
    return neighbour_recall(*codes, nearest, k if at is None else at).value
