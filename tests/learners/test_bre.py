from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits

from fewbits.codes import hamming_topk, unpack
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners._bre import (
    BRE,
    Pairs,
    best_weight,
    descend,
    first_sweep,
    random_pairs,
)
from fewbits.learners.fitting import on_progress


def data(n=300, d=12):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7


def problem(n=40, n_bits=6, n_anchors=5, seed=0, share=0.3):
    rng = np.random.RandomState(seed)
    Z = rng.normal(size=(n, 4))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    K = Z @ Z.T
    anchors = rng.randint(n, size=(n_bits, n_anchors))
    W = 1e-3 * rng.normal(size=anchors.shape)
    return K, anchors, W, random_pairs(K, share, rng)


def bits_of(K, anchors, W):
    return np.stack([w @ K[a] > 0 for w, a in zip(W, anchors, strict=True)], axis=1)


def objective(K, bits, pairs):
    """Eq. (2) by its definition, pair by pair."""
    half = np.array(
        [
            [(K[i, i] + K[j, j]) / 2 - K[i, j] for j in range(len(K))]
            for i in range(len(K))
        ]
    )
    total = 0.0
    for i, others in enumerate(pairs.others):
        for j in others:
            target = half[i, j] / half.max()
            total += (target - np.mean(bits[i] != bits[j])) ** 2
    return total / pairs.others.size


class TestPairs:
    @pytest.mark.parametrize(("share", "count"), [(1e-9, 1), (0.3, 12), (1.0, 39)])
    def test_are_other_points_and_none_twice(self, share, count):
        *_, pairs = problem(share=share)
        assert pairs.others.shape == (40, count)
        for i, others in enumerate(pairs.others):
            assert len(set(others)) == count
            assert i not in others
            assert others.min() >= 0
            assert others.max() < 40

    def test_reach_every_point(self):
        *_, pairs = problem(share=0.5)
        assert set(pairs.others.ravel()) == set(range(40))

    def test_targets_are_shares_of_the_largest_distance(self):
        K, *_, pairs = problem(share=1.0)
        assert pairs.targets.max() == pytest.approx(1)
        i, j = 3, int(np.flatnonzero(pairs.others[3] == 5)[0])
        expected = (1 - K[3, 5]) / (1 - K).max()
        assert pairs.targets[i, j] == pytest.approx(expected)

    def test_of_equal_points(self):
        pairs = random_pairs(np.ones((4, 4)), 0.5, np.random.RandomState(0))
        assert (pairs.targets == 0).all()


def sweeps(K, anchors, W, pairs):
    start = first_sweep(K, anchors, W, pairs)
    states = descend(K, anchors, pairs, np.random.RandomState(0), start)
    return ((found[0], value) for found, value in states)


class TestDescent:
    @pytest.mark.parametrize("seed", range(5))
    def test_objective_is_that_of_the_codes(self, seed):
        K, anchors, W, pairs = problem(seed=seed)
        states = sweeps(K, anchors, W, pairs)
        for _, (found, value) in zip(range(5), states, strict=False):
            bits = bits_of(K, anchors, found)
            assert value == pytest.approx(objective(K, bits, pairs), rel=1e-12)

    @pytest.mark.parametrize("n_bits", [1, 2, 13, 100])
    def test_objective_never_rises(self, n_bits):
        K, anchors, W, pairs = problem(n_bits=n_bits)
        start = objective(K, bits_of(K, anchors, W), pairs)
        states = sweeps(K, anchors, W, pairs)
        values = [value for _, (_, value) in zip(range(30), states, strict=False)]
        assert np.all(np.diff([start, *values]) <= 1e-14)
        assert values[-1] < start

    @pytest.mark.parametrize("seed", range(30))
    def test_weight_of_one_anchor_is_the_best_there_is(self, seed):
        """Compare with the objective inside every interval, by its definition."""
        K, anchors, W, pairs = problem(n=25, n_bits=4, seed=seed)
        W *= 10.0 ** np.random.RandomState(seed).randint(4)
        p, q = seed % 4, seed % 5
        bits = bits_of(K, anchors, W)
        gaps = np.zeros(pairs.others.shape)
        for bit in np.delete(bits, p, axis=1).T:
            gaps += pairs.differ(bit)
        costs = 2 * (gaps - 4 * pairs.targets) + 1
        kernel = K[anchors[p]]
        best = best_weight(W[p, q], W[p] @ kernel, kernel[q], costs, pairs)

        def value(weight):
            changed = W.copy()
            changed[p, q] = weight
            return objective(K, bits_of(K, anchors, changed), pairs)

        flips = np.sort(W[p, q] - W[p] @ kernel / kernel[q])
        tries = [flips[0] - 1, *(flips[1:] + flips[:-1]) / 2, flips[-1] + 1]
        assert value(best) == pytest.approx(min(map(value, tries)), rel=1e-12)

    def test_weight_that_changes_nothing_is_kept(self):
        pairs = Pairs(np.array([[1], [0]]), np.ones((2, 1)))
        weight = best_weight(0.5, np.ones(2), np.zeros(2), -np.ones((2, 1)), pairs)
        assert weight == 0.5

    def test_equal_flips_happen_together(self):
        """Only a third point can be told from two that are the same."""
        pairs = Pairs(np.array([[1], [0], [0]]), np.ones((3, 1)))
        scores, kernel = np.array([1.0, 1.0, 3.0]), np.ones(3)
        costs = np.array([[-9.0], [-9.0], [-1.0]])
        weight = best_weight(0.0, scores, kernel, costs, pairs)
        assert -3 < weight < -1

    def test_a_state_is_not_changed_later(self):
        K, anchors, W, pairs = problem()
        before = W.copy()
        states = sweeps(K, anchors, W, pairs)
        first, _ = next(states)
        kept = first.copy()
        next(states)
        np.testing.assert_array_equal(first, kept)
        np.testing.assert_array_equal(W, before)


