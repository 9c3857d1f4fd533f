"""What is particular to block-Hadamard encoders; the rest is in test_common."""

import numpy as np
import pytest
from scipy.linalg import block_diag, hadamard

from fewbits.codes import prefix
from fewbits.encoders import BlockHadamardEncoder
from fewbits.errors import ArgumentError


def random_encoder(d, b, size, width=16, n_rounds=2):
    rng = np.random.default_rng(d + b)
    weights = rng.normal(size=(-(-b // size), n_rounds, size, width))
    return BlockHadamardEncoder(weights, rng.normal(size=b), d)


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize(
    ("d", "b", "size"), [(1, 40, 16), (13, 7, 16), (97, 128, 128), (128, 300, 128)]
)
def test_scores_are_products_of_matrices(d, b, size, width):
    encoder = random_encoder(d, b, size, width)
    X = np.random.default_rng(0).normal(size=(5, d)).astype(np.float32)
    expected = []
    for rounds in encoder.weights:
        Z = np.pad(X, ((0, 0), (0, size - d))).astype(float)
        for weights in rounds:
            Z = Z @ block_diag(*weights.reshape(-1, width, width)) @ hadamard(size)
        expected.append(Z)
    scores = np.hstack(expected)[:, :b] + encoder.bias
    tolerance = 1e-5 * np.abs(scores).max()
    np.testing.assert_allclose(encoder.project(X), scores, atol=tolerance)


def test_codes_longer_than_the_features_have_prefixes():
    encoder = random_encoder(30, 200, 32)
    X = np.random.default_rng(0).normal(size=(9, 30))
    for n_bits in (1, 31, 32, 33, 64, 199):
        short = encoder.prefix(n_bits)
        assert len(short.weights) == -(-n_bits // 32)
        np.testing.assert_array_equal(
            short.encode(X), prefix(encoder.encode(X), n_bits)
        )


@pytest.mark.parametrize(
    ("shape", "bias", "message"),
    [
        ((1, 3, 16, 16), np.zeros(17), r"need weights of shape \(2, 1 to 16"),
        ((1, 3, 32, 16), np.zeros(4), r"got \(1, 3, 32, 16\)"),
        ((1, 0, 16, 16), np.zeros(4), r"got \(1, 0, 16, 16\)"),
        ((1, 17, 16, 16), np.zeros(4), r"got \(1, 17, 16, 16\)"),
        ((1, 3, 16, 8), np.zeros(4), r"got \(1, 3, 16, 8\)"),
        ((1, 3, 16), np.zeros(4), r"got \(1, 3, 16\)"),
        ((1, 3, 16, 16), np.zeros((4, 1)), r"shape \(4, 1\)"),
        ((1, 3, 16, 16), [np.nan], "bias must be finite"),
        ((0, 3, 16, 16), [], "bits"),
    ],
)
def test_refuses(shape, bias, message):
    with pytest.raises(ArgumentError, match=message):
        BlockHadamardEncoder(np.zeros(shape), bias, 5)


def test_refuses_weights_that_are_not_finite():
    weights = np.zeros((1, 1, 16, 1))
    weights[0, 0, 3] = np.inf
    with pytest.raises(ArgumentError, match="weights must be finite"):
        BlockHadamardEncoder(weights, np.zeros(4), 5)
