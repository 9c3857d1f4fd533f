"""Kernels with anchors, and what is made of them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fewbits.encoders import AnchorEncoder, KernelMapEncoder, LinearEncoder, load
from fewbits.encoders._elementary import exp
from fewbits.errors import ArgumentError

_rng = np.random.default_rng(0)
MEAN = _rng.normal(size=7) * 50
ANCHORS = _rng.normal(size=(9, 7))
INNER = LinearEncoder(_rng.normal(size=(9, 11)), _rng.normal(size=11) / 9)


def make(**parameters):
    given = {"inner": INNER, "anchors": ANCHORS, "mean": MEAN, "gamma": 0.2}
    return AnchorEncoder(**{**given, **parameters})


@pytest.mark.parametrize("gamma", [0, 0.01, 0.2, 5])
def test_scores_are_of_gaussian_kernels(gamma):
    X = (MEAN + _rng.normal(size=(50, 7))).astype(np.float32)
    kernels = np.exp(-gamma * cdist(X - MEAN, ANCHORS, "sqeuclidean"))
    expected = kernels @ INNER.weights + INNER.bias
    np.testing.assert_allclose(make(gamma=gamma).project(X), expected, atol=3e-5)


def test_exponential():
    x = np.concatenate([np.linspace(-800, 700, 9999), [-np.inf, -0.0, 1e-300]])
    expected = np.exp(x)
    np.testing.assert_allclose(exp(x), expected, rtol=3e-13, atol=5e-324)


@pytest.mark.parametrize("size", [1e20, 3e38])
def test_what_is_too_far_for_float32_is_near_no_anchor(size):
    X = size * np.sign(_rng.normal(size=(20, 7)))
    scores = make().project(X)
    np.testing.assert_array_equal(scores, np.tile(INNER.bias, (20, 1)))


def test_an_anchor_is_at_no_distance():
    inner = LinearEncoder([[1.0]], [-1.0], zero_bit=1)
    encoder = AnchorEncoder(inner, [[3.3, -1.7]], [0, 0], gamma=7.7)
    assert encoder.project(encoder.anchors) == pytest.approx(0, abs=1e-5)


def test_a_row_has_its_codes_in_any_batch():
    X = MEAN + _rng.normal(size=(50, 7))
    encoder = make()
    alone = np.concatenate([encoder.project(x[None]) for x in X])
    np.testing.assert_array_equal(encoder.project(X), alone)
    many = np.resize(X, (120_000, 7))  # in more than one block
    np.testing.assert_array_equal(
        encoder.project(many), np.resize(alone, (120_000, alone.shape[1]))
    )


def test_behind_a_kernel_map(tmp_path):
    encoder = KernelMapEncoder(
        make(anchors=np.ones((9, 6)), mean=np.zeros(6)), "chi2", signed=True
    )
    encoder.save(tmp_path / "encoder.safetensors")
    found = load(tmp_path / "encoder.safetensors")
    assert found.fingerprint == encoder.fingerprint
    assert found.n_features == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inner": None}, "need an encoder behind the anchors, got None"),
        ({"inner": make()}, "need an encoder behind the anchors"),
        ({"anchors": ANCHORS[0]}, r"got \(7,\) and \(7,\)"),
        ({"anchors": ANCHORS[:, :6]}, r"got \(9, 6\) and \(7,\)"),
        ({"anchors": ANCHORS[:0]}, r"got \(0, 7\)"),
        ({"anchors": ANCHORS[:8]}, "8 anchors, but the inner encoder takes 9 numbers"),
        ({"anchors": ANCHORS * np.inf}, "must be finite in float32"),
        ({"mean": MEAN * np.nan}, "must be finite in float32"),
        ({"gamma": -1}, "gamma must be a number of at least 0, got -1"),
        ({"gamma": np.nan}, "gamma must be a number of at least 0"),
        ({"gamma": [1, 2]}, "gamma must be a number of at least 0"),
        ({"gamma": "wide"}, "need real numbers"),
        ({"gamma": 1e300}, "anchors are too large for gamma in float32"),
        ({"anchors": ANCHORS * 1e30}, "anchors are too large for gamma in float32"),
    ],
)
def test_refuses(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        make(**parameters)
