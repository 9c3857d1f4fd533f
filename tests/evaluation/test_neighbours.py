"""Exact neighbours equal a sort of all float64 distances, for any block size."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fewbits.errors import ArgumentError, FeatureError
from fewbits.evaluation import (
    exact_neighbours,
    mean_average_precision,
    neighbour_recall,
    neighbour_recall_score,
    neighbour_threshold,
    search_recall,
    within_distance,
)
from fewbits.learners import ITQ, LSH

METRICS = ["euclidean", "cosine", "dot"]


def brute_force(queries, database, k, metric):
    Q, D = np.asarray(queries, np.float64), np.asarray(database, np.float64)
    if metric == "euclidean":
        distances = np.sqrt(((Q[:, None] - D) ** 2).sum(axis=2))
    else:
        distances = -(Q[:, None] * D).sum(axis=2)
    if metric == "cosine":
        lengths = np.sqrt((Q**2).sum(1))[:, None] * np.sqrt((D**2).sum(1))
        cosines = np.zeros_like(distances)
        np.divide(-distances, lengths, out=cosines, where=lengths > 0)
        distances = 1 - cosines
    ids = np.array([np.lexsort([np.arange(len(D)), row]) for row in distances])[:, :k]
    return np.take_along_axis(distances, ids, axis=1), ids


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**32), shift=st.sampled_from([0, 1e4]), k=st.integers(1, 9))
def test_equal_to_sorting_everything(metric, seed, shift, k):
    rng = np.random.default_rng(seed)
    # Few distinct values make ties; the shift makes float32 distances useless.
    database = rng.integers(-1, 2, (40, 3)) + shift
    queries = rng.integers(-1, 2, (5, 3)) + shift
    distances, ids = exact_neighbours(queries, database, k, metric)
    expected = brute_force(queries, database, k, metric)
    np.testing.assert_array_equal(ids, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_answers_do_not_depend_on_blocks_or_batches(metric, dtype):
    rng = np.random.default_rng(1)
    database = rng.normal(size=(17_000, 5)).astype(dtype)  # three blocks
    queries = rng.normal(size=(9, 5)).astype(dtype)
    whole = exact_neighbours(queries, database, 30, metric)
    np.testing.assert_array_equal(
        whole.ids, brute_force(queries, database, 30, metric)[1]
    )
    alone = [exact_neighbours(q[None], database, 30, metric) for q in queries]
    np.testing.assert_array_equal(
        whole.distances, np.concatenate([a[0] for a in alone])
    )


def test_progress_ends_with_all_queries():
    X, seen = np.arange(5000.0)[:, None], []
    exact_neighbours(X, X[:10], 1, progress=lambda *done: seen.append(done))
    assert seen == [(2048, 5000), (4096, 5000), (5000, 5000)]


def test_many_equal_rows():
    """Nine million candidates: more than are held until the end."""
    database, queries = np.zeros((10_000, 1)), np.zeros((900, 1))
    database[::50], queries[1] = 1.0, 1.0
    distances, ids = exact_neighbours(queries, database, 3)
    assert ids[0].tolist() == ids[-1].tolist() == [1, 2, 3]
    assert ids[1].tolist() == [0, 50, 100]
    assert not distances.any()


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_very_different_size(metric):
    rng = np.random.default_rng(2)
    database = rng.normal(size=(60, 4)) * 10.0 ** rng.integers(-12, 13, (60, 1))
    database[7] = 0
    queries = rng.normal(size=(6, 4)) * 10.0 ** rng.integers(-12, 13, (6, 1))
    for scale in (1.0, 1e-100, 1e100):
        _, ids = exact_neighbours(queries * scale, database * scale, 9, metric)
        expected = brute_force(queries * scale, database * scale, 9, metric)[1]
        np.testing.assert_array_equal(ids, expected)


def test_memory_map(tmp_path):
    database = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float16)
    np.save(tmp_path / "x.npy", database)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        exact_neighbours(mapped[:3], mapped, 4).ids,
        exact_neighbours(database[:3], database, 4).ids,
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[0.0]], [[0.0]], 0), ArgumentError, "k must be at least 1, got 0"),
        (([[0.0]], [[0.0]], -1), ArgumentError, "k must be at least 1, got -1"),
        (([[0.0]], [[0.0]], 10**9), ArgumentError, "more neighbours than the 1 rows"),
        (([[0.0]], [[0.0]], 1, "l1"), ArgumentError, "metric must be one of euclidean"),
        (([[0.0]], [[0.0, 1.0]], 1), FeatureError, "queries must have 2 features"),
        (([[np.nan]], [[0.0]], 1), FeatureError, "queries must be finite.* row 0"),
        (([[0.0]], [[0.0], [np.inf]], 1), FeatureError, "database .* in row 1"),
        (([0.0], [[0.0]], 1), FeatureError, "queries must have 2 dimensions"),
        (([["a"]], [[0.0]], 1), FeatureError, "real numbers"),
        (([[0.0], [0.0, 1.0]], [[0.0]], 1), FeatureError, "queries are not a matrix"),
        (([[0.0]], np.zeros((0, 1)), 1), ArgumentError, "database must not be empty"),
        (([[1e200]], [[0.0]], 1), FeatureError, "within 1e\\+150"),
    ],
)
def test_bad_input_has_one_clear_line(arguments, error, message):
    with pytest.raises(error, match=message):
        exact_neighbours(*arguments)


def test_recall_of_codes():
    database = np.array([[0], [1], [0], [255]], np.uint8)
    queries = np.array([[0]], np.uint8)
    truth = [[2, 3]]
    assert neighbour_recall(queries, database, truth, 1).value == 0.25
    assert neighbour_recall(queries, database, truth, 10**9).value == 1
    with pytest.raises(ArgumentError, match="at must be at least 1"):
        neighbour_recall(queries, database, truth, 0)


def test_recall_of_a_search():
    score = search_recall([[4, 1, -1], [-1, -1, -1]], [[1, 2], [0, -1]])
    assert score.per_query.tolist() == [0.5, 0.0]
    with pytest.raises(ArgumentError, match="ids holds 1 queries, neighbours 2"):
        search_recall([[1]], [[1], [2]])
    with pytest.raises(ArgumentError, match="twice"):
        search_recall([[1, 1]], [[1, 2]])


def test_threshold_is_the_mean_distance_to_the_kth_other_row():
    X = np.random.default_rng(0).normal(size=(80, 5))
    X[3] = X[4]
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    kth = np.sort(distances, axis=1)[:, 7]
    assert neighbour_threshold(X, 7) == pytest.approx(kth.mean())
    many = np.tile(X, (20, 1))
    sampled = neighbour_threshold(many, 7 * 20 + 19, random_state=1)
    assert sampled == neighbour_threshold(many, 7 * 20 + 19, random_state=1)
    assert kth.min() < sampled < kth.max()
    with pytest.raises(ArgumentError, match="more neighbours than the 79 other rows"):
        neighbour_threshold(X, 80)


def test_true_positives_are_closer_than_the_threshold():
    X = np.random.default_rng(0).normal(size=(9000, 5)).astype(np.float32)
    threshold = 1.7
    distances = np.sqrt(((X[:9, None].astype(float) - X) ** 2).sum(axis=2))
    found = within_distance(X[:9], X, threshold)
    np.testing.assert_array_equal(found.block(slice(0, 9)), distances < threshold)
    np.testing.assert_array_equal(found.block(slice(2, 5)), distances[2:5] < threshold)


def test_a_distance_of_exactly_the_threshold_is_not_closer():
    relevance = within_distance([[0.0, 0.0]], [[3.0, 4.0], [0.0, 4.9]], 5.0)
    assert relevance.block(slice(0, 1)).tolist() == [[False, True]]


@pytest.mark.parametrize("threshold", [0, -1.0, np.nan, np.inf])
def test_thresholds_are_checked(threshold):
    with pytest.raises(ArgumentError, match="threshold must be a finite distance"):
        within_distance([[0.0]], [[0.0]], threshold)


def test_neighbours_below_a_threshold_end_to_end():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 8))
    X[0] = 100.0  # a query with no true positive but itself is not in the database
    codes = np.packbits(X @ rng.normal(size=(8, 32)) > 0, axis=1)
    queries, database = slice(0, 20), slice(20, None)
    threshold = neighbour_threshold(X[database], random_state=0)
    relevance = within_distance(X[queries], X[database], threshold)
    score = mean_average_precision(codes[queries], codes[database], relevance)
    assert score.n_skipped >= 1
    assert np.isnan(score.per_query[0])
    assert "Euclidean distance below" in score.definition
    assert 0.3 < score.value < 1
    exact = mean_average_precision(
        X[queries], X[database], relevance, metric="euclidean"
    )
    assert exact.value == pytest.approx(1.0)


def test_listed_rows_without_neighbours_are_skipped():
    codes = np.zeros((2, 1), np.uint8)
    score = neighbour_recall(codes, codes, [[0], [-1]], 1)
    assert score.n_skipped == 1


X = np.random.default_rng(0).normal(size=(300, 16))


class Ordered:
    """Codes of one row number each: neighbours by it are those of the vectors."""

    def encode(self, rows):
        return np.packbits(np.arange(256) < rows[:, :1], axis=1)


def test_it_is_the_share_of_true_neighbours_among_the_first_found():
    rows = np.random.default_rng(0).permutation(np.arange(250.0))[:, None]
    assert neighbour_recall_score(Ordered(), rows, k=1, at=3) > 0.99
    learner = LSH(8, random_state=0).fit(X)
    scores = [neighbour_recall_score(learner, X, at=at) for at in (1, 10, 240)]
    assert scores[0] < scores[1] < scores[2] == 1
    assert neighbour_recall_score(learner, X) == scores[1]
    assert neighbour_recall_score(learner, X, random_state=1) != scores[1]


def test_a_search_over_parameters():
    grid = {"n_iter": [0, 20], "n_bits": [8, 64]}
    search = GridSearchCV(
        ITQ(random_state=0), grid, cv=2, scoring=neighbour_recall_score
    )
    assert search.fit(X).best_params_["n_bits"] == 64
    first = next(KFold(2).split(X))
    learner = ITQ(64, n_iter=20, random_state=0).fit(X[first[0]])
    by_hand = neighbour_recall_score(learner, X[first[1]])
    at = search.cv_results_["params"].index({"n_bits": 64, "n_iter": 20})
    assert search.cv_results_["split0_test_score"][at] == by_hand


def test_a_pipeline_and_a_data_frame():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(16)])
    learner = LSH(32, random_state=0).fit(frame)
    score = neighbour_recall_score(learner, frame)  # no warning on names
    chain = make_pipeline(FunctionTransformer(), LSH(32, random_state=0)).fit(X)
    assert neighbour_recall_score(chain, X) == score
    with pytest.raises(ArgumentError, match="not a seed"):
        neighbour_recall_score(learner, frame, random_state=-1)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (12, 11)])
def test_too_few_rows(n, k):
    learner = LSH(8, random_state=0).fit(X)
    with pytest.raises(ArgumentError, match=f"{n} rows are too few to score by k={k}"):
        neighbour_recall_score(learner, X[:n], k=k)
