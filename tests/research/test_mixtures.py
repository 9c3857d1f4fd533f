"""A threshold is best on the mixture it was tuned on; a rule without one has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError
from research.common.ood import detection
from research.studies.llc.mixtures import threshold_under_prior_shift, tune_threshold

few = st.lists(st.integers(0, 6), min_size=1, max_size=30)  # with many ties


@given(known=few, unknown=few, positive=st.sampled_from(["known", "unknown"]))
def test_tuned_threshold_by_trying_every_one(known, unknown, positive):
    known, unknown = np.array(known), np.array(unknown)

    def quality(threshold):
        found = detection(known >= threshold, unknown >= threshold)
        return found.f1_known if positive == "known" else found.f1_unknown

    best = max(quality(t) for t in [*known, *unknown, 99])
    threshold = tune_threshold(known, unknown, positive=positive)
    assert quality(threshold) == pytest.approx(best)
    smaller = [t for t in {*known, *unknown} if t < threshold]
    assert all(quality(t) < best + 1e-12 for t in smaller)


def test_everything_may_be_rejected():
    threshold = tune_threshold([1, 2], [9.0] * 50)
    assert 9 < threshold < 9.0000001


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    return rng.normal(2, 1, 2000), rng.normal(0, 1, 1000)


def test_tuning_on_the_right_mixture_is_best_for_it(normal):
    known, unknown = normal
    found = threshold_under_prior_shift(
        known, unknown, known > 1, unknown > 1, n_draws=10
    )
    assert len(found) == 9
    table = {
        (r.validation_share, r.deployment_share): r.tuned["F1 (unknown)"] for r in found
    }
    for deployed in (0.1, 0.5, 0.9):
        best = max((0.1, 0.5, 0.9), key=lambda share: table[share, deployed].mean)
        assert best == deployed
    worst = table[0.9, 0.1]
    assert worst.mean < table[0.1, 0.1].mean - 0.2
    assert worst.n == 10


def test_balanced_accuracy_does_not_depend_on_the_deployment(normal):
    known, unknown = normal
    found = threshold_under_prior_shift(
        known, unknown, known > 1, unknown > 1, n_draws=5
    )
    for first, second in zip(found[::3], found[1::3], strict=True):
        a, b = (r.tuned["balanced accuracy"] for r in (first, second))
        assert a == pytest.approx(b)
        assert first.tuned["accuracy"] != second.tuned["accuracy"]
    untuned = found[0].untuned["balanced accuracy"]
    assert untuned.mean == pytest.approx(
        detection(known > 1, unknown > 1).balanced_accuracy, abs=0.01
    )


def test_untuned_rule_is_measured_on_the_same_items(normal):
    """A rule that is the tuned threshold's own gets the same figures."""
    known, unknown = normal
    threshold = tune_threshold(known, unknown)
    rows = [known >= threshold, unknown >= threshold]
    same = threshold_under_prior_shift(
        known, unknown, *rows, validation_shares=[1 / 3], n_draws=5
    )
    for result in same:
        for name, tuned in result.tuned.items():
            assert tuned.mean == pytest.approx(result.untuned[name].mean, abs=0.05)


def test_mixtures_are_reproducible(normal):
    known, unknown = normal
    arguments = known, unknown, known > 1, unknown > 1
    options = {"n_draws": 3, "positive": "known", "random_state": 5}
    assert threshold_under_prior_shift(
        *arguments, **options
    ) == threshold_under_prior_shift(*arguments, **options)


def test_few_items_are_drawn_again():
    found = threshold_under_prior_shift(
        [3, 4], [1, 2], [True, True], [False, False], n_draws=2
    )
    assert found[0].untuned["accuracy"].mean == 1


def test_mistakes_in_mixtures(normal):
    known, unknown = normal
    with pytest.raises(ArgumentError, match="a decision of 2 unknown items"):
        threshold_under_prior_shift(known, [1.0], known > 1, [True])
    with pytest.raises(ArgumentError, match="between 0 and 1, got 1"):
        threshold_under_prior_shift(
            known, unknown, known > 1, unknown > 1, validation_shares=[1]
        )
