"""Linear models on bits for several classes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fewbits.classify import learn_class, learn_classes
from fewbits.codes import unpack
from fewbits.errors import ArgumentError
from fewbits.learners import ITQ

X, y = load_digits(return_X_y=True)
NAMES = np.array(["nil", "one", "two", "three", "four", "five", "six", "sev", "8", "9"])
CODES = ITQ(n_bits=32, random_state=0).fit(X).encode(X)


def best(model, codes):
    return model.names[model.scores(codes).argmax(axis=1)]


def test_digits_are_told_apart():
    train, test, labels, asked = train_test_split(CODES, NAMES[y], random_state=0)
    model = learn_classes(train, 32, labels)
    assert np.mean(best(model, test) == asked) > 0.8
    assert model.scores(test).shape == (len(test), 10)
    few = learn_classes(train, 32, labels, most=200)
    assert np.mean(best(few, test) == asked) > 0.6
    assert not np.array_equal(few.weights, model.weights)


def test_each_class_against_the_rest():
    model = learn_classes(CODES, 32, NAMES[y])
    three = learn_class(CODES[y == 3], CODES[y != 3], 32)
    column = model.names.tolist().index("three")
    np.testing.assert_array_equal(model.weights[column], three.weights)
    np.testing.assert_array_equal(model.scores(CODES)[:, column], three.scores(CODES))
    by_hand = unpack(CODES, 32) @ model.weights.T + model.biases
    np.testing.assert_allclose(model.scores(CODES), by_hand, rtol=1e-4, atol=1e-4)


def test_several_labels():
    """Each is told by itself; an item may have none."""
    Y = np.stack([y % 2 == 1, y > 4, y == 0], axis=1).astype(int)
    scores = learn_classes(CODES, 32, Y, most=900).scores(CODES)
    assert ((scores > 0) == Y).mean() > 0.8


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([1, 2], "3 codes, but 2 labels"),
        ([1, 1, 1], "all items are of class 1"),
        ([[1, 0], [0, 0], [1, 0]], "no item is of class 1"),
        ([1.0, np.nan, 2], "missing in 1 of 3 rows: got nan in row 1"),
    ],
)
def test_bad_labels(labels, told):
    with pytest.raises(ArgumentError, match=told):
        learn_classes(CODES[:3], 32, labels)


def test_bad_numbers():
    with pytest.raises(ArgumentError, match="most must"):
        learn_classes(CODES, 32, y, most=0)
