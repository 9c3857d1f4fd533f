"""What distances between and within classes bound, and what they do not."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score

from fewbits.analysis.bounds import code_bound
from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners import CCAITQ, PCAH
from research.common.ap_lower_bound import ap_lower_bound


def clusters(n_classes, n_each, n_bits, noise, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.random((n_classes, n_bits)) < 0.5
    bits = centres.repeat(n_each, axis=0)
    bits ^= rng.random(bits.shape) < noise
    return pack(bits), np.arange(n_classes).repeat(n_each)


def worst_precisions(queries, query_labels, codes, labels, sign=1):
    """AP of each query where relevant items come last among ties (first by -1)."""
    mask = same_label(query_labels, labels).block(slice(0, len(queries)))
    values = np.full(len(queries), np.nan)
    for i, distances in enumerate(hamming_distances(queries, codes)):
        truth = mask[i][np.lexsort([sign * mask[i], distances])]
        if truth.any():
            values[i] = (np.cumsum(truth) / np.arange(1, len(truth) + 1))[truth].mean()
    return values


def real_ap(query, label, codes, labels, sign=1):
    """AP of one query, over labels or rows of 0 and 1."""
    query_labels = np.asarray(label)[None]
    return worst_precisions(query[None], query_labels, codes, labels, sign)[0]


@given(
    seed=st.integers(0, 10_000),
    noise=st.sampled_from([0.02, 0.1, 0.3]),
    n_labels=st.sampled_from([None, 3, 6]),
)
def test_average_precision_is_never_below_its_bounds(seed, noise, n_labels):
    codes, labels = clusters(4, 6, 24, noise, seed)
    rng = np.random.default_rng(seed)
    if n_labels is not None:
        labels = (rng.random((24, n_labels)) < 0.4).astype(int)
        labels[0] = 1
    queries, query_labels = codes[::5], labels[::5]
    queries = queries ^ (rng.random(queries.shape) < 0.1).astype(np.uint8)
    real = worst_precisions(queries, query_labels, codes, labels)
    bounds = {
        knowing: ap_lower_bound(
            queries, query_labels, codes, labels, 24, knowing=knowing
        )
        for knowing in ("query", "classes", "extremes")
    }
    assert (np.isnan(real) == np.isnan(bounds["query"])).all()
    known = ~np.isnan(real)
    chain = [real, bounds["query"], bounds["classes"], bounds["extremes"]]
    for larger, smaller in pairwise(chain):
        assert (larger[known] >= smaller[known] - 1e-12).all()


@pytest.mark.parametrize("learner", [PCAH(n_bits=16), CCAITQ(32, random_state=0)])
def test_real_codes_keep_the_bounds(learner):
    X, y = load_digits(return_X_y=True)
    codes = learner.fit(X[300:], y[300:]).encode(X)
    queries, base = codes[:300], codes[300:]
    real = worst_precisions(queries, y[:300], base, y[300:])
    arguments = queries, y[:300], base, y[300:], learner.n_bits
    bounds = [real]
    for knowing in ("query", "classes", "extremes"):
        bounds.append(ap_lower_bound(*arguments, knowing=knowing))
    for larger, smaller in pairwise(bounds):
        assert (larger >= smaller - 1e-12).all()
    assert bounds[2].mean() > bounds[3].mean()


def test_bounds_tell_more_than_the_numbers_of_items():
    codes, labels = clusters(10, 50, 64, 0.08)
    least = np.mean(np.arange(1, 51) / (450 + np.arange(1, 51)))
    arguments = codes[::7], labels[::7], codes, labels, 64
    assert ap_lower_bound(*arguments, knowing="extremes").mean() == pytest.approx(least)
    assert ap_lower_bound(*arguments, knowing="classes").mean() > 0.3
    assert ap_lower_bound(*arguments, knowing="query").mean() > 0.4


@given(seed=st.integers(0, 10_000))
def test_a_ratio_above_four_makes_retrieval_perfect(seed):
    codes, labels = clusters(4, 8, 64, 0.03, seed)
    bound = code_bound(codes, 64, labels)
    if bound.strict_ratio <= 4:
        return
    bounds = ap_lower_bound(codes, labels, codes, labels, 64, knowing="extremes")
    assert (bounds == 1).all()


def test_a_ratio_of_four_does_not():
    """Classes of width 1 around 0000 0000 and 1111 0000 meet in the middle."""
    a, b, query = "00000000", "11110000", "10000000"
    away, towards = "00000001", "10110000"
    codes = pack([[int(bit) for bit in c] for c in (a, a, b, b, query, towards, away)])
    labels = np.array([0, 0, 1, 1, 0, 1, 0])
    bound = code_bound(codes, 8, labels)
    assert bound.strict_ratio == bound.min_inter == 4
    assert hamming_distances(codes[4:5], codes[5:]).tolist() == [[2, 2]]
    assert real_ap(codes[4], 0, codes, labels) < 1


def test_below_four_the_worst_ranking_is_possible():
    """All five true positives are farther than all five false ones: ratio 7 / 2."""
    bits = np.zeros((10, 20), int)
    for i in range(5):
        bits[i, 10 + 2 * i : 12 + 2 * i] = 1  # 2 from the centre, away from class 1
        bits[5 + i, :7] = 1
        bits[5 + i, [2 + i, 2 + (i + 1) % 5]] = 0  # 2 from the centre, towards class 0
    query = pack(np.arange(20)[None] < 2)
    codes, labels = pack(bits), np.repeat([0, 1], 5)
    bound = code_bound(codes, 20, labels)
    assert (bound.min_inter, bound.max_intra) == (7, 2)
    worst = np.mean(np.arange(1, 6) / np.arange(6, 11))
    limits = ap_lower_bound(query, [0], codes, labels, 20, knowing="extremes")
    assert limits == pytest.approx(worst)
    assert real_ap(query[0], 0, codes, labels, -1) == pytest.approx(worst)


def test_the_proposition_has_no_constant():
    """The ratio of class distances is 2, and a false positive shares the query's code.

    The paper: min d(q, fp) / max d(q, tp) >= const min D_inter / max D_intra.
    """
    a, b, middle = [0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]
    codes = pack([a, a, a, b, b, b, middle, middle])
    labels = [0, 0, 0, 1, 1, 1, 0, 1]
    assert code_bound(codes, 4, labels).strict_ratio == 2
    to_items = hamming_distances(codes[6:7], codes)[0]
    assert to_items[7] == 0  # d(q, fp): the left side is 0, whatever the constant


def test_quality_may_fall_while_the_ratio_of_extremes_rises():
    """The paper: AP is proportional to min d(q, fp) / max d(q, tp)."""
    relevant = [True, True, False]
    lower = average_precision_score(relevant, [-1, -10, -5])  # 5 / 10
    higher = average_precision_score(relevant, [-10, -10, -6])  # 6 / 10
    assert higher < lower


def test_a_better_ratio_may_come_with_worse_retrieval():
    """Extremes say nothing of how many items are extreme."""
    rng = np.random.default_rng(0)

    def made(noise, outliers):
        bits = np.vstack([np.zeros((40, 32)), np.ones((40, 32))]).astype(int)
        bits[:, 20:] = 0
        bits ^= rng.random(bits.shape) < noise
        bits[outliers] = 1 - bits[outliers]
        return pack(bits), np.repeat([0, 1], 40)

    def metrics(codes, labels):
        aps = [
            mean_average_precision(
                q[None], codes, same_label(np.asarray(y)[None], labels)
            ).value
            for q, y in zip(codes, labels, strict=True)
        ]
        return code_bound(codes, 32, labels).strict_ratio, np.mean(aps)

    ratio, quality = metrics(*made(0.0, [0]))  # one item is far off
    noisy_ratio, noisy_quality = metrics(*made(0.22, []))
    assert noisy_ratio > ratio
    assert noisy_quality < quality


def test_queries_without_a_true_positive_have_no_bound():
    codes, labels = clusters(3, 4, 16, 0.1)
    bounds = ap_lower_bound(codes[:2], [7, 1], codes, labels, 16)
    assert np.isnan(bounds).tolist() == [True, False]
    rows = np.eye(4)[labels]
    bounds = ap_lower_bound(codes[:2], [[0, 0, 0, 1], [0, 1, 0, 0]], codes, rows, 16)
    assert np.isnan(bounds).tolist() == [True, False]


def test_mistakes_in_queries():
    codes, labels = clusters(3, 4, 16, 0.1)
    with pytest.raises(ArgumentError, match="same form"):
        ap_lower_bound(codes, np.eye(3)[labels], codes, labels, 16)
    with pytest.raises(ArgumentError, match="2 label columns, items 3"):
        ap_lower_bound(codes, np.zeros((12, 2)), codes, np.eye(3)[labels], 16)
    with pytest.raises(
        ArgumentError, match="labels of queries are strings, labels of items numbers"
    ):
        ap_lower_bound(codes[:1], ["a"], codes, labels, 16)
    with pytest.raises(ArgumentError, match="knowing must be one of query, classes"):
        ap_lower_bound(codes, labels, codes, labels, 16, knowing="all")
