"""What is particular to Hadamard encoders; the rest is in test_common."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from fewbits.codes import prefix
from fewbits.encoders import HadamardEncoder
from fewbits.errors import ArgumentError


def random_encoder(d, b, size, n_rounds=3):
    rng = np.random.default_rng(d + b)
    signs = rng.integers(0, 256, (-(-b // size), n_rounds, size // 8))
    return HadamardEncoder(signs, rng.normal(size=b), d)


@pytest.mark.parametrize(
    ("d", "b", "size"), [(1, 40, 16), (13, 7, 16), (97, 128, 128), (128, 300, 128)]
)
def test_scores_are_products_of_matrices(d, b, size):
    encoder = random_encoder(d, b, size)
    X = np.random.default_rng(0).normal(size=(5, d)).astype(np.float32)
    H = hadamard(size) / np.sqrt(size)
    expected = []
    for rounds in np.unpackbits(encoder.signs, axis=2):
        Z = np.pad(X, ((0, 0), (0, size - d)))
        for signs in rounds:
            Z = (Z * (1.0 - 2.0 * signs)) @ H
        expected.append(Z)
    np.testing.assert_allclose(
        encoder.project(X), np.hstack(expected)[:, :b] + encoder.bias, atol=1e-5
    )


def test_codes_longer_than_the_features_have_prefixes():
    encoder = random_encoder(30, 200, 32)
    X = np.random.default_rng(0).normal(size=(9, 30))
    for n_bits in (1, 31, 32, 33, 64, 199):
        short = encoder.prefix(n_bits)
        assert len(short.signs) == -(-n_bits // 32)
        np.testing.assert_array_equal(
            short.encode(X), prefix(encoder.encode(X), n_bits)
        )


@pytest.mark.parametrize(
    ("signs", "bias", "d", "message"),
    [
        (
            np.zeros((1, 3, 2), np.uint8),
            np.zeros(17),
            5,
            r"need signs of shape \(2, 1 to 16",
        ),
        (np.zeros((1, 3, 4), np.uint8), np.zeros(4), 5, r"got \(1, 3, 4\)"),
        (np.zeros((1, 0, 2), np.uint8), np.zeros(4), 5, r"got \(1, 0, 2\)"),
        (np.zeros((1, 17, 2), np.uint8), np.zeros(4), 5, r"got \(1, 17, 2\)"),
        (np.zeros((1, 3, 2), np.uint8), np.zeros((4, 1)), 5, r"shape \(4, 1\)"),
        (np.zeros((1, 3, 2), np.uint8), [np.nan], 5, "bias must be finite"),
        (
            np.zeros((1, 3, 2), np.uint8),
            np.zeros(4),
            0,
            "need 1 to .* features for a transform, got 0",
        ),
        (np.full((1, 3, 2), 0.7), np.zeros(4), 5, "need whole numbers"),
        (np.full((1, 3, 2), 1j), np.zeros(4), 5, "need whole numbers"),
        ("a", np.zeros(4), 5, "need whole numbers"),
        ([[[1, 2], [3]]], np.zeros(4), 5, "rows of different lengths"),
        (np.zeros((1, 3, 2), np.uint8), np.zeros(4), [3, 4], "must be one number"),
        (np.full((1, 3, 2), 256), np.zeros(4), 5, "too large for uint8"),
        (np.zeros((0, 3, 2), np.uint8), [], 5, "bits"),
        (np.zeros((4097, 1, 2), np.uint8), np.zeros(65_537), 5, "65537"),
    ],
)
def test_refuses(signs, bias, d, message):
    with pytest.raises(ArgumentError, match=message):
        HadamardEncoder(signs, bias, d)
