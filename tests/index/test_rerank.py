"""Re-ranking equals doing each step by hand, and does not depend on the batch."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError, FeatureError
from fewbits.index import FlatIndex, Int8Vectors

METRICS = ["euclidean", "cosine", "dot"]


def cost(score, code):
    """Sum of |score| over the bits that differ, in float32 from the first bit on."""
    bits = np.unpackbits(code, count=len(score)).astype(bool)
    total = np.float32(0)
    for bit, value in zip(bits, score, strict=True):
        total += np.abs(value) if bit != (value > 0) else np.float32(0)
    return total


def distance(a, b, metric):
    a, b = a.astype(np.float64), b.astype(np.float64)
    if metric == "euclidean":
        return np.float32(np.sqrt(((a - b) ** 2).sum()))
    lengths = np.sqrt((a * a).sum()) * np.sqrt((b * b).sum())
    if metric == "cosine":
        return np.float32(1 - (a * b).sum() / lengths if lengths else 1.0)
    return np.float32(-(a * b).sum())


class Case:
    """Random data with ties in every step."""

    def __init__(self, seed, n=40, n_bits=11):
        rng = np.random.default_rng(seed)
        self.scores = rng.integers(-2, 3, (4, n_bits)).astype(np.float32)
        self.queries = np.packbits(self.scores > 0, axis=1)
        self.codes = np.packbits(rng.random((n, n_bits)) < 0.5, axis=1)
        self.ids = rng.permutation(3 * n)[:n]
        self.vectors = rng.integers(-1, 2, (n, 5)).astype(np.float16)
        self.query_vectors = rng.integers(-1, 2, (4, 5)).astype(np.float32)
        self.index = FlatIndex(self.codes, self.ids)

    def by_hand(self, q, k, shortlist, finalists, *, scores, metric):
        query = self.queries[q]
        rows = range(len(self.codes))
        hamming = np.bitwise_count(self.codes ^ query).sum(axis=1)
        rows = sorted(rows, key=lambda r: (hamming[r], self.ids[r]))[:shortlist]
        key = {r: hamming[r] for r in rows}
        if scores:
            key = {r: cost(self.scores[q], self.codes[r]) for r in rows}
            rows = sorted(rows, key=lambda r: (key[r], self.ids[r]))[:finalists]
        if metric:
            key = {
                r: distance(self.query_vectors[q], self.vectors[r], metric)
                for r in rows
            }
            rows = sorted(rows, key=lambda r: (key[r], self.ids[r]))
        found = [(key[r], self.ids[r]) for r in rows[:k]]
        return found + [(np.inf, -1)] * (k - len(found))

    def check(self, k, shortlist, finalists, *, scores, metric):
        options = {"scores": self.scores} if scores else {}
        if metric:
            options |= {
                "vectors": self.vectors,
                "query_vectors": self.query_vectors,
                "metric": metric,
            }
        found = self.index.search_reranked(
            self.queries, k, shortlist=shortlist, finalists=finalists, **options
        )
        assert found.distances.dtype == np.float32
        assert found.ids.dtype == np.int64
        for q in range(4):
            passed = max(k, finalists) if metric else k
            expected = self.by_hand(
                q, k, max(k, shortlist), passed, scores=scores, metric=metric
            )
            assert found.ids[q].tolist() == [i for _, i in expected]
            np.testing.assert_array_equal(found.distances[q], [d for d, _ in expected])


sizes = st.integers(1, 50)


@given(seed=st.integers(0, 2**32), k=sizes, shortlist=sizes)
def test_asymmetric_distance(seed, k, shortlist):
    Case(seed).check(k, shortlist, 1, scores=True, metric=None)


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**32), k=sizes, shortlist=sizes)
def test_exact_distance(metric, seed, k, shortlist):
    Case(seed).check(k, shortlist, 1, scores=False, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**32), k=sizes, shortlist=sizes, finalists=sizes)
def test_all_three_steps(metric, seed, k, shortlist, finalists):
    Case(seed).check(k, shortlist, finalists, scores=True, metric=metric)


def normal(n, d, dtype):
    """Return numbers of any dtype that differ, and whose float32 is exact."""
    rng = np.random.default_rng(0)
    return np.round(20 * rng.normal(size=(n, d))).astype(dtype)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i2", "f16"])
def test_a_query_alone_has_the_same_answer_as_in_a_batch(metric, dtype):
    rng = np.random.default_rng(0)
    vectors, queries = normal(300, 37, dtype), normal(330, 37, dtype)[300:]
    index = FlatIndex(np.packbits(vectors > 0, axis=1), rng.permutation(300))

    def search(span, **options):
        return index.search_reranked(
            np.packbits(queries[span] > 0, axis=1),
            7,
            scores=queries[span],
            vectors=vectors,
            query_vectors=queries[span],
            metric=metric,
            **options,
        )

    whole = search(slice(None))
    alone = [search(slice(i, i + 1)) for i in range(30)]
    for field in (0, 1):
        parts = np.concatenate([one[field] for one in alone])
        np.testing.assert_array_equal(whole[field], parts)


@pytest.mark.parametrize("dtype", [">f4", "i2"])
def test_converted_vectors_have_the_same_answer_however_many(dtype):
    vectors = normal(300, 5000, dtype)  # more than are converted at a time
    index, queries = FlatIndex(np.packbits(vectors > 0, axis=1)), vectors[:2]
    codes = np.packbits(queries > 0, axis=1)
    found, expected = (
        index.search_reranked(
            codes, 9, vectors=each, query_vectors=queries, shortlist=300
        )
        for each in (vectors, vectors.astype(np.float64))
    )
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.ids, expected.ids)


LAYOUTS = {
    "float64": lambda X: X.astype(np.float64),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f4"),
    "Fortran": np.asfortranarray,
    "columns": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "int8": lambda X: X.astype(np.int8),
    "longdouble": lambda X: X.astype(np.longdouble),
    "unaligned": lambda X: np.frombuffer(b"x" + X.tobytes(), X.dtype, offset=1).reshape(
        X.shape
    ),
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "masked": np.ma.array,
    "quantised": lambda X: Int8Vectors(
        X.astype(np.int8), np.tile(np.float32([1, 0]), (len(X), 1, 1))
    ),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_the_same_answer(metric, layout):
    X = normal(200, 21, np.float32)
    options = {"query_vectors": X[:9], "metric": metric, "shortlist": 60}
    index, codes = FlatIndex(np.packbits(X > 0, axis=1)), np.packbits(X[:9] > 0, axis=1)
    expected = index.search_reranked(codes, 5, vectors=X, **options)
    found = index.search_reranked(codes, 5, vectors=LAYOUTS[layout](X), **options)
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.ids, expected.ids)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("metric", METRICS)
def test_the_first_vector_that_is_not_finite_is_told(dtype, metric):
    X = normal(30, 5, dtype)
    X[[7, 20], 3] = np.nan, np.inf
    codes = np.zeros((30, 1), np.uint8)
    options = {"query_vectors": X[:1], "metric": metric}
    with pytest.raises(FeatureError, match=r"vectors must be finite, got .* in row 7"):
        FlatIndex(codes).search_reranked(codes[:1], 2, vectors=X, **options)
    # Vectors that are not read are not looked at.
    allowed = np.isfinite(X.astype(np.float64)).all(axis=1)
    found = FlatIndex(codes).search_reranked(
        codes[:1], 2, vectors=X, allowed=allowed, **options
    )
    assert np.isfinite(found.distances).all()


def test_distances_beyond_float32_are_infinite():
    X = np.full((2, 5), 3e38, np.float32) * np.array([[1], [-1]], np.float32)
    codes = np.zeros((2, 1), np.uint8)
    found = FlatIndex(codes).search_reranked(
        codes[:1], 2, vectors=X, query_vectors=X[:1]
    )
    assert found.distances.tolist() == [[0, np.inf]]
    assert found.ids.tolist() == [[0, 1]]


def test_a_long_shortlist_is_an_exact_search():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 16)).astype(np.float32)
    codes = np.packbits(X > 0, axis=1)
    found = FlatIndex(codes).search_reranked(
        codes[:9], 5, vectors=X, query_vectors=X[:9], shortlist=200
    )
    distances = np.sqrt(((X[:9, None].astype(float) - X) ** 2).sum(axis=2))
    np.testing.assert_array_equal(found.ids, np.argsort(distances, axis=1)[:, :5])


def test_allowed_and_padding():
    case = Case(0)
    allowed = case.ids[:3]
    found = case.index.search_reranked(
        case.queries, 5, scores=case.scores, allowed=allowed
    )
    assert set(found.ids[0]) == {*allowed.tolist(), -1}
    assert np.isinf(found.distances[:, 3:]).all()
    empty = FlatIndex(case.codes[:0])
    for options in (
        {"scores": case.scores},
        {"vectors": case.vectors[:0], "query_vectors": case.query_vectors},
    ):
        found = empty.search_reranked(case.queries, 2, **options)
        assert found.ids.tolist() == [[-1, -1]] * 4
        assert np.isinf(found.distances).all()
    none = case.index.search_reranked(case.queries[:0], 2, scores=case.scores[:0])
    assert none.ids.shape == none.distances.shape == (0, 2)


def test_only_finalists_are_read(tmp_path):
    case = Case(2)
    np.save(tmp_path / "vectors.npy", case.vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    options = {"query_vectors": case.query_vectors, "shortlist": 4}
    expected = case.index.search_reranked(
        case.queries, 2, vectors=case.vectors, **options
    )
    found = case.index.search_reranked(case.queries, 2, vectors=mapped, **options)
    np.testing.assert_array_equal(found.ids, expected.ids)
    unread = np.full_like(case.vectors, np.nan)
    order = np.argsort(case.ids)
    for row in np.isin(case.ids, case.index.search(case.queries, 4).ids).nonzero()[0]:
        unread[row] = case.vectors[row]
    assert np.isnan(unread[order]).any()
    found = case.index.search_reranked(case.queries, 2, vectors=unread, **options)
    np.testing.assert_array_equal(found.ids, expected.ids)
    with pytest.raises(FeatureError, match="vectors must be finite, got NaN"):
        case.index.search_reranked(
            case.queries, 2, vectors=unread, query_vectors=case.query_vectors
        )


def changed(array, value):
    array = array.copy()
    array[1, 0] = value
    return array


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda c: {}, ArgumentError, "needs scores, or vectors and query_vectors"),
        (lambda c: {"vectors": c.vectors}, ArgumentError, "needs query_vectors too"),
        (
            lambda c: {
                "vectors": np.ma.masked_equal(c.vectors, 1),
                "query_vectors": c.query_vectors,
            },
            FeatureError,
            "vectors are a masked array",
        ),
        (
            lambda c: {
                "vectors": c.vectors[:, :0],
                "query_vectors": c.query_vectors[:, :0],
            },
            FeatureError,
            r"vectors must have features, got shape \(40, 0\)",
        ),
        (
            lambda c: {
                "vectors": Int8Vectors.from_vectors(c.vectors[:3]),
                "query_vectors": c.query_vectors,
            },
            ArgumentError,
            "vectors must have 40 rows, got 3",
        ),
        (lambda c: {"query_vectors": c.vectors}, ArgumentError, "needs vectors too"),
        (lambda c: {"scores": c.scores[:2]}, ArgumentError, "must have 4 rows, got 2"),
        (lambda c: {"scores": c.scores[:, :8]}, ArgumentError, "8 columns for codes"),
        (lambda c: {"scores": c.scores[:, :0]}, ArgumentError, "0 columns for codes"),
        (lambda c: {"scores": changed(c.scores, np.nan)}, FeatureError, "in row 1"),
        (
            lambda c: {"scores": changed(c.scores.astype(float), 1e200)},
            FeatureError,
            "scores must be finite",
        ),
        (lambda c: {"scores": c.scores, "metric": "l1"}, ArgumentError, "metric must"),
        (lambda c: {"scores": c.scores, "shortlist": 0}, ArgumentError, "shortlist"),
        (lambda c: {"scores": c.scores, "finalists": 0}, ArgumentError, "finalists"),
        (lambda c: {"scores": [["a"] * 11] * 4}, FeatureError, "real numbers"),
        (lambda c: {"scores": [[1.0], [1.0, 2.0]]}, FeatureError, "not a matrix"),
        (
            lambda c: {"vectors": c.vectors[:3], "query_vectors": c.query_vectors},
            ArgumentError,
            "vectors must have 40 rows, got 3",
        ),
        (
            lambda c: {"vectors": c.vectors, "query_vectors": c.query_vectors[:, :2]},
            FeatureError,
            "must have 5 features like the vectors, got 2",
        ),
        (
            lambda c: {
                "vectors": c.vectors,
                "query_vectors": changed(c.query_vectors, np.inf),
            },
            FeatureError,
            "query_vectors must be finite, got NaN or infinity in row 1",
        ),
    ],
)
def test_bad_input_has_one_clear_line(change, error, message):
    case = Case(0)
    with pytest.raises(error, match=message):
        case.index.search_reranked(case.queries, 3, **change(case))


@pytest.mark.parametrize("k", [0, -1, 2.5, 2**40])
def test_k_is_checked(k):
    case = Case(0)
    with pytest.raises(ArgumentError, match="k must be"):
        case.index.search_reranked(case.queries, k, scores=case.scores)


def test_an_absurd_k_is_refused_before_memory_is_taken():
    case = Case(0)
    with pytest.raises(ArgumentError, match="far beyond the"):
        case.index.search_reranked(case.queries, 10**9, scores=case.scores)
