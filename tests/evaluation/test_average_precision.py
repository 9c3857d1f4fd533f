"""Average precision equals the mean over every order of the ties, in fractions."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError, CodeError
from fewbits.evaluation import mean_average_precision, neighbour_recall, same_label

DENOMINATORS = ["min", "hits", "hits-skip", "R"]


def average_precision(distances, relevant, **options):
    """AP of one ranking by distances; NaN where the query is skipped."""
    database = -np.asarray(distances, float)[:, None]
    truth = same_label([1], np.asarray(relevant, int))
    one = np.ones((1, 1))
    try:
        score = mean_average_precision(one, database, truth, metric="dot", **options)
    except ArgumentError:  # no query is left
        return float("nan")
    return score.value


def ranked_ap(truth, at, denominator):
    """AP of one order without ties; None where the query is skipped."""
    length = min(at or len(truth), len(truth))
    hits, total = 0, Fraction(0)
    for rank, relevant in enumerate(truth[:length], start=1):
        hits += relevant
        total += Fraction(int(hits), rank) * bool(relevant)
    divisor = {
        "min": min(length, sum(truth)),
        "hits": hits,
        "hits-skip": hits,
        "R": length,
    }[denominator]
    if divisor == 0:
        return Fraction(0) if denominator == "hits" else None
    return total / divisor


def orders(distances, relevant):
    """Every order of the items that sorts the distances."""
    groups = {}
    for distance, truth in zip(distances, relevant, strict=True):
        groups.setdefault(distance, []).append(bool(truth))
    parts = [list(permutations(groups[d])) for d in sorted(groups)]
    return [sum(choice, ()) for choice in product(*parts)]


def brute_force(distances, relevant, at, denominator):
    values = [ranked_ap(o, at, denominator) for o in orders(distances, relevant)]
    values = [value for value in values if value is not None]
    return float(sum(values) / len(values)) if values else float("nan")


rankings = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=7)


@given(items=rankings, at=st.one_of(st.none(), st.integers(1, 9)))
@pytest.mark.parametrize("denominator", DENOMINATORS)
def test_expected_value_is_the_mean_over_all_orders(denominator, items, at):
    distances, relevant = zip(*items, strict=True)
    value = average_precision(distances, relevant, at=at, denominator=denominator)
    expected = brute_force(distances, relevant, at, denominator)
    assert value == pytest.approx(expected, rel=1e-13, nan_ok=True)


@given(items=rankings, at=st.one_of(st.none(), st.integers(1, 9)))
def test_optimistic_and_pessimistic_are_the_extremes(items, at):
    distances, relevant = zip(*items, strict=True)
    values = [ranked_ap(o, at, "min") for o in orders(distances, relevant)]
    best = average_precision(distances, relevant, at=at, ties="optimistic")
    worst = average_precision(distances, relevant, at=at, ties="pessimistic")
    if None in values:
        assert np.isnan([best, worst]).all()
    else:
        assert (best, worst) == pytest.approx((float(max(values)), float(min(values))))


@given(items=rankings, at=st.one_of(st.none(), st.integers(1, 9)))
@pytest.mark.parametrize("denominator", DENOMINATORS)
def test_stable_keeps_the_order_of_the_database(denominator, items, at):
    distances, relevant = zip(*items, strict=True)
    order = np.argsort(distances, kind="stable")
    expected = ranked_ap([relevant[i] for i in order], at, denominator)
    value = average_precision(
        distances, relevant, at=at, denominator=denominator, ties="stable"
    )
    expected = float("nan") if expected is None else float(expected)
    assert value == pytest.approx(expected, rel=1e-13, nan_ok=True)


@pytest.mark.parametrize("denominator", DENOMINATORS)
@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
def test_bounds_are_the_order_within_ties_for_any_denominator(ties, denominator):
    distances = np.array([1, 0, 1, 1, 2, 2])
    relevant = np.array([1, 0, 0, 1, 1, 0], bool)
    sign = -1 if ties == "optimistic" else 1
    order = np.lexsort([sign * relevant, distances])
    for at in range(1, 8):
        value = average_precision(
            distances, relevant, at=at, denominator=denominator, ties=ties
        )
        expected = ranked_ap(relevant[order], at, denominator)
        expected = float("nan") if expected is None else float(expected)
        assert value == pytest.approx(expected, nan_ok=True)


def test_random_order_agrees_with_the_mean():
    rng = np.random.default_rng(0)
    distances, relevant = rng.integers(0, 3, 30), rng.random(30) < 0.3
    draws = [
        average_precision(distances, relevant, ties="random", random_state=seed)
        for seed in range(400)
    ]
    error = np.std(draws) / np.sqrt(len(draws))
    assert abs(np.mean(draws) - average_precision(distances, relevant)) < 4 * error
    assert draws[0] == average_precision(
        distances, relevant, ties="random", random_state=0
    )


def test_the_known_example_of_hidden_recall_failure():
    order = [1, 2, 3]
    found_one = average_precision(order, [True, False, False], denominator="hits")
    found_two = average_precision(order, [True, False, True], denominator="hits")
    assert found_one == 1.0
    assert found_two == pytest.approx(5 / 6)


@pytest.mark.parametrize("before", [0, 60, 10**4, 10**6])
@pytest.mark.parametrize(("size", "relevant"), [(1, 1), (70, 70), (300, 3), (5000, 2)])
def test_ties_of_any_size_are_exact_far_down_the_ranking(before, size, relevant):
    distances = np.repeat([0, 1], [before, size])
    truth = np.zeros(before + size, bool)
    truth[before : before + relevant] = True
    slope = Fraction(relevant - 1, max(size - 1, 1))
    expected = sum(
        float((1 + (j - 1) * slope) / (before + j)) for j in range(1, size + 1)
    )
    value = average_precision(distances, truth)
    assert value == pytest.approx(expected / size, rel=1e-13)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    database = rng.integers(0, 4, (200, 1), dtype=np.uint8)
    queries = rng.integers(0, 4, (20, 1), dtype=np.uint8)
    return queries, database, rng.integers(0, 5, 20), rng.integers(0, 5, 200)


@pytest.mark.parametrize("ties", ["expected", "stable", "optimistic", "pessimistic"])
@pytest.mark.parametrize("denominator", DENOMINATORS)
@pytest.mark.parametrize("at", [None, 47, 10**9])
def test_mean_over_queries(data, at, denominator, ties):
    queries, database, query_labels, database_labels = data
    options = {"at": at, "denominator": denominator, "ties": ties}
    relevance = same_label(query_labels, database_labels)
    score = mean_average_precision(queries, database, relevance, **options)
    distances = hamming_distances(queries, database)
    expected = [
        average_precision(row, database_labels == label, **options)
        for row, label in zip(distances, query_labels, strict=True)
    ]
    np.testing.assert_allclose(score.per_query, expected)
    assert score.value == pytest.approx(np.nanmean(expected))
    assert ties in score.definition


def test_answers_do_not_depend_on_the_batch():
    rng = np.random.default_rng(3)
    database = rng.integers(0, 4, (9000, 1), dtype=np.uint8)
    queries, labels = database[:300], rng.integers(0, 5, 9000)
    some = slice(200, 230)
    for metric in ("hamming", "euclidean"):
        whole, part = (
            mean_average_precision(
                queries[rows],
                database,
                same_label(labels[:300][rows], labels),
                metric=metric,
            ).per_query
            for rows in (slice(None), some)
        )
        np.testing.assert_array_equal(whole[some], part)


def test_several_labels_and_queries_without_any():
    database = np.array([[0], [1], [3]], np.uint8)
    queries = np.array([[0], [0], [0]], np.uint8)
    relevance = same_label(
        [[1, 1, 0], [0, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    )
    score = mean_average_precision(queries, database, relevance)
    assert score.per_query == pytest.approx([5 / 6, np.nan, np.nan], nan_ok=True)
    assert score.n_skipped == 2
    assert "2 of 3 queries skipped" in score.definition
    legacy = mean_average_precision(queries, database, relevance, denominator="hits")
    assert legacy.per_query == pytest.approx([5 / 6, np.nan, 0.0], nan_ok=True)


def test_ranking_of_features():
    database = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    relevance = same_label(["a"], ["b", "a", "a"])
    for metric in ("euclidean", "cosine", "dot"):
        score = mean_average_precision(
            np.array([[1.0, 0.0]]), database, relevance, metric=metric
        )
        assert score.value == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_equal_features_are_ties():
    rng = np.random.default_rng(0)
    row = rng.normal(size=(1, 33))
    database = np.repeat(row, 5, axis=0)
    relevance = same_label([1], [1, 0, 0, 0, 0])
    score = mean_average_precision(row, database, relevance, metric="euclidean")
    assert score.value == pytest.approx(np.mean([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]))


CODES = np.zeros((2, 1), np.uint8)
SAME = same_label([0, 1], [0, 1])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((CODES, CODES, SAME), {"at": 0}, "at must be at least 1, got 0"),
        ((CODES, CODES, SAME), {"at": 1.5}, "at must be a whole number"),
        ((CODES, CODES, SAME), {"ties": "fair"}, "ties must be one of expected"),
        ((CODES, CODES, SAME), {"denominator": "r"}, "denominator must be one of min"),
        ((CODES, CODES, SAME), {"metric": "l1"}, "metric must be one of hamming"),
        ((CODES, CODES, SAME), {"random_state": "x"}, "random_state is not a seed"),
        ((CODES, CODES[:1], SAME), {}, "got 2 queries and 1 items"),
        ((CODES[:0], CODES, SAME), {}, "queries must not be empty"),
        ((CODES, CODES, [0, 1]), {}, "relevance must come from same_label"),
        ((CODES, CODES, same_label([2, 3], [0, 1])), {}, "none of the 2 queries"),
        ((CODES * np.nan, CODES, SAME), {"metric": "dot"}, "infinity in row 0"),
    ],
)
def test_bad_input_has_one_clear_line(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        mean_average_precision(*arguments, **options)


def test_bits_are_not_codes():
    with pytest.raises(CodeError, match="packed into uint8"):
        mean_average_precision(CODES.astype(float), CODES.astype(float), SAME)


@pytest.mark.parametrize(
    ("queries", "database", "message"),
    [
        ([0, 1], np.eye(2), "the same number of dimensions"),
        (
            [0, np.nan],
            [0, 1],
            "query labels must be classes, but are missing in 1 of 2",
        ),
        (["a", None], ["a"], "missing in 1 of 2 rows: got None"),
        (["a"], [0], "query labels are"),
        ([], [0], "query labels must not be empty"),
        ([[0, 2]], [[0, 1]], "0 and 1 only, got 2"),
        ([[0, 1]], [[1, 0, 0]], "2 label columns"),
    ],
)
def test_labels_are_checked(queries, database, message):
    with pytest.raises(ArgumentError, match=message):
        same_label(queries, database)


def test_labels_of_any_kind():
    words = np.array(["ab", "c"], dtype=object)
    assert same_label(words, ["c", "ab", "d"]).block(slice(0, 2)).sum() == 2
    assert same_label([True, False], [False]).block(slice(0, 2)).sum() == 1
    many = np.arange(300)
    assert same_label(many, many[::-1]).block(slice(0, 300)).sum() == 300


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        ([0, 1], "must be a matrix of row numbers"),
        ([[0, 0]], "the same row number twice"),
        ([[0, 5]], "between 0 and 4"),
    ],
)
def test_listed_neighbours_are_checked(neighbours, message):
    with pytest.raises(ArgumentError, match=message):
        neighbour_recall(CODES, np.zeros((5, 1), np.uint8), neighbours, at=1)
