"""Quantised vectors are near the vectors, and take the same way to an answer."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fewbits.errors import FeatureError
from fewbits.index import FlatIndex, Int8Vectors

METRICS = ["euclidean", "cosine", "dot"]


@given(
    X=arrays.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.int16]),
        st.tuples(st.integers(1, 30), st.integers(1, 70)),
        elements={"min_value": -999, "max_value": 999},
    ),
    shift=st.integers(-100, 100),
)
def test_numbers_are_at_most_a_step_away(X, shift):
    X = X.astype(np.float64) + shift
    vectors = Int8Vectors.from_vectors(X)
    # What float32 rounds off, down to its smallest numbers.
    info = np.finfo(np.float32)
    rounding = 8 * info.eps * np.abs(X).max() + info.tiny
    found = vectors.to_float()
    for i, row in enumerate(X):
        for start in range(0, X.shape[1], 32):
            block = row[start : start + 32]
            step = (block.max() - block.min()) / 255
            error = np.abs(found[i, start : start + 32] - block)
            assert (error <= step + rounding).all()
            # No worse than rounding each number to the nearest step.
            assert np.sqrt(np.square(error).mean()) <= 0.5 * step + rounding


def test_rows_change_nothing_for_each_other():
    X = np.random.default_rng(0).normal(size=(40, 1 << 15))  # some rows at a time
    whole = Int8Vectors.from_vectors(X)
    halves = [Int8Vectors.from_vectors(half) for half in (X[:9], X[9:])]
    for name in ("values", "blocks"):
        parts = np.concatenate([getattr(each, name) for each in halves])
        np.testing.assert_array_equal(getattr(whole, name), parts)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_what_is_stored(metric):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 41)) * rng.uniform(0.1, 9, 41) + rng.normal(size=41)
    vectors, queries = Int8Vectors.from_vectors(X), X[:9]
    codes = np.packbits(X > 0, axis=1)
    index = FlatIndex(codes, rng.permutation(300))
    options = {"query_vectors": queries, "metric": metric}
    found = index.search_reranked(codes[:9], 6, vectors=vectors, **options)
    expected = index.search_reranked(
        codes[:9], 6, vectors=vectors.to_float(), **options
    )
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.ids, expected.ids)


@pytest.mark.parametrize("shift", [0, 100])
def test_errors_are_orthogonal_to_the_vectors(shift):
    """By which dot products with what is near keep their order."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 64)) + shift
    error = Int8Vectors.from_vectors(X).to_float() - X
    size, length = np.linalg.norm(error, axis=1), np.linalg.norm(X, axis=1)
    cosine = (error * X).sum(axis=1) / (size * length)
    assert size.max() < 0.01 * np.sqrt(64)
    # Not so where the range's ends give the steps: .1 is usual.
    assert np.abs(cosine).max() < 0.01


def test_it_is_made_again_from_its_arrays(tmp_path):
    X = np.random.default_rng(3).normal(size=(20, 5)).astype(np.float32)
    vectors = Int8Vectors.from_vectors(X)
    assert len(vectors) == 20
    assert vectors.shape == (20, 5)
    np.save(tmp_path / "values.npy", vectors.values)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    again = Int8Vectors(mapped, vectors.blocks)
    assert np.shares_memory(again.values, mapped)
    for other in (again, pickle.loads(pickle.dumps(vectors))):
        np.testing.assert_array_equal(other.to_float(), vectors.to_float())
    rows = np.array([4, 0])
    np.testing.assert_array_equal(vectors.to_float(rows), vectors.to_float()[rows])


def test_it_does_not_change():
    values = np.zeros((2, 3), np.int8)
    vectors = Int8Vectors(values, np.zeros((2, 1, 2), np.float32))
    values[:] = 5
    assert not vectors.to_float().any()
    for name in ("values", "blocks"):
        array = getattr(vectors, name)
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            array.flags.writeable = True
        with pytest.raises(AttributeError):
            setattr(vectors, name, array)
    array = vectors.values
    array.shape = (3, 2)
    assert vectors.shape == (2, 3)


def test_no_vectors():
    vectors = Int8Vectors.from_vectors(np.zeros((0, 4)))
    assert vectors.to_float().shape == (0, 4)


VALUES, BLOCKS = np.zeros((2, 40), np.int8), np.zeros((2, 2, 2), np.float32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Int8Vectors(VALUES * 1.0, BLOCKS), "values .* int8, got float64"),
        (lambda: Int8Vectors(VALUES.tolist(), BLOCKS), "values .* got list and shape"),
        (lambda: Int8Vectors(VALUES[0], BLOCKS), r"2 dimensions .* shape \(40,\)"),
        (lambda: Int8Vectors(VALUES[:, :0], BLOCKS[:, :0]), "a feature or more"),
        (lambda: Int8Vectors(VALUES, BLOCKS * np.float64(1)), "float32, got float64"),
        (lambda: Int8Vectors(VALUES, BLOCKS[:, :1]), r"must have shape \(2, 2, 2\)"),
        (lambda: Int8Vectors.from_vectors([[1.0], [np.nan]]), "finite, .* in row 1"),
        (lambda: Int8Vectors.from_vectors([[1.0], [1e39]]), "finite, .* in row 1"),
        (lambda: Int8Vectors.from_vectors([["a"]]), "real numbers, got texts"),
        (lambda: Int8Vectors.from_vectors(np.zeros((2, 0))), "must have features"),
    ],
)
def test_mistakes_have_one_clear_line(make, message):
    with pytest.raises(FeatureError, match=message):
        make()


def test_a_block_that_is_not_finite_is_told():
    blocks = BLOCKS.copy()
    blocks[1, 0, 1] = np.inf
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(FeatureError, match=r"vectors must be finite, .* in row 1"):
        FlatIndex(codes).search_reranked(
            codes, 2, vectors=Int8Vectors(VALUES, blocks), query_vectors=VALUES
        )
