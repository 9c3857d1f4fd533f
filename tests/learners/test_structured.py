"""Projections that form no matrix: what they promise beyond the contract."""

import numpy as np
import pytest

from fewbits.codes import hamming_distances
from fewbits.learners import CBE, LSH, BilinearProjections, Hadamard


def features(n=100, d=12):
    return np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1) + 4


@pytest.mark.parametrize("learner", [Hadamard(20_000), CBE(20_000, learn=False)])
def test_distance_estimates_the_angle(learner):
    X = features(d=200)
    codes = learner.set_params(random_state=0).fit(X).encode(X[:2])
    a, b = X[:2] - X.mean(axis=0)
    angle = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    distance = hamming_distances(codes[:1], codes[1:])[0, 0]
    assert distance / 20_000 == pytest.approx(angle / np.pi, abs=0.02)


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize("learner", [Hadamard(), CBE(learn=False)])
@pytest.mark.parametrize("d", [1, 2, 7, 16, 37])
def test_longer_codes_begin_with_shorter_ones(learner, d):
    X = features(d=d)
    learner.set_params(random_state=3)
    short, long = (learner.set_params(n_bits=b).fit(X).encode(X) for b in (16, 80))
    np.testing.assert_array_equal(short, long[:, :2])


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize(
    "learner",
    [
        LSH(),
        Hadamard(),
        CBE(learn=False),
        CBE(),
        BilinearProjections(learn=False),
        BilinearProjections(),
    ],
)
@pytest.mark.parametrize(("n", "d", "b"), [(50, 1, 5), (50, 13, 30), (6, 31, 8)])
def test_any_number_of_features_and_rows(learner, n, d, b):
    X = features(n, d)
    fitted = learner.set_params(n_bits=b, random_state=0).fit(X)
    assert fitted.encoder_.n_bits == b
    assert fitted.encoder_.n_features == d
    assert len(np.unique(fitted.encode(X), axis=0)) > 1


@pytest.mark.parametrize(("d", "n_bits"), [(2, 1), (2, 7), (7, 5), (12, 20), (16, 16)])
@pytest.mark.parametrize("penalty", [0.01, 100.0])
def test_cbe_never_raises_its_objective(d, n_bits, penalty):
    cbe = CBE(n_bits, penalty=penalty, n_iter=20, random_state=0)
    cbe.fit(features(d=d))
    assert len(cbe.objective_) == 20
    assert np.diff(cbe.objective_).max() <= 1e-12


def test_constant_rows_change_nothing():
    X = features()
    X[10:20] = X[20:].mean(axis=0)
    assert np.isfinite(CBE(8, random_state=0).fit(X).objective_).all()


def test_constant_bits_of_a_rotation_are_told():
    X = np.ones((60, 7))
    X[59] = 5
    with pytest.warns(UserWarning, match="2 of 16 bits are constant on the training"):
        hadamard = Hadamard(16, random_state=0).fit(X)
    constant = np.ptp(hadamard.transform(X), axis=0) == 0
    assert hadamard.n_dead_bits_ == constant.sum() == 2
    assert Hadamard(16, random_state=0).fit(features()).n_dead_bits_ == 0


@pytest.mark.parametrize(("d", "n_bits"), [(1, 6), (2, 1), (7, 11), (12, 60), (31, 6)])
def test_bilinear_projections_never_raise_their_objective(d, n_bits):
    bp = BilinearProjections(n_bits, n_iter=15, random_state=0).fit(features(d=d))
    assert np.diff(bp.objective_).max() <= 1e-12
    assert -1 - 1e-12 <= bp.objective_[-1] < 0


@pytest.mark.parametrize(("d", "n_bits"), [(64, 16), (64, 64), (12, 60)])
def test_bilinear_objective_is_that_of_codes_and_sides_are_rotations(d, n_bits):
    X = features(d=d)
    bp = BilinearProjections(n_bits, random_state=0).fit(X)
    rows = X - X.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    scores = bp.encoder_.project(rows + X.mean(axis=0))
    value = -np.abs(scores).sum() / 100 / np.sqrt(n_bits)  # of the next signs
    assert value == pytest.approx(bp.objective_[-1], rel=0.05)
    assert value <= bp.objective_[-1] + 1e-5
    for side in (bp.encoder_.left, bp.encoder_.right):
        small = side @ side.T if side.shape[0] <= side.shape[1] else side.T @ side
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-5)
