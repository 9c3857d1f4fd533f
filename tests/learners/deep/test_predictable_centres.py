"""Centres that features foretell: predictions, gradients, and what they gain."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from fewbits.classify.decoders import Nearest
from fewbits.errors import ArgumentError
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep.centres import predictable_centres
from fewbits.learners.deep.losses import CSQ
from tests.learners._made import made


def problem(n=60, d=12, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 2 * rng.normal(size=(n_classes, d))[y]
    return X, np.eye(n_classes)[y]


def test_few_items_are_classified_better():
    """Than with codes as far apart as can be."""
    X, y = load_digits(return_X_y=True)
    X, learn, test = X.astype(np.float32), slice(150), slice(150, None)

    def accuracy(centres, seed):
        options = {"max_epochs": 15, "learning_rate": 0.02, "hidden": ()}
        options |= {"eval_every": 0, "validation": 0, "random_state": seed}
        csq = made(DeepHash, 6, loss=CSQ(centres), **options)
        book = csq.fit(X[learn], y[learn]).codebook_of_classes()
        found = Nearest().decode(book, csq.encode(X[test])).rows
        return np.mean(found == book.rows(y[test]))

    mean = {
        kind: np.mean([accuracy(kind, seed) for seed in range(3)])
        for kind in ("predictable", "hadamard")
    }
    assert mean["predictable"] > mean["hadamard"] + 0.05


def test_as_a_codebook_of_llc():
    X, Y = problem(n=200)
    options = {"codebook": "predictable", "learning_rate": 0.01, "random_state": 0}
    llc = made(LLC, 4, max_epochs=20, **options).fit(X, Y.argmax(axis=1))
    again = made(LLC, 4, max_epochs=1, **options).fit(X, Y.argmax(axis=1))
    assert len(np.unique(llc.codebook_, axis=0)) == 5
    np.testing.assert_array_equal(llc.codebook_, again.codebook_)
    assert llc.history_[-1]["accuracy"] > 0.9


@pytest.mark.parametrize("kind", ["several", "sparse", "constant", "projected", "one"])
def test_every_class_has_a_code_of_its_own(kind, monkeypatch):
    X, Y = problem(n=100, d=20, n_classes=6)
    if kind == "several":
        Y[:, 0], Y[7] = 1, 0
    if kind == "sparse":
        Y = sp.csr_matrix(Y)
    if kind == "constant":
        X = np.ones_like(X)
    if kind == "projected":
        monkeypatch.setattr("fewbits.learners.deep.centres._MOST_FEATURES", 8)
    if kind == "one":
        Y = Y[:, :1] * 0 + 1
    centres = predictable_centres(X, Y, 5, random_state=1)
    assert centres.shape == (Y.shape[1], 5)
    assert centres.dtype == np.int8
    assert len(np.unique(centres, axis=0)) == Y.shape[1]


def test_bad_input():
    X, Y = problem()
    for X_, Y_, told in [
        (X[:9], Y, "9 items need a row of labels each, got 60"),
        (X * np.nan, Y, "features must be a matrix of finite numbers"),
        (X, np.hstack([Y, np.zeros((60, 1))]), "class 5 has no item"),
    ]:
        with pytest.raises(ArgumentError, match=told):
            predictable_centres(X_, Y_, 8)
    with pytest.raises(ArgumentError, match="at least 3 bits"):
        predictable_centres(X, Y, 2)
