"""Classic descriptors in the experiments: which images, and what learners see."""

import numpy as np
import pytest

from experiments import _classic_features, _preparation
from experiments._classic_features import parts_of, some_of_each
from experiments._lp_beta_figures import KERNELS, lp_beta_figures, mean_over_classes
from experiments._preparation import prepared, reduced
from fewbits.learners import HomogeneousKernelMap


def test_some_images_of_each_class(monkeypatch):
    labels = np.random.default_rng(0).permutation(np.repeat(list("abc"), [9, 4, 7]))
    monkeypatch.setattr(_classic_features, "N_EACH", 5)
    rows = some_of_each(labels, ["c"])
    assert dict(zip(*np.unique(labels[rows], return_counts=True), strict=True)) == {
        "a": 5,
        "b": 4,
    }
    assert (np.diff(rows) > 0).all()
    monkeypatch.setattr(_classic_features, "N_EACH", 3)
    assert set(some_of_each(labels, ["c"])) < set(rows)


def histograms(n=60, d=12, seed=0):
    X = np.random.default_rng(seed).dirichlet(np.full(d, 0.5), size=n)
    return X.astype(np.float32)


def test_components_hold_most_of_the_variance_of_the_learning_rows():
    X, learn = histograms(), np.arange(40)
    Z = reduced(X, learn)
    mapped = HomogeneousKernelMap("intersection").transform(X).astype(np.float64)
    mapped -= mapped[learn].mean(axis=0)
    scatter = np.linalg.svd(mapped[learn], compute_uv=False) ** 2
    shares = np.cumsum(scatter) / scatter.sum()
    k = Z.shape[1]
    assert Z.dtype == np.float32
    assert shares[k - 2] < 0.95 <= shares[k - 1]
    axes = np.linalg.svd(mapped[learn])[2][:k]
    np.testing.assert_allclose(np.abs(Z), np.abs(mapped @ axes.T), atol=1e-4)
    np.testing.assert_allclose(Z[learn].mean(axis=0), 0, atol=1e-5)


def test_all_variance_is_that_of_the_kernel(monkeypatch):
    monkeypatch.setattr(_preparation, "VARIANCE", 1 - 1e-9)
    X, learn = histograms(), np.arange(60)
    Z = reduced(X, learn)
    mapped = HomogeneousKernelMap("intersection").transform(X)
    mapped -= mapped.mean(axis=0)
    np.testing.assert_allclose(Z @ Z.T, mapped @ mapped.T, atol=1e-4)


def test_other_rows_change_nothing():
    X, learn = histograms(), np.arange(10, 40)
    changed = X.copy()
    changed[:10] = histograms(10, seed=1)
    found, other = reduced(X, learn), reduced(changed, learn)
    np.testing.assert_allclose(found[10:], other[10:], atol=1e-6)
    assert np.abs(found[:10] - other[:10]).max() > 0.01


def test_only_classic_features_are_reduced():
    X, learn = histograms(), np.arange(40)
    assert prepared("icd10", X, learn) is X
    assert prepared("caltech101-classic", X, learn).shape != X.shape


def test_parts_cover_the_descriptors():
    X = np.arange(22860, dtype=np.float32)[None]
    parts = parts_of(X)
    assert len(parts) == 15
    np.testing.assert_array_equal(np.concatenate(list(parts.values()), axis=1), X)


@pytest.mark.parametrize(
    ("predictions", "expected"), [("aaab", 1.0), ("aaaa", 0.5), ("aabb", 5 / 6)]
)
def test_classes_count_the_same(predictions, expected):
    found = mean_over_classes(np.array(list("aaab")), np.array(list(predictions)))
    assert found == pytest.approx(expected)


def test_lp_beta_tells_classes_apart(monkeypatch):
    monkeypatch.setattr(
        "experiments._lp_beta_figures.parts_of",
        lambda X: {"a": X[:, :6], "b": X[:, 6:]},
    )
    y = np.arange(60) % 3
    X = histograms() / 10 + np.eye(12, dtype=np.float32)[y * 4]
    figures = lp_beta_figures(X[:30], y[:30], X[30:], y[30:])
    assert (figures["accuracy"], figures["equal"]) == (1, 1)
    assert figures["equal_by"][0] in KERNELS
