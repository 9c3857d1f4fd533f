"""Fast transforms equal their definition to the last bit, on every instruction set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag, hadamard

from fewbits._kernels import _reference

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-38, 3e38], np.float32)


def numbers(rng, shape, kind):
    """Ordinary floats, small integers that cancel, or values at the ends of float32."""
    if kind == "special":
        return rng.choice(SPECIAL, shape)
    values = rng.normal(size=shape).astype(np.float32)
    return np.round(values) if kind == "integer" else values


@st.composite
def problems(draw, largest=10):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = 2 ** draw(st.integers(4, largest))
    d, b = draw(st.integers(1, size)), draw(st.integers(1, 3 * size))
    n, kind = (
        draw(st.integers(0, 5)),
        draw(st.sampled_from(["normal", "integer", "special"])),
    )
    X, bias = numbers(rng, (n, d), kind), numbers(rng, b, kind)
    return rng, size, X, bias, draw(st.integers(0, 1)), draw(st.integers(1, 3))


def check(kernels, name, arguments, n, b, zero_bit, threads):
    """Compare scores and codes of each with those of the reference."""
    expected = np.empty((n, b), np.float32)
    getattr(_reference, f"{name}_scores")(*arguments, expected, 1)
    number = ~np.isnan(expected)  # there is more than one NaN, and more than one zero
    signs = np.signbit(expected)[number]
    bits = np.packbits(expected >= 0 if zero_bit else expected > 0, axis=1)
    for isa, kernel in kernels.items():
        codes = np.full((n, -(-b // 8)), 255, np.uint8)
        getattr(kernel, f"{name}_encode")(*arguments, zero_bit, codes, threads)
        np.testing.assert_array_equal(codes, bits, isa)
        if isa != "numpy":
            scores = np.empty((n, b), np.float32)
            getattr(kernel, f"{name}_scores")(*arguments, scores, threads)
            np.testing.assert_array_equal(scores, expected, isa)
            np.testing.assert_array_equal(np.signbit(scores)[number], signs, isa)


def check_compiled(kernels, *arguments):
    """Compare all but NumPy's codes, where these take long."""
    check({isa: kernels[isa] for isa in kernels if isa != "numpy"}, *arguments)


