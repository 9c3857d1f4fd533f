import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.evaluation.classification import calibration_error


def test_by_hand():
    coarse = calibration_error([0.05, 0.5, 0.95], [False, True, True], n_bins=2)
    assert coarse.counts.tolist() == [2, 1]
    np.testing.assert_allclose(coarse.confidences, [0.275, 0.95])
    np.testing.assert_allclose(coarse.accuracies, [0.5, 1.0])
    assert float(coarse) == pytest.approx((2 * 0.225 + 0.05) / 3)


def test_probabilities_that_mean_what_they_say():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    assert calibration_error(p, rng.random(100_000) < p).value < 0.01
    assert calibration_error(p, rng.random(100_000) < p**2).value > 0.1


def test_empty_bins_count_nothing():
    found = calibration_error([0.95, 0.95], [True, True], n_bins=10)
    assert found.value == pytest.approx(0.05)
    assert np.isnan(found.accuracies[:9]).all()


@pytest.mark.parametrize(
    ("confidences", "right", "n_bins", "message"),
    [
        ([], np.zeros(0, bool), 15, "must not be empty"),
        ([0.5], [True, False], 15, "same length"),
        ([1.5], [True], 15, "between 0 and 1"),
        ([np.nan], [True], 15, "between 0 and 1"),
        ([0.5], [1], 15, "true or false, got dtype int64"),
        ([[0.5]], [True], 15, r"a list, got shape \(1, 1\)"),
        ([0.5], [True], 0, "n_bins must be at least 1"),
    ],
)
def test_mistakes(confidences, right, n_bins, message):
    with pytest.raises(ArgumentError, match=message):
        calibration_error(confidences, right, n_bins=n_bins)
