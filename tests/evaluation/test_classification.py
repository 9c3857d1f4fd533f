"""Votes follow the documented order; nothing is learnt from the test part."""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.svm import LinearSVC

from fewbits._hyperplanes import hyperplanes
from fewbits.codes import hamming_distances, hamming_topk, pack
from fewbits.errors import ArgumentError, CodeError, FeatureError
from fewbits.evaluation.classification import (
    knn_accuracy,
    novel_class_score,
    svm_accuracy,
)
from fewbits.learners import LSH, PiCoDes


def vote(distances, labels, k):
    """Return the class with most votes, nearest voters, first in order.

    The votes that nearer ones leave are shared by all as far away as the k-th.
    """
    last = np.sort(distances)[k - 1]
    left = Fraction(k - int((distances < last).sum()), int((distances == last).sum()))
    counts, sums = Counter(), Counter()
    for distance, label in zip(distances.tolist(), labels, strict=True):
        if distance <= last:
            votes = left if distance == last else 1
            counts[label] += votes
            sums[label] += votes * distance
    return min(counts, key=lambda label: (-counts[label], sums[label], label))


def predictions(codes, labels, queries, k):
    """Whether they are right does not matter here."""
    return knn_accuracy(
        codes, labels, queries, [labels[0]] * len(queries), k=k
    ).predictions


@given(seed=st.integers(0, 2**32), k=st.integers(1, 30))
def test_votes(seed, k):
    rng = np.random.default_rng(seed)
    database = rng.integers(0, 8, (20, 1), dtype=np.uint8)
    queries = rng.integers(0, 8, (6, 1), dtype=np.uint8)
    labels = rng.choice(["b", "a", "c"], 20)
    distances = hamming_distances(queries, database)
    expected = [vote(row, labels, min(k, 20)) for row in distances]
    assert predictions(database, labels, queries, k).tolist() == expected
    order = rng.permutation(20)
    shuffled = predictions(database[order], labels[order], queries, k)
    assert shuffled.tolist() == expected


def test_rows_sorted_by_class_do_not_favour_the_first():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 50)
    codes = pack(rng.random((500, 3)) < 0.5)  # all classes alike, and 62 of each code
    votes = predictions(codes, y, codes, 20)
    first = hamming_topk(codes, codes, 20).ids  # what the order of the rows would give
    assert np.mean(y[first] == 0) > 0.3
    assert np.mean(votes == 0) < 0.3


def test_accuracy_and_per_class_mean():
    codes = np.array([[0], [1], [255]], np.uint8)
    test = np.array([[0], [0], [0], [255], [3]], np.uint8)
    accuracy = knn_accuracy(codes, ["a", "a", "b"], test, ["a", "a", "a", "b", "new"])
    assert accuracy.value == 4 / 5
    assert accuracy.per_class_mean == pytest.approx(2 / 3)
    assert accuracy.predictions.tolist() == ["a", "a", "a", "b", "a"]
    assert "1 nearest" in accuracy.definition


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 200)
    bits = rng.random((200, 20)) < np.where(rng.random((4, 20)) < 0.5, 0.2, 0.8)[y]
    words = np.array(["ant", "bee", "cow", "dog"])[y]
    return pack(bits[:120]), words[:120], pack(bits[120:]), words[120:]


def test_svm_learns(data):
    accuracy = svm_accuracy(*data, n_bits=20)
    assert accuracy.value > 0.8
    assert set(accuracy.predictions) <= {"ant", "bee", "cow", "dog"}
    assert "20 bits, C=1" in accuracy.definition


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_svm_solves_the_problem_of_liblinear(n_classes, C):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=300)
    X = (rng.normal(size=(n_classes, 12))[y] + rng.normal(size=(300, 12))).astype("f")
    peer = LinearSVC(C=C, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    predictions = svm_accuracy(X, y, X, y, C=C).predictions
    assert np.mean(predictions == peer.predict(X)) > 0.98
    classes = [1] if n_classes == 2 else list(range(n_classes))
    planes = hyperplanes(X, y[:, None] == classes, C)
    peers = np.concatenate([peer.coef_, peer.intercept_[:, None]], axis=1)
    for number, w, best in zip(classes, planes.T, peers, strict=True):
        signs = np.where(y == number, 1, -1)
        least = primal_of_svm(best, X, signs, C)
        assert primal_of_svm(w, X, signs, C) == pytest.approx(least, rel=1e-3)


def primal_of_svm(w, X, signs, C):
    missing = np.maximum(1 - signs * (X @ w[:-1] + w[-1]), 0)
    return w @ w / 2 + C * np.sum(missing**2)


@pytest.mark.parametrize("scale", [1e-3, 1e18, 1e30])
def test_size_of_features_hardly_matters(scale):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(3, 4))[y] * 3 + rng.normal(size=(90, 4))) * scale
    assert svm_accuracy(X, y, X, y, C=1.0 if scale > 1 else scale**-2).value > 0.8


