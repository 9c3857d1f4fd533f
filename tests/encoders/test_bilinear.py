"""What is particular to bilinear encoders; the rest is in test_common."""

import numpy as np
import pytest

from fewbits.encoders import BilinearEncoder
from fewbits.errors import ArgumentError


@pytest.mark.parametrize(
    ("shapes", "d", "b"),
    [
        (((1, 1), (1, 3)), 1, 3),
        (((4, 5), (6, 7)), 24, 35),
        (((4, 5), (6, 7)), 21, 31),
        (((2, 9), (3, 9)), 5, 80),
    ],
)
def test_scores_are_products_from_both_sides(shapes, d, b):
    rng = np.random.default_rng(b)
    left, right = (rng.normal(size=shape) for shape in shapes)
    bias, X = rng.normal(size=b), rng.normal(size=(300, d)).astype(np.float32)
    encoder = BilinearEncoder(left, right, bias, d)
    padded = np.pad(X, ((0, 0), (0, len(left) * len(right) - d)))
    Z = padded.reshape(-1, len(left), len(right))
    scores = (left.T @ Z @ right).transpose(0, 2, 1).reshape(300, -1)
    np.testing.assert_allclose(encoder.project(X), scores[:, :b] + bias, atol=1e-4)
    kron = np.kron(right, left).reshape(len(right), len(left), -1).swapaxes(0, 1)
    np.testing.assert_allclose(padded @ kron.reshape(padded.shape[1], -1), scores)


@pytest.mark.parametrize(
    ("left", "right", "bias", "d", "message"),
    [
        (np.zeros(3), np.zeros((3, 1)), [0], 9, r"got left \(3,\)"),
        (np.zeros((3, 0)), np.zeros((3, 1)), [0], 9, r"got left \(3, 0\)"),
        (np.zeros((3, 1)), np.zeros((3, 1)), [0], 6, "need 7 to 9"),
        (np.zeros((3, 1)), np.zeros((3, 1)), [0], 10, "need 7 to 9"),
        (np.zeros((3, 2)), np.zeros((3, 2)), [0, 0], 9, "need 1 columns of right"),
        (np.full((3, 1), np.nan), np.zeros((3, 1)), [0], 9, "finite in float32"),
        (np.zeros((3, 1)), np.zeros((3, 1)), [np.inf], 9, "finite in float32"),
        (np.zeros((3, 1)), np.zeros((3, 0)), [], 9, "bits"),
    ],
)
def test_refuses(left, right, bias, d, message):
    with pytest.raises(ArgumentError, match=message):
        BilinearEncoder(left, right, bias, d)
