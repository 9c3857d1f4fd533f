"""Probabilities of classes: Bayes' rule with independent bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Calibration, Codebook, top_classes
from fewbits.classify.decoders import Soft
from fewbits.codes import pack, unpack
from fewbits.errors import ArgumentError, FeatureError
from tests.classify._probabilities import class_probabilities


def by_hand(book, calibration, scores):
    """Multiply the probabilities of the bits, class by class."""
    ones = 1 / (1 + np.exp(-calibration.log_odds(scores)))[:, None]
    bits = unpack(book.codes, book.n_bits)
    likelihoods = np.where(bits, ones, 1 - ones).prod(axis=2)
    joint = (1 - calibration.none) / len(book) * likelihoods
    none = np.full((len(scores), 1), calibration.none * 2.0**-book.n_bits)
    everything = np.append(joint, none, axis=1)
    return everything / everything.sum(axis=1, keepdims=True)


@pytest.fixture
def calibration():
    return Calibration(0.7, np.linspace(-1, 1, 12), none=0.25)


def test_are_those_of_independent_bits(make, calibration):
    case = make(30, 12, 20, 0)
    expected = by_hand(case.book, calibration, case.scores)
    found = class_probabilities(case.book, case.scores, calibration)
    np.testing.assert_allclose(found, expected[:, :-1], rtol=1e-10)


def test_without_calibration_scores_are_log_odds(make):
    case = make(30, 12, 20, 0)
    plain = Calibration(1.0, np.zeros(12))
    expected = by_hand(case.book, plain, case.scores)[:, :-1]
    found = class_probabilities(case.book, case.scores)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@given(data=st.data())
def test_the_most_probable_class_is_that_of_soft_decoding(drawn, data):
    case = drawn(data)
    if len(case.scores):
        rows = top_classes(case.book, case.scores, 1).rows[:, 0]
        np.testing.assert_array_equal(rows, Soft().decode(case.book, case.scores).rows)


@given(data=st.data(), k=st.integers(1, 70))
def test_top_classes_are_a_stable_sort(drawn, data, k):
    case = drawn(data)
    everything = class_probabilities(case.book, case.scores)
    found = top_classes(case.book, case.scores, k)
    assert found.rows.shape == (len(case.scores), min(k, len(case.book)))
    expected = np.argsort(case.costs, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.rows, expected)
    picked = np.take_along_axis(everything, expected, axis=1)
    np.testing.assert_array_equal(found.probabilities, picked)


def test_no_class_can_be_the_most_probable(make, calibration):
    case = make(5, 12, 40, 1, noise=3.0)
    found = top_classes(case.book, case.scores, 100, calibration)
    assert found.rows.shape == (40, 6)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    assert (np.sort(found.rows, axis=1) == np.arange(-1, 5)).all()
    expected = by_hand(case.book, calibration, case.scores)
    none = found.probabilities[found.rows == -1]
    np.testing.assert_allclose(none, expected[:, -1], rtol=1e-10)
    assert (found.rows[:, 0] == -1).any()


def test_classes_with_the_same_code_are_equally_probable():
    rng = np.random.default_rng(0)
    codes = pack(rng.random((50, 64)) < 0.5)
    book = Codebook(np.concatenate([codes, codes]), 64)
    found = class_probabilities(book, rng.normal(size=(30, 64)))
    np.testing.assert_array_equal(found[:, :50], found[:, 50:])


def test_an_item_has_the_same_probabilities_alone_as_in_a_batch(make):
    case = make(200, 40, 30, 2)
    together = class_probabilities(case.book, case.scores)
    alone = [class_probabilities(case.book, [score])[0] for score in case.scores]
    np.testing.assert_array_equal(together, alone)


def test_extreme_scores():
    book = Codebook(pack([[0, 0], [1, 1]]), 2)
    found = class_probabilities(book, [[1e150, 1e150], [1e-150, -1e-150], [0.0, 0.0]])
    np.testing.assert_array_equal(found, [[0, 1], [0.5, 0.5], [0.5, 0.5]])


def test_mistakes(make, calibration):
    case = make(5, 8, 3, 0)
    with pytest.raises(ArgumentError, match="codes of 12 bits, the codebook's have 8"):
        class_probabilities(case.book, case.scores, calibration)
    with pytest.raises(ArgumentError, match="k must be at least 1"):
        top_classes(case.book, case.scores, 0)
    with pytest.raises(FeatureError, match="finite"):
        class_probabilities(case.book, case.scores * np.nan)
