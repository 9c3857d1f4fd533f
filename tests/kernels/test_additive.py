"""Bits chosen together equal the definition, on every instruction set."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from fewbits._kernels import _reference


def problem(seed, n, b, d, kind):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(d, b))
    rows = rng.normal(size=(n, d))
    if kind == "integer":  # many changes gain equally
        vectors, rows = np.round(vectors), np.round(rows)
    gram = (vectors.T @ vectors).astype(np.float32)
    scores = (rows @ vectors).astype(np.float32)
    signs = np.where(scores > 0, 1, -1).astype(np.float32)
    return rows, vectors, gram, scores, (signs @ gram).astype(np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    b=st.integers(1, 70),
    d=st.integers(1, 40),
    kind=st.sampled_from(["normal", "integer"]),
    rounds=st.integers(1, 4),
    threads=st.integers(1, 3),
)
def test_equals_the_definition(every_compiled, seed, n, b, d, kind, rounds, threads):
    _, _, gram, scores, sums = problem(seed, n, b, d, kind)
    expected = scores.copy()
    _reference.additive_scores(expected, sums.copy(), gram, rounds, 1e-3, 1)
    for compiled in every_compiled:
        note(compiled.isa)
        found = scores.copy()
        compiled.additive_scores(found, sums.copy(), gram, rounds, 1e-3, threads)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", [0, 1e-38, 1e30, 3e38])
def test_ends_whatever_the_numbers(compiled, scale):
    _, _, gram, scores, sums = problem(0, 9, 33, 20, "normal")
    with np.errstate(over="ignore"):
        scores = (scores * np.float32(scale)).astype(np.float32)
    expected = scores.copy()
    _reference.additive_scores(expected, sums.copy(), gram, 3, 1e-3, 1)
    compiled.additive_scores(scores, sums, gram, 3, 1e-3, 2)
    np.testing.assert_array_equal(scores, expected)


def test_no_single_change_brings_the_sum_nearer(kernel):
    rows, vectors, gram, scores, sums = problem(1, 30, 24, 16, "normal")
    before = np.where(scores > 0, 1.0, -1.0)
    kernel.additive_scores(scores, sums, gram, 1, 1e-3, 1)
    bits = np.where(scores > 0, 1.0, -1.0)

    def distance(bits):
        return np.square(rows - bits @ vectors.T).sum(axis=1)

    assert (distance(bits) <= distance(before) + 1e-2).all()
    assert distance(bits).mean() < 0.8 * distance(before).mean()
    for j in range(24):
        changed = bits.copy()
        changed[:, j] *= -1
        assert (distance(changed) >= distance(bits) - 1e-2).all()


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 9),
    b=st.integers(1, 300),
    largest=st.sampled_from([1, 127]),
    threads=st.integers(1, 3),
)
def test_pair_sums_are_those_of_their_definition(kernels, seed, n, b, largest, threads):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, b))
    if seed % 4 == 0:
        bits[:] = seed % 8 == 0
    products = np.zeros((b, -(-b // 64) * 64), np.int8)
    low = -largest if seed % 3 else largest
    products[:, :b] = np.triu(rng.integers(low, largest, (b, b), endpoint=True), 1)
    codes = np.packbits(bits.astype(np.uint8), axis=1)
    signs = 2 * bits - 1
    expected = ((signs @ products[:, :b].astype(np.int64)) * signs).sum(axis=1)
    for name, kernel in kernels.items():
        note(name)
        found = np.full(n, -1, np.int64)
        kernel.pair_sums(products, codes, found, threads)
        np.testing.assert_array_equal(found, expected)
