"""Distances of a shortlist equal their definition to the last bit."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from fewbits._kernels import _reference

EUCLIDEAN, COSINE, DOT = METRICS = range(3)
DTYPES = [np.float64, np.float32, np.float16]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-7, 6e-8, 6.1e-5, 65504.0, 1e-40, 3.4e38, 1e-300]


@st.composite
def problems(draw):
    """Ordinary numbers, integers that cancel, or the ends of each type."""
    n, m, stored = draw(st.integers(0, 4)), draw(st.integers(0, 20)), 9
    d = draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "integer", "special"]))

    def numbers(shape):
        if kind == "special":
            return rng.choice(SPECIAL, shape)
        values = rng.normal(size=shape)
        return np.round(values) if kind == "integer" else values

    rows = rng.integers(-1, stored, size=(n, m))
    return numbers((n, d)), numbers((stored, d)), rows, draw(st.integers(1, 3))


def stored_as(vectors, dtype):
    with np.errstate(over="ignore"):
        vectors = vectors.astype(dtype)
    vectors[~np.isfinite(vectors)] = 1
    return vectors.view(np.uint16) if dtype == np.float16 else vectors


def same(a, b):
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def distances(module, queries, vectors, rows, metric, threads=1):
    found = np.full(rows.shape, 7, np.float32)
    module.vector_distances(queries, vectors, rows, metric, found, threads)
    return found


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(), dtype=st.sampled_from(DTYPES))
def test_distances_equal_the_definition(every_compiled, metric, problem, dtype):
    queries, vectors, rows, threads = problem
    vectors = stored_as(vectors, dtype)
    expected = distances(_reference, queries, vectors, rows, metric)
    assert np.isinf(expected[rows < 0]).all()
    for compiled in every_compiled:
        note(compiled.isa)
        same(distances(compiled, queries, vectors, rows, metric, threads), expected)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_int8_stands_for_float32(kernels, metric, problem, seed):
    queries, vectors, rows, threads = problem
    rng = np.random.default_rng(seed)
    values = rng.integers(-128, 128, vectors.shape, dtype=np.int8)
    shape = len(values), -(-values.shape[1] // 32), 2
    blocks = rng.choice(vectors.ravel(), shape).astype(np.float32) / 256
    scales, offsets = np.repeat(blocks, 32, axis=1)[:, : values.shape[1]].T
    decoded = values.astype(np.float32) * scales.T + offsets.T
    expected = distances(_reference, queries, decoded, rows, metric)
    for name, kernel in kernels.items():
        note(name)
        found = np.full(rows.shape, 7, np.float32)
        kernel.int8_distances(queries, values, blocks, rows, metric, found, threads)
        same(found, expected)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_right(metric):
    """Against exact fractions, with an error of the rounding to float32 alone."""
    rng = np.random.default_rng(3)
    query = rng.normal(size=(1, 37))
    vectors = np.concatenate([rng.normal(size=(5, 37)), query + 1e-6]).astype("f4")
    rows = np.arange(6)[None]
    found = distances(_reference, query, vectors, rows, metric)[0]
    q = [Fraction(x) for x in query[0].tolist()]
    for row, value in zip(vectors, found, strict=True):
        d = [Fraction(x) for x in row.tolist()]
        product = sum(a * b for a, b in zip(q, d, strict=True))
        if metric == EUCLIDEAN:
            squares = sum((a - b) ** 2 for a, b in zip(q, d, strict=True))
            expected = math.sqrt(squares)
        elif metric == DOT:
            expected = -float(product)
        else:
            squared = sum(a * a for a in q) * sum(b * b for b in d)
            expected = float(1 - product / Fraction(math.sqrt(squared)))
        assert math.isclose(value, expected, rel_tol=1e-7, abs_tol=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_query_alone_and_any_threads_have_the_same_bits(kernel, metric, dtype):
    rng = np.random.default_rng(0)
    queries, vectors = rng.normal(size=(5, 401)), rng.normal(size=(99, 401))
    vectors = stored_as(vectors, dtype)
    n = 20 if kernel.isa == "numpy" else 3000  # enough for several threads
    rows = rng.integers(-1, 99, (5, n))
    whole = distances(kernel, queries, vectors, rows, metric, 3)
    for q in range(5):
        one = slice(q, q + 1)
        same(whole[one], distances(kernel, queries[one], vectors, rows[one], metric))
        few = np.ascontiguousarray(rows[one, 7:8])
        alone = distances(kernel, queries[one], vectors, few, metric)
        same(whole[one, 7:8].copy(), alone)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_is_nan(kernel, metric, dtype):
    rows = np.array([[0, 1, -1]])
    for bad, place in product([np.nan, np.inf, -np.inf], [0, 18]):
        vectors = np.ones((3, 19), dtype)
        vectors[1, place] = bad
        stored = vectors.view(np.uint16) if dtype == np.float16 else vectors
        for query in (np.ones((1, 19)), np.zeros((1, 19))):
            found = distances(kernel, query, stored, rows, metric)[0]
            assert np.isfinite(found[0])
            assert np.isnan(found[1])
            assert np.isposinf(found[2])


def test_every_half_is_read(kernel):
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    vectors = halves[:, None].view(np.uint16)
    rows = np.arange(len(halves))[None]
    found = distances(kernel, np.ones((1, 1)), vectors, rows, DOT)
    np.testing.assert_array_equal(found[0], -halves.astype(np.float32))


@given(
    shape=st.tuples(st.integers(0, 4), st.integers(1, 40)),
    seed=st.integers(0, 2**32),
    threads=st.integers(1, 3),
    data=st.data(),
)
def test_first_pairs_equal_sorting(kernels, shape, seed, threads, data):
    rng = np.random.default_rng(seed)
    some = np.array([-0.0, 0.0, 1.0, 1e-45, -3.0, np.inf, -np.inf], np.float32)
    values = rng.choice(some, shape)
    rows = rng.integers(-1, 2**40, shape) >> rng.integers(0, 39, shape)
    k = data.draw(st.integers(1, shape[1]))
    expected = []
    for q in range(shape[0]):
        pairs = sorted(
            (float(value), math.inf if row < 0 else int(row))
            for value, row in zip(values[q], rows[q], strict=True)
        )[:k]
        expected += [(value, -1 if row == math.inf else row) for value, row in pairs]
    for name, kernel in kernels.items():
        note(name)
        found = np.empty((shape[0], k), np.float32), np.empty((shape[0], k), np.int64)
        kernel.first_pairs(values, rows, *found, threads)
        assert [*zip(*(x.ravel().tolist() for x in found), strict=True)] == expected


def test_many_pairs_on_many_threads(compiled):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, (30, 2000)).astype(np.float32)
    rows = rng.integers(-1, 1000, (30, 2000))
    expected = np.empty((30, 9), np.float32), np.empty((30, 9), np.int64)
    found = np.empty_like(expected[0]), np.empty_like(expected[1])
    _reference.first_pairs(values, rows, *expected, 1)
    compiled.first_pairs(values, rows, *found, 3)
    same(found[0], expected[0])
    same(found[1], expected[1])
