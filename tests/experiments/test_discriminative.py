"""Classifiers beside codes, in the experiment on classes that were trained on."""

import numpy as np
import pytest

from experiments._product_quantization import quantized
from experiments.discriminative import Problem, class_svm_figures, pq_figures
from fewbits.codes import pack
from fewbits.evaluation import category_scores

N_CLASSES, N_BITS = 5, 12


@pytest.fixture
def bits():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(N_CLASSES), 20)
    centres = rng.integers(0, 2, (N_CLASSES, N_BITS))
    flips = rng.random((len(y), N_BITS)) < 0.2
    return (centres[y] ^ flips).astype(np.uint8), y


def problem(X, y):
    X = np.asarray(X, np.float32)
    return Problem("icd10", np.concatenate([X[::2], X[1::2]]), y[::2], y[1::2], 0)


def test_linear_svms_on_real_numbers_are_those_on_codes(bits):
    rows, y = bits
    signs = 2 * rows.astype(np.float32) - 1
    found = class_svm_figures(problem(signs, y), signs[::2], signs[1::2])
    codes = pack(rows)
    expected = category_scores(
        codes[::2], y[::2], codes[1::2], y[1::2], n_bits=12, at=10
    )
    assert found["svm"] == pytest.approx(expected.accuracy.mean(), abs=0.02)
    assert found["precision"] == pytest.approx(expected.precision.mean(), abs=0.02)
    assert found["svm"] > 0.7


def test_rows_are_centres_where_there_are_enough_of_them():
    X = np.random.default_rng(0).normal(size=(256, 7)).astype(np.float32)
    found = quantized(X, X[:9], 4, 0)
    np.testing.assert_allclose(found.rows[:, :7], X, atol=1e-6)
    np.testing.assert_array_equal(found.rows[:, 7:], 0)
    np.testing.assert_array_equal(found.nearest, np.arange(9))


def test_product_quantization_is_classified_only_where_asked(bits):
    rows, y = bits
    asked = problem(rows, y)
    assert set(pq_figures(asked, 16, classify=False)) == {"nearest"}
    figures = pq_figures(asked, 16, classify=True)
    assert set(figures) == {"nearest", "svm", "precision"}
    assert min(figures.values()) > 1 / N_CLASSES
