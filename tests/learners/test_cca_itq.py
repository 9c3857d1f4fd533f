import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.cross_decomposition import CCA

from fewbits.codes import hamming_distances
from fewbits.learners import CCAITQ


def blobs(n_classes=4, per_class=40, d=10, spread=0.3):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), per_class)
    X = rng.normal(size=(n_classes, d))[y] + spread * rng.normal(size=(len(y), d)) + 5
    order = rng.permutation(len(y))
    return X[order].astype(np.float32).astype(np.float64), y[order]


def correlations_by_the_book(X, y, reg):
    """Roots of the eigenvalues of ``Cxx^-1 Cxy Cyy^-1 Cyx``, both regularised."""
    Y = np.eye(y.max() + 1)[y]
    d, C = X.shape[1], np.cov(np.hstack([X, Y]).T)
    mean_variance = np.trace(C[:d, :d]) / d
    Cxx = C[:d, :d] + reg * mean_variance * np.eye(d)
    Cyy = C[d:, d:] + reg * np.eye(Y.shape[1])
    M = C[:d, d:] @ np.linalg.inv(Cyy) @ C[d:, :d]
    return np.sqrt(scipy.linalg.eigvalsh(M, Cxx)[::-1].clip(0))


@pytest.mark.parametrize("reg", [1e-4, 1.0])
def test_correlations(reg):
    X, y = blobs()
    cca = CCAITQ(8, reg=reg).fit(X, y)
    assert cca.effective_rank_ == 3
    expected = correlations_by_the_book(X, y, reg)
    np.testing.assert_allclose(cca.correlations_, expected[:3])


def test_without_regulariser_they_are_canonical_correlations():
    X, y = blobs(3)
    cca = CCAITQ(8, reg=0).fit(X, y)
    reference = CCA(2, max_iter=5000, tol=1e-10).fit(X, np.eye(3)[y])
    U, V = reference.transform(X, np.eye(3)[y])
    expected = [np.corrcoef(U[:, i], V[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(cca.correlations_, expected, rtol=1e-6)


@pytest.mark.parametrize("n_iter", [0, 50])
def test_classes_that_are_apart_get_codes_that_are_apart(n_iter):
    X, y = blobs(6, spread=0.05)
    codes = CCAITQ(32, n_iter=n_iter, random_state=0).fit(X, y).encode(X)
    distances = hamming_distances(codes, codes)
    same = y[:, None] == y
    assert distances[same].mean() < 0.3 * distances[~same].mean()


@pytest.mark.parametrize("n_bits", [2, 3, 4, 20])
def test_loss_never_rises(n_bits):
    X, y = blobs()
    cca = CCAITQ(n_bits, random_state=0).fit(X, y)
    assert np.all(np.diff(cca.objective_) <= 1e-12)
    assert cca.effective_rank_ == 3


def test_objective_is_the_mean_squared_distance():
    X, y = blobs()
    cca = CCAITQ(4, n_iter=200, random_state=0).fit(X, y)
    scores = cca.encoder_.project(X).astype(float)
    loss = np.mean((np.where(scores >= 0, 1, -1) - scores) ** 2)
    assert cca.objective_[-1] == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize(
    "rename",
    [
        lambda y: np.array(["d", "a", "c", "b"])[y],
        lambda y: [("z", "y", "x", "w")[label] for label in y],
        lambda y: np.array(["d", "a", "c", "b"], dtype=object)[y],
        lambda y: y * 10.0 - 7,
        lambda y: y[:, None],
        lambda y: np.eye(4)[y],
        lambda y: np.eye(4, dtype=bool)[y],
        lambda y: sp.csr_matrix(np.eye(4)[y]),
        lambda y: sp.coo_array(np.eye(4, dtype=int)[y]),
    ],
)
def test_names_of_classes_do_not_matter(rename):
    X, y = blobs()
    plain = CCAITQ(8, random_state=0).fit(X, y)
    renamed = CCAITQ(8, random_state=0).fit(X, rename(y))
    np.testing.assert_allclose(renamed.correlations_, plain.correlations_)
    assert len(renamed.classes_) == 4


def test_a_class_of_one_row():
    X, y = blobs()
    y[0] = 9
    cca = CCAITQ(8, random_state=0).fit(X, y)
    assert list(cca.classes_) == [0, 1, 2, 3, 9]
    assert cca.effective_rank_ == 4


def test_several_labels_for_a_row():
    rng = np.random.default_rng(0)
    Y = rng.random((200, 5)) < 0.3
    X = Y @ rng.normal(size=(5, 12)) + 0.1 * rng.normal(size=(200, 12))
    cca = CCAITQ(16, random_state=0).fit(X, Y)
    assert cca.effective_rank_ == 5
    codes = cca.encode(X)
    distances, shared = hamming_distances(codes, codes), Y.astype(int) @ Y.T
    assert distances[shared >= 2].mean() < distances[shared == 0].mean()


def test_relative_regulariser_ignores_units():
    X, y = blobs()
    first = CCAITQ(8, random_state=0).fit(X, y)
    second = CCAITQ(8, random_state=0).fit(X * 2.0**10, y)
    np.testing.assert_allclose(first.correlations_, second.correlations_)


def test_strong_regulariser_generalises_when_rows_are_few():
    rng = np.random.default_rng(0)
    centres = 0.25 * rng.normal(size=(10, 200))
    y = np.arange(1200) % 10
    X = centres[y] + rng.normal(size=(1200, 200))
    accuracy = {}
    for reg in (1e-4, 1.0):
        cca = CCAITQ(16, reg=reg, random_state=0).fit(X[:220], y[:220])
        distances = hamming_distances(cca.encode(X[220:]), cca.encode(X[:220]))
        accuracy[reg] = np.mean(y[:220][distances.argmin(axis=1)] == y[220:])
    assert accuracy[1.0] > accuracy[1e-4] + 0.1
