import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from fewbits.codes import hamming_topk
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import BRE
from fewbits.learners.fitting import on_progress


def data(n=300, d=12):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7


@pytest.mark.parametrize(("n", "n_bits"), [(300, 1), (300, 12), (8, 30), (2, 5)])
def test_objective_never_rises(n, n_bits):
    values = BRE(n_bits, n_iter=12, random_state=0).fit(data(n)).objective_
    assert len(values) == 12
    assert np.all(np.diff(values) <= 1e-14)


def test_objective_is_that_of_the_encoder():
    """With all pairs of all rows, no random choice matters to the objective."""
    X = data(60)
    bre = BRE(9, pair_share=1.0, n_iter=4, random_state=0).fit(X)
    Z = X.astype(np.float32) - X.astype(np.float32).mean(axis=0, dtype=float)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    half = 1 - Z @ Z.T
    codes = bre.transform(X)
    gap = half / half.max() - (codes[:, None] != codes).mean(axis=2)
    np.fill_diagonal(gap, 0)
    assert bre.objective_[-1] == pytest.approx((gap**2).sum() / (60 * 59), rel=1e-9)


def test_hyperplanes_are_combinations_of_anchors():
    """One anchor per bit and no sweep: the normal is that row, up to a factor."""
    X = data(5)
    normals = BRE(40, n_anchors=1, n_iter=0, random_state=0).fit(X).encoder_.weights.T
    Z = X.astype(np.float32) - X.astype(np.float32).mean(axis=0, dtype=float)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    cosines = (normals / np.linalg.norm(normals, axis=1, keepdims=True)) @ unit.T
    np.testing.assert_allclose(np.abs(cosines).max(axis=1), 1, atol=1e-5)
    assert len(set(np.abs(cosines).argmax(axis=1))) == 5


def test_length_of_a_centred_row_does_not_matter():
    X = data()
    bre = BRE(32, n_iter=2, random_state=0).fit(X)
    mean = X.mean(axis=0)
    longer = bre.transform(mean + 8 * (X - mean))
    assert np.mean(longer != bre.transform(X)) < 1e-2  # but for rounding


def test_constant_features_have_no_weight():
    X = np.insert(data(), 3, 0.1, axis=1)
    assert (BRE(9, n_iter=2, random_state=0).fit(X).encoder_.weights[3] == 0).all()


def test_no_sweeps_is_a_random_start():
    bre = BRE(8, n_iter=0, random_state=0).fit(data())
    assert bre.n_iter_ == 0
    assert bre.objective_.shape == (0,)
    trained = BRE(8, n_iter=1, random_state=0).fit(data())
    assert trained.encoder_.fingerprint != bre.encoder_.fingerprint


def test_sample_of_rows_is_used():
    X = data(300)
    few = BRE(8, n_train=30, n_iter=2, random_state=0).fit(X)
    all_of_them = BRE(8, n_train=300, n_iter=2, random_state=0).fit(X)
    more = BRE(8, n_train=10**9, n_iter=2, random_state=0).fit(X)
    assert few.encoder_.fingerprint != all_of_them.encoder_.fingerprint
    assert more.encoder_.fingerprint == all_of_them.encoder_.fingerprint


def neighbour_recall(learner, X):
    codes = learner.fit(X[100:]).encode(X)
    squares = ((X[:100, None] - X[None, 100:]) ** 2).sum(axis=2)
    nearest = squares.argsort(axis=1)[:, :10]
    found = hamming_topk(codes[:100], codes[100:], 50).ids
    return np.mean([np.isin(a, b).mean() for a, b in zip(nearest, found, strict=True)])


def test_neighbours_of_digits():
    """50 of 1,697 rows by chance: 0.03. Learning beats its own random start."""
    X = load_digits().data
    learned = neighbour_recall(BRE(32, n_iter=12, random_state=0), X)
    start = neighbour_recall(BRE(32, n_iter=0, random_state=0), X)
    assert learned > max(0.5, start + 0.02)


def test_goes_on_after_an_interrupt(tmp_path):
    X, path = data(), tmp_path / "bre.npz"
    whole = BRE(8, n_iter=6, random_state=0).fit(X)

    def stop(done, total, objective):
        if done == 3:
            raise KeyboardInterrupt

    again = clone(whole).set_params(checkpoint=path)
    with on_progress(stop), pytest.warns(UserWarning, match="interrupted"):
        again.fit(X)
    assert path.exists()
    assert again.fit(X).encoder_.fingerprint == whole.encoder_.fingerprint
    assert not path.exists()


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_bits": 0}, "n_bits must be"),
            ({"n_train": 1}, "n_train must be"),
            ({"n_train": 2.5}, "n_train must be"),
            ({"n_anchors": 0}, "n_anchors must be"),
            ({"pair_share": 0}, "pair_share must be"),
            ({"pair_share": 1.1}, "pair_share must be"),
            ({"pair_share": np.nan}, "pair_share must be"),
            ({"n_iter": -1}, "n_iter must be"),
            ({"tol": -1}, "tol must be"),
        ],
    )
    def test_parameters(self, parameters, message):
        with pytest.raises(ArgumentError, match=message):
            BRE(**parameters).fit(data())

    def test_all_rows_the_same(self):
        with pytest.raises(FeatureError, match="every row of X is the same"):
            BRE().fit(np.full((20, 6), 0.1))

    def test_rows_equal_to_the_mean_do_no_harm(self):
        X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 0], [0, 0]])
        bre = BRE(16, n_iter=5, random_state=0).fit(X)
        assert np.isfinite(bre.objective_).all()
        assert not bre.transform([[0, 0]]).any()

    def test_sample_of_equal_rows(self):
        X = np.zeros((1000, 3))
        X[0] = 1
        bre = BRE(8, n_train=5, n_iter=3, random_state=0).fit(X)
        np.testing.assert_array_equal(bre.objective_, 0)

    def test_tiny_and_huge_features(self):
        expected = BRE(16, n_iter=2, random_state=0).fit(data()).transform(data())
        for unit in (2.0**-60, 2.0**60):
            X = data().astype(np.float32) * np.float32(unit)
            bits = BRE(16, n_iter=2, random_state=0).fit(X).transform(X)
            np.testing.assert_array_equal(bits, expected)


def test_no_bit_weighs_more_than_others_in_a_search():
    """Scores are asked for by re-ranking; what descent leaves differs a hundredfold."""
    X = load_digits().data.astype(np.float32)
    encoder = BRE(32, n_iter=5, random_state=0).fit(X).encoder_
    spreads = np.sqrt(np.mean(encoder.project(X) ** 2, axis=0))
    assert spreads.max() < 2 * spreads.min()