@pytest.mark.parametrize("n_bits", [1, 5, 12, 30])
@pytest.mark.parametrize("n", [300, 8, 2])
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
    np.testing.assert_array_equal(
        bre.transform(mean + 8 * (X - mean)), bre.transform(X)
    )


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


@pytest.mark.parametrize(
    "view", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], np.float32]
)
def test_layout_does_not_matter(view):
    fitted, viewed = (
        BRE(9, n_iter=3, random_state=0).fit(X) for X in (data(), view(data()))
    )
    assert fitted.encoder_.fingerprint == viewed.encoder_.fingerprint


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
    assert learned > 0.4
    assert learned > start


def test_most_bits_vary():
    codes = BRE(64, n_iter=5, random_state=0).fit(data()).encode(data())
    bits = unpack(codes, 64)
    assert np.mean(bits.any(axis=0) & ~bits.all(axis=0)) > 0.9


class TestGaussian:
    def test_bits_are_signs_of_weighted_kernels(self):
        X, n_train = data(), 50
        bre = BRE(9, n_train=n_train, n_iter=4, kernel="rbf", random_state=0).fit(X)
        encoder = bre.encoder_
        weights = np.zeros((len(encoder.anchors), 9))
        inner = encoder.inner
        for bit, (a, b) in enumerate(pairwise(inner.indptr)):
            weights[inner.indices[a:b], bit] = inner.values[a:b]
            assert b - a == 20
        centred = X - X.astype(np.float32).mean(axis=0)
        kernels = np.exp(
            -bre.gamma_ * cdist(centred, encoder.anchors.astype(float), "sqeuclidean")
        )
        scores = encoder.project(X)
        np.testing.assert_allclose(kernels @ weights, scores, rtol=1e-5, atol=1e-6)
        assert not inner.bias.any()
        assert len(encoder.anchors) <= n_train

    def test_objective_is_that_of_the_codes(self):
        X = data(60)
        bre = BRE(8, pair_share=1, n_iter=5, kernel="rbf", gamma=0.01, random_state=0)
        bits = bre.fit(X).transform(X).astype(float)
        targets = 1 - np.exp(-0.01 * cdist(X, X, "sqeuclidean"))
        squares = (cdist(bits, bits, "cityblock") / 8 - targets / targets.max()) ** 2
        found = squares.sum() / (60 * 59)
        assert bre.objective_[-1] == pytest.approx(found, rel=1e-5)
        assert (np.diff(bre.objective_) <= 0).all()

    def test_usual_gamma_goes_by_the_spread_of_rows(self):
        X = data()
        one, other = (
            BRE(8, n_iter=1, kernel="rbf", random_state=0).fit(scale * X)
            for scale in (1, 1024)
        )
        assert other.gamma_ == pytest.approx(one.gamma_ / 1024**2)
        np.testing.assert_array_equal(one.encode(X), other.encode(1024 * X))

    def test_circles_are_told_apart(self):
        angles = np.linspace(0, 2 * np.pi, 200)
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        X = np.concatenate([circle, 4 * circle])
        bre = BRE(16, kernel="rbf", n_iter=10, random_state=0).fit(X)
        codes = bre.transform([[0, 0], [0.1, 0], [4, 0], [-4, 0]]).astype(float)
        distances = cdist(codes, codes, "cityblock")
        assert distances[0, 1] < min(distances[0, 2:])

    def test_goes_on_after_an_interrupt(self, tmp_path):
        X, path = data(), tmp_path / "bre.npz"
        whole = BRE(8, kernel="rbf", n_iter=6, random_state=0).fit(X)

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
            ({"n_bits": 0}, "n_bits must be an integer, 1 to 65536"),
            ({"n_train": 1}, "n_train must be an integer, 2 or more"),
            ({"n_train": 2.5}, "n_train must be an integer"),
            ({"n_anchors": 0}, "n_anchors must be an integer, 1 or more"),
            ({"kernel": "cubic"}, "kernel must be one of 'linear', 'rbf'"),
            ({"gamma": 1.0}, "gamma=1 needs kernel='rbf'"),
            ({"gamma": 0, "kernel": "rbf"}, "gamma must be a number above 0"),
            ({"gamma": "auto", "kernel": "rbf"}, "gamma must be a number above 0"),
            ({"pair_share": 0}, "pair_share must be a number above 0 and at most 1"),
            ({"pair_share": 1.1}, "pair_share must be a number above 0 and at most 1"),
            ({"pair_share": np.nan}, "pair_share must be"),
            ({"n_iter": -1}, "n_iter must be an integer, 0 to"),
            ({"tol": -1}, "tol must be a number at least 0"),
        ],
    )
    def test_parameters(self, parameters, message):
        with pytest.raises(ArgumentError, match=message):
            BRE(**parameters).fit(data())

    def test_all_rows_the_same(self):
        with pytest.raises(FeatureError, match="every row of X is the same"):
            BRE().fit(np.full((20, 6), 0.1))

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
    def test_not_finite(self, value):
        X = data()
        X[7, 2] = value
        with pytest.raises(FeatureError, match="in row 7, column 2"):
            BRE().fit(X)

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


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_bit_weighs_more_than_others_in_a_search(kernel):
    """Scores are asked for by re-ranking; what descent leaves differs a hundredfold."""
    X = load_digits().data.astype(np.float32)
    encoder = BRE(32, n_iter=5, kernel=kernel, random_state=0).fit(X).encoder_
    spreads = np.sqrt(np.mean(encoder.project(X) ** 2, axis=0))
    assert spreads.max() < 2 * spreads.min()
