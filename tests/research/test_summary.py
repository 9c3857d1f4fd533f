import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from research.core.summary import Summary, summarize


def test_mean_and_standard_error():
    summary = summarize([0.5, 0.6, 0.7, 0.8])
    assert summary.mean == pytest.approx(0.65)
    assert summary.standard_error == pytest.approx(np.std([5, 6, 7, 8], ddof=1) / 20)
    assert summary.n == 4
    assert str(summary) == ".650 ± .065"


def test_one_value_has_no_error():
    summary = summarize([0.25])
    assert np.isnan(summary.standard_error)
    assert str(summary) == ".250"


def test_scores_are_values():
    codes = np.array([[0], [1]], np.uint8)
    score = mean_average_precision(codes, codes, same_label([0, 1], [0, 1]))
    assert summarize([score.value, score.value]).mean == score.value
    assert score.definition.startswith("mAP, AP divides by min(R, relevant)")


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (0.9996, 0.0004, "1.000 ± .000"),
        (-0.25, 0.5, "-.250 ± .500"),
        (12.3456, 1.0, "12.346 ± 1.000"),
    ],
)
def test_format(mean, error, text):
    assert str(Summary(mean, error, 2)) == text


@pytest.mark.parametrize("values", [[], [0.1, np.nan], [np.inf]])
def test_values_are_checked(values):
    with pytest.raises(ArgumentError, match="need finite values, at least one"):
        summarize(values)
