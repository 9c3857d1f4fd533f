"""A scorer for searches over parameters of methods that learn without labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._typing import CodeArray
from fewbits.codes import pack
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError
from fewbits.evaluation._neighbours import exact_neighbours, neighbour_recall

_QUERY_SHARE, _MOST_QUERIES = 5, 1000


def neighbour_recall_score(
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
    learner : Learner or Pipeline
        Fitted to other rows; a pipeline ends in a learner, and neighbours are those of
        what goes into it.
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
    ...     scoring=neighbour_recall_score,
    ... )
    >>> search.fit(X).best_params_
    {'n_bits': 64}
    """
    features = as_features(X)
    check_count(k, "k")
    n_queries = min(len(features) // _QUERY_SHARE, _MOST_QUERIES)
    if not n_queries or len(features) - n_queries < k:
        raise ArgumentError(f"{len(features)} rows are too few to score by k={k}")
    order = generator(random_state).permutation(len(features))
    asked, among = (np.sort(rows) for rows in np.split(order, [n_queries]))
    nearest = exact_neighbours(features[asked], features[among], k).ids
    codes = _codes(learner, X)
    at = k if at is None else at
    return neighbour_recall(codes[asked], codes[among], nearest, at).value


def _codes(learner: Any, X: ArrayLike) -> CodeArray:
    """Return codes of what a learner takes, or a pipeline that ends in one."""
    if hasattr(learner, "encode"):
        found: CodeArray = learner.encode(X)
        return found
    return pack(learner.transform(X))
