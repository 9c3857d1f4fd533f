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
        st.tuples(st.integers(1, 30), st.integers(1, 9)),
        elements={"min_value": -999, "max_value": 999},
    ),
    shift=st.integers(-100, 100),
)
def test_numbers_are_at_most_half_a_step_away(X, shift):
    X = X.astype(np.float64) + shift
    vectors = Int8Vectors.from_vectors(X)
    step = (X.max(axis=0) - X.min(axis=0)) / 255
    rounding = 8 * np.finfo(np.float32).eps * np.abs(X).max()
    assert (np.abs(vectors.to_float() - X) <= 0.5 * step + rounding).all()
    np.testing.assert_allclose(vectors.scale, step, rtol=1e-6, atol=1e-30)
    constant = step == 0
    kept = X[:, constant].astype(np.float32)
    np.testing.assert_array_equal(vectors.to_float()[:, constant], kept)


def test_parts_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 7))
    whole = Int8Vectors.from_vectors(X)
    monkeypatch.setattr("fewbits.index._int8._ENTRIES", 50)
    parts = Int8Vectors.from_vectors(X)
    for name in ("values", "scale", "offset"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_what_is_stored(metric):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 21)) * rng.uniform(0.1, 9, 21) + rng.normal(size=21)
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


@pytest.mark.parametrize("kind", ["even", "uneven", "few large"])
def test_distances_are_near_those_of_float32(kind):
    """By features of like and unlike spread, and with a few that dwarf the others."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 64))
    if kind == "uneven":
        X *= rng.lognormal(0, 1, 64)
    if kind == "few large":
        X[:, :2] = 40 * X[:, :2] + 100
    vectors = Int8Vectors.from_vectors(X)
    error = np.sqrt(np.square(vectors.to_float() - X).sum(axis=1))
    spread = np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    assert error.max() < 0.02 * spread


def test_it_is_made_again_from_its_arrays(tmp_path):
    X = np.random.default_rng(3).normal(size=(20, 5)).astype(np.float32)
    vectors = Int8Vectors.from_vectors(X)
    assert len(vectors) == 20
    assert vectors.shape == (20, 5)
    np.save(tmp_path / "values.npy", vectors.values)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    again = Int8Vectors(mapped, vectors.scale.tolist(), vectors.offset.tolist())
    assert np.shares_memory(again.values, mapped)
    for other in (again, pickle.loads(pickle.dumps(vectors))):
        np.testing.assert_array_equal(other.to_float(), vectors.to_float())
    rows = np.array([4, 0])
    np.testing.assert_array_equal(vectors.to_float(rows), vectors.to_float()[rows])


def test_it_does_not_change():
    values = np.zeros((2, 3), np.int8)
    vectors = Int8Vectors(values, np.ones(3), np.zeros(3))
    values[:] = 5
    assert not vectors.to_float().any()
    for name in ("values", "scale", "offset"):
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


ONES = np.ones(3)
VALUES = np.zeros((2, 3), np.int8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Int8Vectors(VALUES * 1.0, ONES, ONES), "int8 matrix.* got float64"),
        (lambda: Int8Vectors(VALUES.tolist(), ONES, ONES), "int8 matrix.* got list"),
        (lambda: Int8Vectors(VALUES[0], ONES, ONES), r"shape \(3,\)"),
        (lambda: Int8Vectors(VALUES[:, :0], [], []), r"shape \(2, 0\)"),
        (lambda: Int8Vectors(VALUES, 1.0, ONES), "scale must hold a number for each"),
        (lambda: Int8Vectors(VALUES, ONES, ONES[:2]), "offset must hold .* 3 features"),
        (lambda: Int8Vectors(VALUES, ONES * np.nan, ONES), "scale must be finite"),
        (lambda: Int8Vectors(VALUES, ONES, ONES * 1e39), "offset must be finite"),
        (
            lambda: Int8Vectors(VALUES, ONES * 1e38, ONES),
            "keep every number in float32",
        ),
        (lambda: Int8Vectors.from_vectors([[1.0], [np.nan]]), "finite, .* in row 1"),
        (lambda: Int8Vectors.from_vectors([[1.0], [1e39]]), "finite, .* in row 1"),
        (lambda: Int8Vectors.from_vectors([["a"]]), "matrix of real numbers"),
        (lambda: Int8Vectors.from_vectors(np.zeros((2, 0))), "must have features"),
    ],
)
def test_mistakes_have_one_clear_line(make, message):
    with pytest.raises(FeatureError, match=message):
        make()
