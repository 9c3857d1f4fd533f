import numpy as np
import pytest

from fewbits.encoders import LinearEncoder, SparseEncoder
from fewbits.learners import ITQ, PCAH, SparseProjections
from tests.learners._made import made


def data(n=300, d=12, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7
    return X.astype(np.float32).astype(np.float64)


def fit(X, n_bits, **parameters):
    return made(SparseProjections, n_bits, random_state=0, **parameters).fit(X)


def dense_weights(encoder):
    weights = np.zeros((encoder.n_bits, encoder.n_features))
    bits = np.repeat(np.arange(encoder.n_bits), np.diff(encoder.indptr))
    weights[bits, encoder.indices] = encoder.values
    return weights


def sp_by_the_book(X, n_bits, *, m, beta, n_iter, seed, n_inner=1):
    """Xia et al., sections 4.1 to 4.4, in their notation: columns are items.

    The start is a random orthogonal matrix in terms of the principal components.
    """
    start = ITQ(n_bits, n_iter=0, random_state=seed).fit(X).encoder_.weights
    P = PCAH().fit(X).encoder_.weights.T[:n_bits].astype(np.float64)
    X = (X - X.mean(axis=0)).T
    d = len(X)
    Rbar = R = start.T.astype(np.float64)
    values = []
    for _ in range(n_iter):
        B = np.where(Rbar @ X >= 0, 1.0, -1.0)
        Y = (B + beta * R @ X) / (1 + beta)
        Xp = X if n_bits >= d else P @ X
        U, _, Vt = np.linalg.svd(Xp @ Y.T, full_matrices=False)
        Rbar = Vt.T @ U.T if n_bits >= d else Vt.T @ U.T @ P
        R = Rbar
        for _ in range(n_inner):
            step = 1 / np.linalg.norm(X) ** 2
            R = threshold_by_the_book(R + step * (Rbar - R) @ X @ X.T, m)
        value = np.sum((Rbar @ X - B) ** 2) + beta * np.sum((Rbar @ X - R @ X) ** 2)
        values.append(value / B.size)
    return R, values


def threshold_by_the_book(M, m):
    smallest_kept = np.sort(np.abs(M), axis=None)[-m]
    return np.where(np.abs(M) >= smallest_kept, M, 0)


@pytest.mark.parametrize("n_bits", [3, 12, 20])
@pytest.mark.parametrize(("solver", "n_inner"), [("one-step", 1), ("iterative", 5)])
@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_equals_the_algorithm_of_the_paper(n_bits, solver, n_inner, beta):
    X = data() - data().mean(axis=0)
    # Dense scores of a mean square of 1: as the method scales them.
    X *= np.sqrt(len(X) * n_bits / scatter_of(X)[:n_bits].sum())
    sp = fit(
        X,
        n_bits,
        density=0.5,
        beta=beta,
        n_iter=8,
        kind=solver,
        solver__n_iter=n_inner,
    )
    R, values = sp_by_the_book(
        X, n_bits, m=6 * n_bits, beta=beta, n_iter=8, seed=0, n_inner=n_inner
    )
    np.testing.assert_allclose(sp.objective_, values)
    np.testing.assert_allclose(dense_weights(sp.encoder_), R, atol=1e-6)
    bits = (X - X.mean(axis=0)) @ R.T >= 0
    assert np.mean(sp.transform(X) != bits) < 1e-3


def test_units_do_not_matter():
    X = data()
    first, second = (fit(X * unit, 8, density=0.5) for unit in (1, 2.0**10))
    np.testing.assert_array_equal(first.transform(X), second.transform(X * 2.0**10))


@pytest.mark.parametrize("n_bits", [3, 12, 20])
def test_objective_never_rises_without_sparsity(n_bits):
    objective = fit(data(), n_bits, density=1).objective_
    assert np.all(np.diff(objective) <= 1e-10 * objective[:-1])


@pytest.mark.parametrize("n_bits", [3, 12, 20])
@pytest.mark.parametrize("solver", ["one-step", "iterative"])
def test_objective_falls_over_all(n_bits, solver):
    objective = fit(data(), n_bits, density=0.3, kind=solver).objective_
    assert objective[-1] < objective[0]


@pytest.mark.parametrize("solver", ["one-step", "iterative"])
def test_objective_of_the_paper_s_solvers_can_rise(solver):
    objective = fit(data(), 8, density=0.2, kind=solver).objective_
    assert np.any(np.diff(objective) > 0.01 * objective[:-1])


@pytest.mark.parametrize("n_bits", [12, 20])
def test_all_weights_is_itq(n_bits):
    X = data(1000)
    sp = fit(X, n_bits, density=1, n_iter=100)
    assert isinstance(sp.encoder_, LinearEncoder)
    itq = ITQ(n_bits, n_iter=100, random_state=0).fit(X * scale_of(X, n_bits))
    # Where R = Rbar, eq. (3) is the objective of ITQ.
    assert sp.objective_[-1] == pytest.approx(itq.objective_[-1], rel=0.03)


def scale_of(X, n_bits):
    return np.sqrt(len(X) * n_bits / scatter_of(X)[:n_bits].sum())


def scatter_of(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize(
    ("density", "count"), [(1e-9, 1), (0.1, 24), (0.101, 25), (0.5, 120), (0.999, 240)]
)
def test_number_of_weights_is_exact(density, count):
    encoder = fit(data(), 20, density=density, n_iter=2).encoder_
    kind = LinearEncoder if count == 240 else SparseEncoder
    assert isinstance(encoder, kind)
    assert kind is LinearEncoder or len(encoder.values) == count


def test_constant_features_get_no_weights():
    X = data(d=13)
    X[:, 4] = 0.1
    for n_bits in (5, 20):
        assert 4 not in fit(X, n_bits, density=0.5, n_iter=3).encoder_.indices


def test_dead_bits_are_counted_and_told():
    with pytest.warns(UserWarning, match=r"^1[0-9] of 20 bits are constant") as caught:
        sp = fit(data(), 20, density=9 / 240, n_iter=2)
    assert caught[0].filename == __file__
    bits = sp.transform(data())
    constant = bits.all(axis=0) | ~bits.any(axis=0)
    assert sp.n_dead_bits_ == constant.sum()


def test_no_dead_bits():
    assert fit(data(), 20, density=0.5).n_dead_bits_ == 0
