import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fewbits.errors import ArgumentError
from fewbits.evaluation.statistics import mean_interval


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_intervals_hold_what_was_measured(values):
    found = mean_interval(values)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high
    assert found.mean == np.mean(values)
    surer = mean_interval(values, 0.99)
    assert surer.low <= found.low < found.high <= surer.high
    mirrored = mean_interval(1 - np.array(values))
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 1])
def test_intervals_of_hits_and_misses_are_those_of_wilson(share):
    n = 10_000
    n_hits = round(share * n)
    found = mean_interval(np.arange(n) < n_hits)
    wilson = binomtest(n_hits, n).proportion_ci(method="wilson")
    assert found.low == pytest.approx(wilson.low, abs=1e-6)
    assert found.high == pytest.approx(wilson.high, abs=1e-6)


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize(
    ("a", "b"), [(6, 4), (2, 2), (0.2, 0.01), (0.1, 2), (30, 0.3), (99, 0.1)]
)
def test_intervals_contain_the_mean_of_all_queries(a, b, n):
    """Ten hits of a query that depend on each other, as rare as misses may be."""
    rng = np.random.default_rng(0)
    hits = rng.binomial(10, rng.beta(a, b, (200, n))) / 10
    found = [mean_interval(each) for each in hits]
    assert sum(each.low <= a / (a + b) <= each.high for each in found) >= 180


def test_intervals_are_as_narrow_as_those_of_student_where_these_hold():
    values = np.random.default_rng(0).integers(3, 9, 1000) / 10
    found = mean_interval(values)
    student = 2 * 1.962 * values.std(ddof=1) / np.sqrt(1000)
    assert found.high - found.low == pytest.approx(student, rel=0.03)
    assert str(mean_interval([0.5, 0.5])) == ".500 (.125 to .875)"


@pytest.mark.parametrize(
    ("values", "confidence", "message"),
    [
        ([0.5], 0.95, "2 values at least"),
        ([[0.5, 0.5]], 0.95, "of shape"),
        ([0.5, 1.1], 0.95, "from 0 to 1"),
        ([0.5, np.nan], 0.95, "from 0 to 1"),
        ([0.5, 0.6], 1, "confidence must be a number above 0 and below 1"),
    ],
)
def test_what_intervals_are_made_of_is_checked(values, confidence, message):
    with pytest.raises(ArgumentError, match=message):
        mean_interval(values, confidence)