@given(problem=problems(), n_rounds=st.integers(1, 3))
def test_hadamard_equals_the_definition(kernels, problem, n_rounds):
    rng, size, X, bias, zero_bit, threads = problem
    n_series = -(-len(bias) // size)
    signs = rng.choice(np.float32([-1, 1]), (n_series, n_rounds, size, 1))
    diagonals = signs / np.float32(np.sqrt(size))
    arguments = X, diagonals, bias
    check(kernels, "hadamard", arguments, len(X), len(bias), zero_bit, threads)


@given(
    problem=problems(largest=8),
    n_rounds=st.integers(1, 3),
    kind=st.sampled_from(["normal", "integer", "special"]),
)
def test_hadamard_with_blocks_equals_the_definition(kernels, problem, n_rounds, kind):
    rng, size, X, bias, zero_bit, threads = problem
    weights = numbers(rng, (-(-len(bias) // size), n_rounds, size, 16), kind)
    arguments = X, weights, bias
    check(kernels, "hadamard", arguments, len(X), len(bias), zero_bit, threads)


@pytest.mark.parametrize(("size", "width"), [(2**12, 16), (2**13, 1), (2**16, 1)])
def test_large_hadamard_equals_the_definition(kernels, size, width):
    rng = np.random.default_rng(size)
    X = rng.normal(size=(3, size - 5)).astype(np.float32)
    weights = rng.choice(np.float32([-1, 1]), (1, 2, size, width))
    bias = rng.normal(size=size - 9).astype(np.float32)
    check_compiled(kernels, "hadamard", (X, weights, bias), 3, len(bias), 1, 2)


def test_hadamard_is_the_matrix_of_sylvester(kernel):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, (3, 64)).astype(np.float32)
    diagonals = rng.choice(np.float32([-1, 1]), (1, 1, 64, 1))
    scores = np.empty((3, 64), np.float32)
    kernel.hadamard_scores(X, diagonals, np.zeros(64, np.float32), scores, 1)
    signs = diagonals[0, 0, :, 0]
    np.testing.assert_array_equal(scores, (X * signs) @ hadamard(64))


def test_blocks_are_those_of_a_block_diagonal_matrix(kernel):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, (3, 40)).astype(np.float32)
    weights = rng.integers(-9, 9, (1, 1, 64, 16)).astype(np.float32)
    scores = np.empty((3, 64), np.float32)
    kernel.hadamard_scores(X, weights, np.zeros(64, np.float32), scores, 1)
    matrix = block_diag(*weights.reshape(4, 16, 16))[:40]
    np.testing.assert_array_equal(scores, X @ matrix @ hadamard(64))


@given(problem=problems())
def test_circulant_equals_the_definition(kernels, problem):
    rng, size, X, bias, zero_bit, threads = problem
    diagonal, spectra = circulants(rng, size, X.shape[1], len(bias))
    roots = rng.normal(size=(2, size)).astype(np.float32)
    arguments = X, diagonal, roots, spectra, bias
    check(kernels, "circulant", arguments, len(X), len(bias), zero_bit, threads)


@pytest.mark.parametrize("size", [2**12, 2**13])
def test_large_circulant_equals_the_definition(kernels, size):
    rng = np.random.default_rng(size)
    X = rng.normal(size=(3, size - 5)).astype(np.float32)
    bias = rng.normal(size=size + 9).astype(np.float32)
    roots = rng.normal(size=(2, size)).astype(np.float32)
    arguments = X, *circulants(rng, size, size - 5, size + 9), bias
    arguments = *arguments[:2], roots, *arguments[2:]
    check_compiled(kernels, "circulant", arguments, 3, len(bias), 1, 2)


def circulants(rng, size, d, b):
    spectra = rng.normal(size=(-(-b // d), 2, size)).astype(np.float32)
    return rng.choice(np.float32([-1, 1]), d), spectra


@st.composite
def sides(draw, most=40):
    """Left and right matrices, and how many features and bits they are for."""
    d1, d2, b1, b2 = (draw(st.integers(1, most)) for _ in range(4))
    d = d1 * d2 - draw(st.integers(0, d2 - 1))
    return d1, d2, b1, b2, d, b1 * b2 - draw(st.integers(0, b1 - 1))


@given(
    shape=sides(),
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 5),
    kind=st.sampled_from(["normal", "integer", "special"]),
    zero_bit=st.integers(0, 1),
    threads=st.integers(1, 3),
)
def test_bilinear_equals_the_definition(
    kernels, shape, seed, n, kind, zero_bit, threads
):
    d1, d2, b1, b2, d, b = shape
    rng = np.random.default_rng(seed)
    shapes = (n, d), (d1, b1), (d2, b2), b
    arguments = [numbers(rng, each, kind) for each in shapes]
    check(kernels, "bilinear", arguments, n, b, zero_bit, threads)


@pytest.mark.parametrize("shape", [(64, 64, 64, 64), (1, 300, 3, 500), (300, 1, 70, 9)])
def test_large_bilinear_is_two_products(kernel, shape):
    d1, d2, b1, b2 = shape
    rng = np.random.default_rng(0)
    n = 2 if kernel.isa == "numpy" else 70
    X, left, right = (
        rng.integers(-9, 10, size).astype(np.float32)
        for size in ((n, d1 * d2), (d1, b1), (d2, b2))
    )
    scores = np.empty((n, b1 * b2), np.float32)
    kernel.bilinear_scores(X, left, right, np.zeros(b1 * b2, np.float32), scores, 2)
    products = left.T @ X.reshape(-1, d1, d2) @ right
    np.testing.assert_array_equal(scores, products.transpose(0, 2, 1).reshape(n, -1))


@st.composite
def block_maps(draw):
    """Draw features, the shapes of blocks, and where these start."""
    d = draw(st.integers(1, 60))
    shapes = draw(
        st.lists(
            st.tuples(st.integers(1, d), st.integers(1, 70)), min_size=1, max_size=5
        )
    )
    starts = [np.cumsum([0, *each]) for each in zip(*shapes, strict=True)]
    return d, shapes, *starts


@given(
    shape=block_maps(),
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    kind=st.sampled_from(["normal", "integer", "special"]),
    zero_bit=st.integers(0, 1),
    threads=st.integers(1, 3),
)
def test_blocks_equal_the_definition(kernels, shape, seed, n, kind, zero_bit, threads):
    d, shapes, feature_starts, bit_starts = shape
    rng = np.random.default_rng(seed)
    features = [np.sort(rng.choice(d, m, replace=False)) for m, _ in shapes]
    b, size = bit_starts[-1], sum(m * bits for m, bits in shapes)
    # What lies behind the weights is read, and changes nothing.
    weights = np.append(numbers(rng, size, kind), np.full(16, np.nan, np.float32))
    arguments = [
        numbers(rng, (n, d), kind),
        np.concatenate(features).astype(np.int32),
        feature_starts,
        bit_starts,
        weights,
        numbers(rng, b, kind),
    ]
    check(kernels, "block", arguments, n, b, zero_bit, threads)
