"""LP-beta: its kernels, its linear programme, and what its weights say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel

from experiments._lp_beta import KERNELS, Kernel, LPBeta, combine
from fewbits.errors import ArgumentError


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_kernels_are_their_sums(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.random((4, 5)), rng.random((3, 5)) * (rng.random((3, 5)) < 0.7)
    x, y = X[:, None], Y[None]
    expected = {
        "linear": x * y,
        "intersection": np.minimum(x, y),
        "chi2": 2 * x * y / (x + y),
    }
    for name, terms in expected.items():
        np.testing.assert_allclose(
            KERNELS[name](X, Y), terms.sum(axis=2), rtol=1e-6, atol=1e-12
        )


def test_scales_are_those_of_the_training_rows():
    X = np.random.default_rng(0).random((20, 6))
    for name in KERNELS:
        assert np.diag(Kernel(name, X)(X)).mean() == pytest.approx(1)
    K = Kernel("rbf-chi2", X)
    np.testing.assert_allclose(-np.log(K(X)).mean(), 1, rtol=1e-6)
    np.testing.assert_allclose(K(X[:3]), chi2_kernel(X[:3], X, gamma=1 / K.scale))


def objective(F, y, nu, beta):
    """Of the best rho and slacks for given weights: rho is one of the margins."""
    n = len(y)
    totals = np.tensordot(beta, F, axes=1)
    own = totals[np.arange(n), y]
    totals[np.arange(n), y] = -np.inf
    reached = own - totals.max(axis=1)
    return min(-rho + np.maximum(rho - reached, 0).sum() / (nu * n) for rho in reached)


def all_constraints(F, y, nu):
    """Return the optimum of the whole programme, each constraint written down."""
    M, n, K = F.shape
    rows = []
    for i in range(n):
        for k in range(K):
            if k != y[i]:
                slack = np.zeros(n)
                slack[i] = -1
                rows.append([*(F[:, i, k] - F[:, i, y[i]]), *slack, 1.0])
    return linprog(
        [0.0] * M + [1 / (nu * n)] * n + [-1.0],
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=[[1.0] * M + [0.0] * (n + 1)],
        b_eq=[1],
        bounds=[(0, None)] * (M + n) + [(None, None)],
    ).fun


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 9999), nu=st.sampled_from([0.05, 0.3, 1.0]))
def test_the_programme_is_solved(seed, nu):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 25)
    F = rng.normal(size=(5, 25, 4))
    F[:3, np.arange(25), y] += rng.random((3, 1)) * 2
    beta = combine(F, y, nu)
    assert beta.sum() == pytest.approx(1)
    assert (beta >= 0).all()
    least = all_constraints(F, y, nu)
    assert objective(F, y, nu, beta) == pytest.approx(least, abs=1e-6)


def halves(n=120, seed=0):
    """One group tells classes 0 and 1 apart, one 2 and 3, and one tells nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4

    def group(places):
        return np.abs(np.eye(4)[places] * 2 + rng.normal(size=(n, 4)) * 0.5)

    return {
        "low": group(np.minimum(y, 2)),
        "high": group(np.maximum(y, 1)),
        "noise": group(rng.integers(0, 4, n)),
    }, y


def rows(groups, chosen):
    return {name: X[chosen] for name, X in groups.items()}


@pytest.mark.parametrize("kernel", [*KERNELS, "rbf-chi2"])
def test_groups_that_know_something_get_the_weight(kernel):
    groups, y = halves()
    learner = LPBeta(kernel=kernel, C=10.0).fit(rows(groups, slice(80)), y[:80])
    assert sum(learner.beta_.values()) == pytest.approx(1)
    assert min(learner.beta_["low"], learner.beta_["high"]) > 0.2
    assert learner.beta_["noise"] < 0.1
    right = np.mean(learner.predict(rows(groups, slice(80, None))) == y[80:])
    one = LPBeta(kernel=kernel, C=10.0).fit({"low": groups["low"][:80]}, y[:80])
    assert one.beta_ == {"low": 1.0}
    alone = np.mean(one.predict({"low": groups["low"][80:]}) == y[80:])
    assert right > alone + 0.1
    assert right > 0.8


