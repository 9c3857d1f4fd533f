"""Random codewords of classes, predicted by ridge regression."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from fewbits.errors import ArgumentError
from fewbits.learners import ECOC


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_codewords_are_halves(digits):
    X, y = digits
    words = ECOC(200, random_state=0).fit(X[:300], y[:300]).codewords_
    assert words.sum(axis=0).tolist() == [5] * 200
    odd = ECOC(200, random_state=0).fit(X[:300], y[:300] % 7).codewords_
    assert set(odd.sum(axis=0).tolist()) == {3, 4}
    assert len(np.unique(odd, axis=1).T) > 30


def test_hyperplanes_are_those_of_ridge_regression(digits):
    X, y = digits
    ecoc = ECOC(16, reg=0.5, random_state=0).fit(X, y)
    alpha = 0.5 * len(X) * X.var(axis=0).mean()
    signs = 2.0 * ecoc.codewords_[y] - 1
    ridge = Ridge(alpha).fit(X, signs)
    expected = ridge.predict(X)
    objective = np.sum((signs - expected) ** 2) + alpha * np.sum(ridge.coef_**2)
    np.testing.assert_allclose(ecoc.objective_, objective / signs.size)
    found = ecoc.encoder_.project(X)
    np.testing.assert_allclose(found, expected - signs.mean(axis=0), atol=1e-4)


def test_rows_get_the_codeword_of_their_class(digits):
    X, y = digits
    ecoc = ECOC(64, random_state=0).fit(X[:900], y[:900])
    right = ecoc.transform(X[900:]) == ecoc.codewords_[y[900:]]
    assert right.mean() > 0.75


def test_mistakes(digits):
    X, y = digits
    with pytest.raises(ArgumentError, match="reg must be"):
        ECOC(reg=-1).fit(X, y)
