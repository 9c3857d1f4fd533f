"""Scores equal their definition to the last bit, on every instruction set."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from fewbits._kernels import _reference
from fewbits._kernels._reference_encode import fused_multiply_add

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1.1754944e-38, 1e-30, 1e19, -1e38, 3.4e38],
    np.float32,
)


@st.composite
def numbers(draw, shape):
    """Ordinary floats, small integers that cancel, or values at the ends of float32."""
    kind = draw(st.sampled_from(["normal", "integer", "special"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if kind == "special":
        return rng.choice(SPECIAL, shape)
    values = rng.normal(size=shape)
    return np.round(values) if kind == "integer" else values


@st.composite
def problems(draw):
    n, d, b = (
        draw(st.integers(0, 70)),
        draw(st.integers(1, 40)),
        draw(st.integers(1, 200)),
    )
    arrays = [draw(numbers(shape)) for shape in ((n, d), (d, b), (b,))]
    X, weights, bias = (array.astype(np.float32) for array in arrays)
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kept = rng.random((b, d)) < density
    return X, weights, bias, kept, draw(st.integers(0, 1)), draw(st.integers(1, 3))


def large_problem():
    """Return weights for sums that several threads share."""
    weights = np.random.default_rng(0).normal(size=(70, 40)).astype(np.float32)
    return weights, None, np.zeros(3, np.float32), None, 0, 3


def csr(weights, kept):
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    indices = np.nonzero(kept)[1].astype(np.int32)
    return indptr.astype(np.int64), indices, np.ascontiguousarray(weights.T)[kept]


def same(a, b):
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def outputs(n, b):
    return np.empty((n, b), np.float32), np.full((n, -(-b // 8)), 255, np.uint8)


@given(problem=problems())
def test_linear_kernels_equal_the_definition(kernels, problem):
    X, weights, bias, _, zero_bit, threads = problem
    expected, _ = outputs(len(X), len(bias))
    _reference.linear_scores(X, weights, bias, expected, 1)
    bits = expected >= 0 if zero_bit else expected > 0
    for name, kernel in kernels.items():
        note(name)
        scores, codes = outputs(len(X), len(bias))
        kernel.linear_scores(X, weights, bias, scores, threads)
        kernel.linear_encode(X, weights, bias, zero_bit, codes, threads)
        same(scores, expected)
        same(codes, np.packbits(bits, axis=1))


@given(problem=problems())
def test_sparse_kernels_equal_the_definition(kernels, problem):
    X, weights, bias, kept, zero_bit, threads = problem
    matrix = *csr(weights, kept), bias, X.shape[1]
    expected, _ = outputs(len(X), len(bias))
    _reference.sparse_scores(X, _reference.SparseMap(*matrix), expected, 1)
    bits = expected >= 0 if zero_bit else expected > 0
    for name, kernel in kernels.items():
        note(name)
        scores, codes = outputs(len(X), len(bias))
        kernel.sparse_scores(X, kernel.SparseMap(*matrix), scores, threads)
        kernel.sparse_encode(X, kernel.SparseMap(*matrix), zero_bit, codes, threads)
        same(scores, expected)
        same(codes, np.packbits(bits, axis=1))


@cache
def of_several_blocks(n, d, b):
    """Return features, a dense map, a sparse one, and the scores of both."""
    rng = np.random.default_rng(0)
    X, weights = (rng.normal(size=s).astype(np.float32) for s in ((n, d), (d, b)))
    bias, kept = rng.normal(size=b).astype(np.float32), rng.random((b, d)) < 0.1
    matrix = *csr(weights, kept), bias, d
    dense, sparse = np.empty((2, n, b), np.float32)
    _reference.linear_scores(X, weights, bias, dense, 1)
    _reference.sparse_scores(X, _reference.SparseMap(*matrix), sparse, 1)
    return X, (weights, bias), matrix, dense, sparse


@pytest.mark.parametrize("shape", [(7, 1100, 40), (1, 600, 1300), (70, 300, 1100)])
def test_blocks_of_features_and_outputs_change_nothing(compiled, shape):
    X, plane, matrix, dense, sparse = of_several_blocks(*shape)
    scores, _ = outputs(*dense.shape)
    compiled.linear_scores(X, *plane, scores, 2)
    same(scores, dense)
    compiled.sparse_scores(X, compiled.SparseMap(*matrix), scores, 2)
    same(scores, sparse)


@pytest.mark.parametrize("d", [65_535, 65_536])
@pytest.mark.parametrize("skewed", [False, True])
def test_single_rows_of_every_layout(compiled, d, skewed):
    rng = np.random.default_rng(d)
    lengths = rng.integers(0, 40, size=70)
    if skewed:
        lengths[7] = 5000  # most of a woven block would be filling
    indices = [np.sort(rng.choice(d, n, replace=False)) for n in lengths]
    indices[0] = np.array([0, d - 1])
    indptr = np.cumsum([0, *map(len, indices)])
    values = rng.choice(SPECIAL[:8], size=indptr[-1])
    bias = np.where(np.arange(70) % 2, np.float32(-0.0), np.float32(0.5))
    matrix = indptr, np.concatenate(indices).astype(np.int32), values, bias, d
    X = rng.choice(SPECIAL[:9], size=(2, d))
    expected, scores = np.empty((2, 2, 70), np.float32)

    _reference.sparse_scores(X, _reference.SparseMap(*matrix), expected, 1)
    sparse_map = compiled.SparseMap(*matrix)
    for n in (1, 2):
        compiled.sparse_scores(X[:n], sparse_map, scores[:n], 1)
        same(scores[:n], expected[:n])


@given(problem=problems(), n_candidates=st.integers(0, 20))
def test_asymmetric_distances_equal_the_definition(
    every_compiled, problem, n_candidates
):
    scores, _, bias, _, _, threads = problem
    b, rng = scores.shape[1], np.random.default_rng(len(bias))
    database = np.packbits(rng.random((9, b)) < 0.5, axis=1)
    rows = rng.integers(-1, 9, size=(len(scores), n_candidates))
    expected = np.empty(rows.shape, np.float32)
    _reference.asymmetric_distances(scores, database, rows, expected, 1)
    for compiled in every_compiled:
        note(compiled.isa)
        found = np.empty_like(expected)
        compiled.asymmetric_distances(scores, database, rows, found, threads)
        same(found, expected)


@given(problem=problems(), n_codes=st.sampled_from([0, 1, 9, 70]))
@example(problem=large_problem(), n_codes=2500)
def test_bit_sums_equal_the_definition(every_compiled, problem, n_codes):
    weights, _, bias, _, _, threads = problem
    n_bits, rng = weights.shape[1], np.random.default_rng(len(bias))
    codes = np.packbits(rng.random((n_codes, n_bits)) < 0.5, axis=1)
    expected = np.empty((len(weights), n_codes), np.float32)
    _reference.bit_sums(weights, codes, expected, 1)
    for compiled in every_compiled:
        note(compiled.isa)
        found = np.empty_like(expected)
        compiled.bit_sums(weights, codes, found, threads)
        same(found, expected)


def test_bit_sums_of_known_codes(kernel):
    weights = np.array([[1, 2, 4, 8, 16, 32, 64, 128, -256]], np.float32)
    codes = np.array([[0b10000001, 0b10000000], [0b01000000, 0], [0, 0]], np.uint8)
    sums = np.empty((1, 3), np.float32)
    kernel.bit_sums(weights, codes, sums, 1)
    assert sums.tolist() == [[-127, 2, 0]]


def test_asymmetric_distance_of_a_known_pair(kernel):
    scores = np.array([[0.5, -2.0, 4.0, 0.0, 8.0, 1.0, 1.0, 1.0, -16.0]], np.float32)
    database = np.array([[0b10111111, 0], [0b01000000, 0b10000000]], np.uint8)
    distances = np.empty((1, 3), np.float32)
    kernel.asymmetric_distances(scores, database, np.array([[1, -1, 0]]), distances, 1)
    assert distances.tolist() == [[33.5, np.inf, 0.0]]


def float32_of(exact):
    """Round a fraction to the nearest float32, ties to even, by whole numbers only."""
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - 23, -149)
    rounded = round(size / unit) * unit  # round() of a fraction takes ties to even
    if rounded >= Fraction(2) ** 128:
        return float("inf") if exact > 0 else -float("inf")
    return float(rounded) if exact > 0 else -float(rounded)


def float32s():
    return st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=100)
@given(x=float32s(), w=float32s(), total=float32s(), ulps=st.integers(-3, 3))
def test_reference_rounds_each_step_once(x, w, total, ulps):
    near = float32_of(-Fraction(x) * Fraction(w))
    for start in (total, near):
        if not np.isfinite(start):
            continue
        addend = (np.array([start], np.float32).view(np.int32) + ulps).view(np.float32)
        if np.isfinite(addend[0]):
            exact = Fraction(x) * Fraction(w) + Fraction(float(addend[0]))
            factors = (np.array([factor], np.float32) for factor in (x, w))
            found = fused_multiply_add(*factors, addend)
            assert float(found[0]) == float32_of(exact)


@pytest.mark.parametrize(
    ("x", "w", "total"),
    [
        (1 + 2**-23, 1 + 2**-23, 2**-80),  # far below half a unit: breaks a tie
        (1 + 2**-12, 1 + 2**-12, -(2.0**-90)),
        (2.0**-75, 2.0**-75, 0.0),  # half the smallest number: a tie to zero
        (2.0**-75, 1.5 * 2.0**-75, 0.0),  # above the tie
        (2.0**-100, 2.0**-100, -(2.0**-149)),
        (2.0**127, 2.0, -(2.0**104)),  # just below the overflow
        (2.0**64, 2.0**64, -(2.0**103)),  # a tie at the overflow
        (3.0, 2.0**-149, -(2.0**-126)),
        (1 + 2**-23, -1 + 2**-24, 1.0),  # cancels to the last bits
    ],
)
def test_reference_at_the_edges(x, w, total):
    exact = Fraction(x) * Fraction(w) + Fraction(total)
    arrays = (np.array([value], np.float32) for value in (x, w, total))
    assert float(fused_multiply_add(*arrays)[0]) == float32_of(exact)
