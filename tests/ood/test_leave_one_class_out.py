"""Known classes that play unknown ones, item by item."""

import numpy as np
import pytest

from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError, CodeError
from fewbits.ood import (
    acceptance_region,
    leave_one_class_out_rates,
    leave_one_class_out_region,
    predicted_region,
)


def clusters(n_classes, n_each, n_bits, noise, seed=0):
    """Codes whose bits come in dependent groups, as real ones do."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(6, n_bits))
    centres = rng.normal(size=(n_classes, 6))
    points = centres.repeat(n_each, axis=0)
    points = points + noise * rng.normal(size=points.shape)
    return pack(centres @ mixing > 0), pack(points @ mixing > 0)


def test_rates_item_by_item():
    class_codes, codes = clusters(6, 9, 24, 0.3)
    own = np.arange(6).repeat(9)
    kept = np.delete(np.arange(54), [3, 4, 20])  # classes of different sizes
    rates, errors, n_items = leave_one_class_out_rates(
        class_codes, 24, codes[kept], own[kept]
    )
    assert n_items == 51
    for radius in (0, 3, 8, 24):
        shares = []
        for c in range(6):
            others = np.delete(class_codes, c, axis=0)
            items = codes[kept][own[kept] == c]
            nearest = hamming_distances(items, others).min(axis=1)
            shares.append((nearest <= radius).mean())
        assert rates[radius] == pytest.approx(np.mean(shares))
        error = np.std(shares, ddof=1) / np.sqrt(6)
        assert errors[radius] == pytest.approx(error)


def test_classes_without_items_do_not_count():
    class_codes, codes = clusters(6, 9, 24, 0.3)
    own = np.arange(6).repeat(9)
    rates = leave_one_class_out_rates(class_codes, 24, codes[:18], own[:18]).rates
    each = [
        leave_one_class_out_rates(class_codes, 24, codes[own == c], own[own == c]).rates
        for c in (0, 1)
    ]
    assert rates == pytest.approx(np.mean(each, axis=0))
    alone = leave_one_class_out_rates(class_codes, 24, codes[:9], own[:9])
    assert np.isnan(alone.standard_errors).all()


def test_region_accepts_as_many_unknown_classes_as_predicted():
    """Classes that were never known, drawn as the known ones: random codes mislead."""
    accepted, predicted, misled = [], [], []
    for seed in range(10):
        class_codes, codes = clusters(80, 10, 48, 0.2, seed)
        own = np.arange(80).repeat(10)
        known, unknown = codes[own < 40], codes[own >= 40]
        region = leave_one_class_out_region(
            class_codes[:40], 48, 0.2, known, own[own < 40]
        )
        accepted.append(region.accepts(unknown).mean())
        predicted.append(region.predicted_rate)
        random = acceptance_region(class_codes[:40], 48, region.radius)
        misled.append(random.predicted_rate)
    error = np.std(accepted) / np.sqrt(10)
    assert abs(np.mean(accepted) - np.mean(predicted)) < 3 * error
    assert np.mean(misled) < np.mean(accepted) / 3


def test_radius_is_the_largest_that_will_do():
    class_codes, codes = clusters(10, 20, 32, 0.2)
    own = np.arange(10).repeat(20)
    rates = leave_one_class_out_rates(class_codes, 32, codes, own).rates
    region = leave_one_class_out_region(class_codes, 32, 0.3, codes, own)
    assert region.predicted_rate == rates[region.radius] <= 0.3
    assert rates[region.radius + 1] > 0.3
    assert region.model == "leave-one-class-out"
    assert region.radius < predicted_region(class_codes, 32, 0.3).radius


def test_mistakes():
    class_codes, codes = clusters(4, 3, 16, 0.2)
    own = np.arange(4).repeat(3)
    cases = [
        (own[:5], "for each of 12 codes the number of its row of .* int64 of shape"),
        (own.astype(float), "got float64"),
        (own + 1, "between 0 and 3, got 1 to 4"),
        (own - 1, "between 0 and 3, got -1 to 2"),
    ]
    for wrong, message in cases:
        with pytest.raises(ArgumentError, match=message):
            leave_one_class_out_rates(class_codes, 16, codes, wrong)
    with pytest.raises(ArgumentError, match="for each of 0 codes"):
        leave_one_class_out_rates(class_codes, 16, codes[:0], own[:0])
    with pytest.raises(
        ArgumentError, match="leaving out a class needs at least 2, got 1"
    ):
        leave_one_class_out_rates(class_codes[:1], 16, codes[:3], own[:3])
    with pytest.raises(CodeError, match="at least one class code"):
        leave_one_class_out_rates(class_codes[:0], 16, codes, own)
    with pytest.raises(
        ArgumentError, match="rate must be a number between 0 and 1, got 2"
    ):
        leave_one_class_out_region(class_codes, 16, 2, codes, own)
    same = np.repeat(class_codes[:1], 4, axis=0)
    with pytest.raises(ArgumentError, match="have the code of another class"):
        leave_one_class_out_region(same, 16, 0.1, np.repeat(same, 3, axis=0), own)


def test_a_rate_below_one_item_cannot_be_told():
    class_codes, codes = clusters(6, 9, 24, 0.1)
    found = leave_one_class_out_rates(class_codes, 24, codes, np.arange(6).repeat(9))
    assert found.region(class_codes, 24, 1 / 50).radius >= 0
    with pytest.raises(
        ArgumentError, match=r"54 items cannot estimate the rate 0\.01: "
    ):
        found.region(class_codes, 24, 0.01)
