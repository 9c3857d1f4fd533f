"""Means, intervals and verdicts, beside SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from research.core.compare import (
    Effect,
    by_setting,
    effect,
    metric_of,
    over_seeds,
    paired,
    verdict,
)
from research.core.record import Record

VALUES = st.lists(st.floats(-1, 1), min_size=2, max_size=8)


@given(VALUES)
def test_an_effect_is_scipys_mean_and_error(values):
    found = effect(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert found.error == pytest.approx(stats.sem(values), abs=1e-12)


@given(VALUES.filter(lambda values: np.ptp(values) > 1e-3))
def test_the_interval_is_that_of_students_t(values):
    mean, error = np.mean(values), stats.sem(values)
    expected = stats.t.interval(0.95, len(values) - 1, mean, error)
    assert effect(values).interval == pytest.approx(expected)


@given(VALUES.filter(lambda values: np.ptp(values) > 1e-3), st.floats(-1, 1))
def test_a_verdict_is_that_of_a_two_sided_test(values, least):
    found = stats.ttest_1samp(values, least)
    p, above = found.pvalue, np.mean(values) > least
    if abs(p - 0.05) > 1e-6:
        expected = "undecided" if p > 0.05 else "holds" if above else "does not hold"
        assert verdict(effect(values), least) == expected


def test_one_value_decides_nothing_unless_it_is_exact():
    assert verdict(effect([5.0]), 0) == "undecided"
    assert verdict(effect([5.0], exact=True), 0) == "holds"
    assert verdict(effect([5.0], exact=True), 0, most=4) == "does not hold"
    assert math.isnan(effect([5.0]).error)


def test_an_interval_within_both_bounds_is_the_same():
    assert verdict(Effect(0.0, 0.001, 100), -0.01, 0.01) == "holds"
    assert verdict(Effect(0.0, 0.01, 100), -0.01, 0.01) == "undecided"


def test_pairs_are_of_the_same_seed():
    assert paired({0: 3.0, 1: 5.0, 2: 1.0}, {1: 1.0, 0: 1.0, 9: 7.0}) == [2.0, 4.0]
    assert paired({0: 3.0, 1: 5.0}, {None: 1.0}) == [2.0, 4.0]
    assert paired({0: 1.0}, {1: 1.0}) == []


def test_metrics_are_found_by_their_path():
    record = Record("p", {}, 0, {"rules": {"radius 0": [0.5, 0.25]}, "n": 3})
    assert metric_of(record, "rules/radius 0/1") == 0.25
    assert metric_of(record, "n") == 3
    for lacking in ("rules/radius 1", "rules/radius 0/2", "n/0", "x"):
        assert metric_of(record, lacking) is None


def test_means_are_over_seeds_of_a_setting():
    records = [
        Record("p", {"bits": b}, s, {"m": b + s}) for b in (8, 16) for s in (0, 2)
    ]
    assert by_setting(records, "m")[("bits", 8),] == {0: 8.0, 2: 10.0}
    assert over_seeds(records, "m")[("bits", 16),].mean == 17