def test_names_of_classes_and_order_of_queries_do_not_matter():
    groups, y = halves()
    names = np.array(["d", "a", "c", "b"])
    kernels = {"low": "linear", "high": "chi2", "noise": "rbf-chi2"}
    by_number = LPBeta(kernel=kernels, C=1.0).fit(groups, y)
    by_name = LPBeta(kernel=kernels, C=1.0).fit(groups, names[y])
    assert by_name.beta_ == pytest.approx(by_number.beta_, abs=1e-6)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        by_name.predict(rows(groups, order)), names[by_number.predict(groups)][order]
    )


def test_digits_by_their_quarters():
    X, y = load_digits(return_X_y=True)
    images = X.reshape(-1, 8, 8)
    groups = {
        f"{a}{b}": images[:, a : a + 4, b : b + 4].reshape(len(X), 16)
        for a in (0, 4)
        for b in (0, 4)
    }
    learn, test = slice(200), slice(200, 600)

    def accuracy(quarters):
        learner.fit(rows(quarters, learn), y[learn])
        return np.mean(learner.predict(rows(quarters, test)) == y[test])

    learner = LPBeta(C=10.0, n_folds=2)
    alone = max(accuracy({name: X}) for name, X in groups.items())
    assert accuracy(groups) > alone + 0.1
    assert min(learner.beta_.values()) > 0.1


def test_the_best_weight_of_errors_is_taken():
    X, y = load_digits(return_X_y=True)
    groups = {"left": X[:200, :32], "right": X[:200, 32:]}
    both, *each = (LPBeta(C=C).fit(groups, y[:200]) for C in ([1e-6, 10.0], 1e-6, 10.0))
    shares = [learner.held_out_accuracy_ for learner in each]
    assert shares[0] < shares[1] == both.held_out_accuracy_
    assert both.C_ == 10.0
    assert both.nu_ in (0.1, 0.3, 0.5)


def test_equal_weights():
    groups, y = halves()
    more = np.random.default_rng(1).random((5, len(y), 4))
    groups |= {f"noise {i}": X for i, X in enumerate(more)}
    learner = LPBeta().fit(rows(groups, slice(60)), y[:60])
    equal = learner.with_equal_weights()
    assert equal.beta_ == dict.fromkeys(groups, pytest.approx(1 / 8))
    assert equal.nu_ is None
    assert learner.nu_ is not None  # it is left as it was
    accuracy, by_equal = (
        np.mean(each.predict(rows(groups, slice(60, None))) == y[60:])
        for each in (learner, equal)
    )
    assert accuracy > 0.9  # six of eight groups are noise
    assert accuracy > by_equal - 0.05  # of 60 items; equal weights do well, too


@pytest.mark.parametrize(
    ("options", "change", "y", "message"),
    [
        ({"nu": 0}, {}, None, "nu must lie above 0"),
        ({"nu": 1.5}, {}, None, "nu must lie above 0"),
        ({"kernel": "cubic"}, {}, None, "no kernel 'cubic'; known are linear"),
        ({}, {"low": -np.ones((120, 4))}, None, "rbf-chi2 takes features of at least"),
        ({}, {"low": np.ones((119, 4))}, None, r"low must be a matrix of 120 rows"),
        ({}, {"low": np.ones(120)}, None, r"low must be a matrix of 120 rows"),
        ({}, {"high": np.full((120, 4), np.nan)}, None, "high must be finite"),
        ({}, {}, np.zeros(120), "at least 2 classes"),
        ({}, {}, np.arange(120) // 119, "2 with 1 or more"),
    ],
)
def test_mistakes(options, change, y, message):
    groups, labels = halves()
    with pytest.raises(ArgumentError, match=message) as caught:
        LPBeta(**options).fit({**groups, **change}, labels if y is None else y)
    assert "\n" not in str(caught.value)


def test_other_groups_than_in_training():
    groups, y = halves()
    learner = LPBeta(C=1.0).fit(groups, y)
    del groups["noise"]
    with pytest.raises(ArgumentError, match="trained on low, high, noise, got low"):
        learner.predict(groups)
    with pytest.raises(ArgumentError, match="no group"):
        learner.fit({}, y)
