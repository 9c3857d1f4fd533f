"""Parameters are chosen on classes that the learner never saw."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold

from fewbits.errors import ArgumentError
from fewbits.evaluation.classification import novel_class_score
from fewbits.learners import LSH, PiCoDes


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    y = np.repeat([f"class {k}" for k in range(12)], 25)
    X = np.repeat(rng.normal(size=(12, 10)), 25, axis=0)
    return X + 0.3 * rng.normal(size=(300, 10)), y


def test_good_codes_score_higher(clusters):
    X, y = clusters
    good, bad = (LSH(n, random_state=0).fit(X) for n in (64, 2))
    assert novel_class_score(good, X, y) > novel_class_score(bad, X, y) + 0.2


def test_each_fold_scores_classes_that_were_not_trained_on(clusters):
    X, y = clusters
    seen = []

    def score(learner, X, y):
        seen.append(set(learner.classes_) & set(y))
        return novel_class_score(learner, X, y)

    search = GridSearchCV(
        PiCoDes(n_bits=8, n_iter=1, random_state=0),
        {"lam": [1.0, 100.0]},
        cv=GroupKFold(3),
        scoring=score,
    )
    search.fit(X, y, groups=y)
    assert seen == [set()] * 6
    assert search.best_estimator_.classes_.size == 12


def test_classes_that_are_too_small(clusters):
    X, y = clusters
    learner = LSH(8, random_state=0).fit(X)
    few = np.flatnonzero(y != y[0])
    with_one = np.append(few, np.flatnonzero(y == y[0])[0])
    scores = [novel_class_score(learner, X[rows], y[rows]) for rows in (few, with_one)]
    assert scores[0] == scores[1]
    with pytest.raises(ArgumentError, match=r"two with more than n_test=25 .*, got 0"):
        novel_class_score(learner, X[:26], y[:26], n_test=25)


def test_errors_of_long_codes_weigh_less(clusters):
    X, y = clusters
    short, long = (LSH(n, random_state=0).fit(X) for n in (32, 1024))
    for learner, C in ((short, 0.01), (long, 0.0025)):
        usual, given = (novel_class_score(learner, X, y, C=c) for c in (None, C))
        assert usual == given


def test_a_search_may_refuse_folds_of_small_classes(clusters):
    X, y = clusters
    search = GridSearchCV(
        PiCoDes(n_bits=8, n_iter=1, random_state=0),
        {"lam": [1.0, 100.0]},
        cv=GroupKFold(3),
        scoring=partial(novel_class_score, n_test=30),
        error_score="raise",
    )
    with pytest.raises(ArgumentError, match="n_test=30 items, got 0 of 4"):
        search.fit(X, y, groups=y)
