import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.codes import hamming_topk
from fewbits.errors import FeatureError
from fewbits.learners import PCAH, SpectralHashing


def data(n=400, d=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7


def spectral_hashing_by_the_book(X, n_bits):
    """Follow the authors' code, over whole matrices."""
    X = X.astype(np.float32).astype(np.float64)
    V = X @ PCAH().fit(X).encoder_.weights[:, :n_bits].astype(np.float64)
    low, high = V.min(axis=0), V.max(axis=0)
    lengths = high - low
    modes = [
        (np.pi * m / length, axis, m)
        for axis, length in enumerate(lengths)
        for m in range(1, int(np.ceil((n_bits + 1) * length / lengths.max())) + 1)
    ]
    scores = [
        np.sin(np.pi / 2 + frequency * (V[:, axis] - low[axis]))
        for frequency, axis, _ in sorted(modes)[:n_bits]
    ]
    return np.stack(scores, axis=1), sorted(modes)[:n_bits]


@pytest.mark.parametrize("n_bits", [1, 2, 7, 10, 11, 64, 200])
def test_equals_the_algorithm_of_the_paper(n_bits):
    X = data()
    learner = SpectralHashing(n_bits).fit(X)
    scores, modes = spectral_hashing_by_the_book(X, n_bits)
    np.testing.assert_array_equal(learner.encoder_.modes, [m for *_, m in modes])
    np.testing.assert_allclose(learner.encoder_.project(X), scores, atol=2e-3)
    clear = np.abs(scores) > 2e-3
    assert (learner.transform(X) == (scores > 0))[clear].all()
    expected = np.mean([frequency**2 for frequency, *_ in modes])
    np.testing.assert_allclose(learner.objective_, [expected], rtol=1e-6)


def test_uniform_box_is_cut_into_equal_parts():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20_000, 2)) * [3, 1]
    learner = SpectralHashing(4).fit(X)
    assert list(learner.encoder_.axes) == [0, 0, 1, 0]
    assert list(learner.encoder_.modes) == [1, 2, 1, 3]
    bits = learner.transform(X)
    np.testing.assert_allclose(bits.mean(axis=0), 0.5, atol=0.02)
    scores = learner.encoder_.project(X)  # signs of 1 and 3 half periods correlate
    np.testing.assert_allclose(np.corrcoef(scores.T), np.eye(4), atol=0.05)


def test_ties_go_to_the_component_of_larger_variance():
    X = np.array([[2.0, 0], [-2, 0], [0, 2], [0, -2], [1.5, 0], [-1.5, 0]])
    encoder = SpectralHashing(4).fit(X).encoder_
    assert list(encoder.axes) == [0, 1, 0, 1]
    assert list(encoder.modes) == [1, 1, 2, 2]
    assert abs(encoder.weights[0, 0]) == pytest.approx(1 / 4)


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
def test_fewer_components_than_bits():
    X = data(n=4)
    encoder = SpectralHashing(40).fit(X).encoder_
    assert encoder.n_bits == 40
    assert encoder.weights.shape[1] <= 3
    assert encoder.modes.max() > 1


def test_constant_features_have_no_weight():
    X = np.insert(data(), 3, 0.1, axis=1)
    encoder = SpectralHashing(30).fit(X).encoder_
    assert (encoder.weights[3] == 0).all()


def test_scale_and_shift_do_not_matter():
    X = data()
    bits = SpectralHashing(32).fit(X).transform(X)
    moved = X.astype(np.float32) * 2.0**20
    np.testing.assert_array_equal(SpectralHashing(32).fit(moved).transform(moved), bits)


def test_neighbours_of_digits():
    X = load_digits().data
    codes = SpectralHashing(32).fit(X[100:]).encode(X)
    squares = ((X[:100, None] - X[None, 100:]) ** 2).sum(axis=2)
    nearest = squares.argsort(axis=1)[:, :10]
    found = hamming_topk(codes[:100], codes[100:], 50).ids
    recall = np.mean(
        [np.isin(a, b).mean() for a, b in zip(nearest, found, strict=True)]
    )
    assert recall > 0.5  # 50 of 1,697 rows by chance: 0.03


class TestBadInput:
    def test_all_rows_the_same(self):
        with pytest.raises(FeatureError, match="every row of X is the same"):
            SpectralHashing().fit(np.full((20, 6), 0.1))

    def test_two_rows(self):
        with pytest.warns(UserWarning, match="4 of 8 bits are constant"):
            learner = SpectralHashing(8).fit([[0.0, 1.0], [3.0, 1.0]])
        bits = learner.transform([[0.0, 1.0], [3.0, 1.0]])
        np.testing.assert_array_equal(bits[0] != bits[1], [True, False] * 4)

    def test_longest_code(self):
        learner = SpectralHashing(65_536).fit(data(50, 3))
        assert learner.encode(data(50, 3)).shape == (50, 8192)

    def test_tiny_and_huge_features(self):
        for unit in (1e-30, 1e30):
            assert SpectralHashing(16).fit(data() * unit).transform(data() * unit).any()
