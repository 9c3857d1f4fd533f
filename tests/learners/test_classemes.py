"""Classemes are one-versus-rest classifiers; elimination keeps the useful ones."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError
from fewbits.learners import Classemes


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_each_bit_asks_about_its_class(digits):
    X, y = digits
    classemes = Classemes(random_state=0).fit(X[:900], y[:900])
    bits = classemes.transform(X[900:])
    own = bits[np.arange(len(bits)), y[900:]]
    assert classemes.bit_classes_.tolist() == list(range(10))
    assert own.mean() > 0.8
    assert (bits.sum() - own.sum()) / (bits.size - len(bits)) < 0.03


def test_fewer_bits_are_a_part_of_all(digits):
    X, y = digits
    every = Classemes(random_state=0).fit(X[:300], y[:300])
    few = Classemes(4, random_state=0).fit(X[:300], y[:300])
    assert len(few.bit_classes_) == 4
    np.testing.assert_array_equal(
        few.transform(X), every.transform(X)[:, few.bit_classes_]
    )


def test_more_bits_repeat_classes_with_other_rows(digits):
    X, y = digits
    once = Classemes(random_state=0).fit(X[:300], y[:300])
    more = Classemes(34, random_state=0).fit(X[:300], y[:300])
    bits = more.transform(X)
    np.testing.assert_array_equal(bits[:, :10], once.transform(X))
    assert more.bit_classes_[:30].tolist() == 3 * list(range(10))
    assert len(set(more.bit_classes_[30:].tolist())) == 4
    assert len(np.unique(bits, axis=1).T) == 34
    assert (bits[:, :10] == bits[:, 10:20]).mean() > 0.9


def test_bits_that_repeat_others_are_told():
    X = np.repeat(np.eye(6), 10, axis=0)  # every sample has the same machines
    y = np.repeat(np.arange(6), 10)
    with pytest.warns(UserWarning, match="only 6 of 30 bits are different on the tr"):
        Classemes(30, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bits": 0}, "n_bits must be"),
        ({"C": 0}, "C must be"),
    ],
)
def test_mistakes(digits, parameters, message):
    X, y = digits
    with pytest.raises(ArgumentError, match=message):
        Classemes(**parameters).fit(X[:200], y[:200])


def test_constant_bits_are_counted_and_warned_about():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 12
    with pytest.warns(UserWarning, match="^12 of 12 bits are constant"):
        learner = Classemes(class_weight=None, C=1e-3, random_state=0).fit(X, y)
    assert learner.n_dead_bits_ == 12
