"""What is particular to circulant encoders; the rest is in test_common."""

import numpy as np
import pytest
from scipy.linalg import circulant

from fewbits.codes import prefix
from fewbits.encoders import CirculantEncoder
from fewbits.errors import ArgumentError


def random_encoder(d, b):
    rng = np.random.default_rng(d + b)
    columns = rng.normal(size=(-(-b // d), d))
    signs = np.packbits(rng.random(d) < 0.5)
    return CirculantEncoder(columns, signs, rng.normal(size=b))


@pytest.mark.parametrize(
    ("d", "b"),
    [(1, 1), (1, 9), (2, 5), (13, 13), (97, 40), (97, 200), (64, 64), (1000, 2500)],
)
def test_scores_are_products_of_matrices(d, b):
    encoder = random_encoder(d, b)
    X = np.random.default_rng(0).normal(size=(5, d)).astype(np.float32)
    signs = 1.0 - 2.0 * np.unpackbits(encoder.signs, count=d)
    scores = [(X * signs) @ circulant(column).T for column in encoder.columns]
    np.testing.assert_allclose(
        encoder.project(X), np.hstack(scores)[:, :b] + encoder.bias, atol=1e-5 * d**0.5
    )


def test_codes_longer_than_the_features_have_prefixes():
    encoder = random_encoder(29, 200)
    X = np.random.default_rng(0).normal(size=(9, 29))
    for n_bits in (1, 28, 29, 30, 58, 199):
        short = encoder.prefix(n_bits)
        assert len(short.columns) == -(-n_bits // 29)
        np.testing.assert_array_equal(
            short.encode(X), prefix(encoder.encode(X), n_bits)
        )


@pytest.mark.parametrize(
    ("columns", "signs", "bias", "message"),
    [
        (np.zeros(9), np.zeros(2, np.uint8), np.zeros(9), r"got columns \(9,\)"),
        (
            np.zeros((1, 9)),
            np.zeros(2, np.uint8),
            np.zeros(10),
            "need 2 columns and 2 bytes",
        ),
        (
            np.zeros((1, 9)),
            np.zeros(1, np.uint8),
            np.zeros(9),
            r"got 1 and shape \(1,\)",
        ),
        (np.zeros((1, 0)), np.zeros(0, np.uint8), np.zeros(1), r"got columns \(1, 0\)"),
        (np.zeros((1, 9)), [0.7, 0], np.zeros(9), "need whole numbers"),
        (
            np.full((1, 9), np.inf),
            np.zeros(2, np.uint8),
            np.zeros(9),
            "finite in float32",
        ),
        (
            np.zeros((1, 9)),
            np.zeros(2, np.uint8),
            np.full(9, np.nan),
            "finite in float32",
        ),
        (np.zeros((0, 9)), np.zeros(2, np.uint8), [], "bits"),
        (np.zeros((7282, 9)), np.zeros(2, np.uint8), np.zeros(65_537), "65537"),
    ],
)
def test_refuses(columns, signs, bias, message):
    with pytest.raises(ArgumentError, match=message):
        CirculantEncoder(columns, signs, bias)
