import numpy as np
import pytest

from fewbits.learners import ITQ, PCAH


def data(n=300, d=12):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7


def axes(X):
    return PCAH().fit(X).encoder_.weights.astype(np.float64)


def itq_by_the_book(X, n_bits, n_iter, seed):
    """Gong and Lazebnik's algorithm for n_bits <= n_features, over whole matrices."""
    X = X.astype(np.float32).astype(np.float64)
    W = axes(X)[:, :n_bits]  # for equal signs of components
    V = (X - X.mean(axis=0)) @ W
    R = W.T @ ITQ(n_bits, n_iter=0, random_state=seed).fit(X).encoder_.weights
    losses = []
    for _ in range(n_iter):
        B = np.where(V @ R >= 0, 1, -1)
        S, _, Sh_t = np.linalg.svd(B.T @ V)
        R = Sh_t.T @ S.T
        losses.append(np.mean((B - V @ R) ** 2))
    return (V @ R >= 0).astype(np.uint8), losses


@pytest.mark.parametrize("n_bits", [1, 5, 12])
def test_equals_the_algorithm_of_the_paper(n_bits):
    X = data()
    itq = ITQ(n_bits, n_iter=20, random_state=5).fit(X)
    bits, losses = itq_by_the_book(X, n_bits, 20, seed=5)
    np.testing.assert_allclose(itq.objective_, losses, rtol=1e-5)
    assert np.mean(itq.transform(X) != bits) < 1e-2  # but for rounding


@pytest.mark.parametrize("n_bits", [5, 12, 13, 30])
@pytest.mark.parametrize("n", [300, 8])
def test_loss_never_rises(n, n_bits):
    objective = ITQ(n_bits, random_state=0).fit(data(n)).objective_
    assert len(objective) == 50
    assert np.all(np.diff(objective) <= 1e-12)


@pytest.mark.parametrize("n_bits", [12, 20])
def test_rotation_keeps_distances_when_no_component_is_dropped(n_bits):
    W = ITQ(n_bits, random_state=0).fit(data()).encoder_.weights.astype(float)
    np.testing.assert_allclose(W @ W.T, np.eye(12), atol=1e-5)


def test_fewer_bits_span_the_leading_components():
    X = data()
    W = ITQ(4, random_state=0).fit(X).encoder_.weights.astype(float)
    P = axes(X)[:, :4]
    np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-5)
    np.testing.assert_allclose(P @ P.T @ W, W, atol=1e-5)


def test_no_iterations_is_a_random_rotation():
    itq = ITQ(4, n_iter=0, random_state=0).fit(data())
    assert itq.n_iter_ == 0
    assert itq.objective_.shape == (0,)
    R = axes(data())[:, :4].T @ itq.encoder_.weights
    np.testing.assert_allclose(R @ R.T, np.eye(4), atol=1e-5)
    assert np.abs(R).max() < 0.99


def test_units_do_not_matter():
    X = data()
    first, second = (ITQ(8, random_state=0).fit(X * unit) for unit in (1, 2.0**10))
    np.testing.assert_array_equal(first.transform(X), second.transform(X * 2.0**10))
