"""The learners that do not iterate: LSH, PCAH, thresholding."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from fewbits.codes import hamming_distances
from fewbits.learners import LSH, PCAH, SpectralHashing, Thresholding


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(100, 10)) * np.arange(1, 11) + 4


def test_lsh_distance_estimates_the_angle(X):
    codes = LSH(20_000, random_state=0).fit(X).encode(X[:2])
    a, b = X[:2] - X.mean(axis=0)
    angle = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    distance = hamming_distances(codes[:1], codes[1:])[0, 0]
    assert distance / 20_000 == pytest.approx(angle / np.pi, abs=0.015)


def test_lsh_longer_codes_begin_with_shorter_ones(X):
    short, long = (LSH(b, random_state=3).fit(X) for b in (16, 40))
    np.testing.assert_array_equal(short.encode(X), long.encode(X)[:, :2])


def test_pcah_is_the_sign_of_principal_components(X):
    pcah = PCAH(6).fit(X)
    pca = PCA(6).fit(X)
    scores, expected = pcah.encoder_.project(X), pca.transform(X)
    flips = np.sign(np.sum(scores * expected, axis=0))
    np.testing.assert_allclose(scores, expected * flips, atol=1e-4)
    left_out = 1 - pca.explained_variance_ratio_.sum()
    np.testing.assert_allclose(pcah.objective_, [left_out])


@pytest.mark.filterwarnings("ignore:1 of 10 bits is constant")
@pytest.mark.parametrize(
    ("threshold", "level"),
    [
        ("zero", lambda X: 0),
        ("mean", lambda X: X.mean(axis=0)),
        ("median", lambda X: np.median(X, axis=0)),
    ],
)
def test_thresholding(X, threshold, level):
    X = X.round(1).astype(np.float32)
    bits = Thresholding(threshold).fit(X).transform(X)
    above = np.greater(X, level(X))
    np.testing.assert_array_equal(bits, above)


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize("n", [2, 3, 1000, 1001])
def test_medians_of_numbers_of_all_sizes(n):
    rng = np.random.default_rng(n)
    X = (rng.normal(size=(n, 40)) * np.geomspace(1e-40, 1e30, 40)).astype(np.float32)
    X[rng.random(X.shape) < 0.4] = -0.0
    found = Thresholding("median").fit(X).thresholds_
    np.testing.assert_array_equal(found, np.median(X, axis=0))


def test_bits_that_never_change_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    X[:, 1], X[:, 3] = 2.0, 3.0
    with pytest.warns(UserWarning, match="2 of 4 bits are constant on the training"):
        assert Thresholding("median").fit(X).n_dead_bits_ == 2
    two_values = rng.integers(0, 2, (5000, 1)).astype(float)
    with pytest.warns(UserWarning, match="bits are constant"):
        codes = SpectralHashing(6).fit(two_values)
    bits = codes.transform(two_values)
    assert codes.n_dead_bits_ == np.sum(bits.min(axis=0) == bits.max(axis=0)) > 0


def test_rare_bits_are_not_dead():
    X = np.zeros((5000, 2))
    X[:2500, 0], X[1, 1] = 1.0, 1.0
    assert Thresholding("mean").fit(X).n_dead_bits_ == 0


def test_thresholding_gives_zero_at_the_threshold():
    X = np.array([[0.1, -1.0], [0.1, 3.0]])
    with pytest.warns(UserWarning, match="1 of 2 bits is constant"):
        codes = Thresholding("mean").fit(X)
    assert not codes.transform([[0.1, 1.0]]).any()