def test_features_beyond_float32_are_refused():
    X = np.array([[1e39], [0.0]])
    with pytest.raises(ArgumentError, match="float32 cannot hold"):
        svm_accuracy(X, [0, 1], X, [0, 1])


def test_a_plane_in_company_is_nearly_the_one_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10)).astype("f")
    labels = rng.random((200, 50)) < 0.5
    labels[:, 0] = X[:, 0] > 0
    together = hyperplanes(X, labels, 1.0)[:, 0]
    alone = hyperplanes(X, labels[:, :1], 1.0)[:, 0]
    signs = np.where(labels[:, 0], 1, -1)
    values = [primal_of_svm(w, X, signs, 1.0) for w in (together, alone)]
    assert values[0] == pytest.approx(values[1], rel=2e-3)


def test_features_for_comparison(data):
    _, y, _, truth = data
    rng = np.random.default_rng(0)
    accuracy = svm_accuracy(
        rng.normal(size=(120, 3)), y, rng.normal(size=(80, 3)), truth
    )
    assert "on features" in accuracy.definition


CODES = np.zeros((3, 1), np.uint8)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((CODES, "abc", CODES, "abc"), {}, ArgumentError, "give n_bits"),
        ((CODES, "aaa", CODES, "abc"), {"n_bits": 8}, ArgumentError, "2 classes"),
        ((CODES, "abc", CODES, "ab"), {"n_bits": 8}, ArgumentError, "each of 3 items"),
        ((CODES, "ab", CODES, "abc"), {"n_bits": 8}, ArgumentError, "each of 3 items"),
        ((CODES, "abc", CODES, "abc"), {"n_bits": 9}, CodeError, "9 bits need 2 bytes"),
        ((CODES, "abc", CODES, "abc"), {"n_bits": 0}, ArgumentError, "at least 1"),
        ((CODES, "abc", CODES, "abc"), {"n_bits": 8, "C": 0}, ArgumentError, "C must"),
        ((CODES * np.nan, "aab", CODES * 1.0, "aab"), {}, FeatureError, "finite"),
        (
            (np.zeros((3, 2)), "aab", CODES * 1.0, "aab"),
            {},
            ArgumentError,
            "test has 1",
        ),
    ],
)
def test_bad_svm_input_has_one_clear_line(arguments, options, error, message):
    train, y, test, truth = arguments
    with pytest.raises(error, match=message):
        svm_accuracy(train, list(y), test, list(truth), **options)


@pytest.mark.parametrize(
    ("arguments", "k", "message"),
    [
        ((CODES, [0, 1, 2], CODES, [0, 1, 2]), 0, "k must be at least 1, got 0"),
        ((CODES, [0, 1], CODES, [0, 1, 2]), 1, "one label for each of 3 items"),
        ((CODES, [0, 1, 2], CODES, [0, 1]), 1, "each of 3 items"),
        ((CODES, [0, 1, 2], CODES[:0], []), 1, "test labels must not be empty"),
        ((CODES[:0], [], CODES, [0, 1, 2]), 1, "without codes there are no votes"),
        (
            (CODES, [0, 1, 2], CODES, list("abc")),
            1,
            "train labels are numbers, test labels strings",
        ),
    ],
)
def test_bad_votes_have_one_clear_line(arguments, k, message):
    with pytest.raises(ArgumentError, match=message):
        knn_accuracy(*arguments, k=k)


def test_more_neighbours_than_there_are():
    nearest = predictions(CODES, ["b", "a", "b"], CODES[:1], 10**9)
    assert nearest.tolist() == ["b"]


def test_a_weight_of_errors_beyond_float32_is_refused():
    labels = np.arange(6)[:, None] % 2 > 0
    with pytest.raises(ArgumentError, match=r"at most 1e\+30, got 1e\+31"):
        hyperplanes(np.eye(6, dtype=np.float32), labels, 1e31)


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
