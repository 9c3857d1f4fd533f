"""The more careful of two predictions of how many unknown items are accepted."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError, CodeError
from fewbits.ood import (
    FalseAcceptRates,
    acceptance_region,
    conservative_region,
    leave_one_class_out_rates,
    predicted_region,
)

N_BITS = 16
BOOK = np.array([[0, 0], [255, 255], [255, 0]], np.uint8)


def left_out(rates, n_items=100):
    rates = np.asarray([*rates, *[1.0] * (N_BITS + 1 - len(rates))])
    return FalseAcceptRates(rates, np.full(N_BITS + 1, np.nan), n_items)


def test_radius_is_the_smaller_and_rate_the_larger():
    by_space = predicted_region(BOOK, N_BITS, 0.05)
    strict = conservative_region(BOOK, N_BITS, 0.05, left_out([0.01, 0.04, 0.2]))
    assert strict.radius == 1 < by_space.radius
    assert strict.predicted_rate == 0.04
    loose = conservative_region(BOOK, N_BITS, 0.05, left_out([0.0] * N_BITS))
    assert loose.radius == by_space.radius
    assert loose.predicted_rate == by_space.predicted_rate


def test_is_never_less_careful_than_either_model():
    rng = np.random.default_rng(0)
    own = rng.integers(len(BOOK), size=200)
    items = BOOK[own] ^ (rng.random((200, 2)) < 0.5) * np.uint8(1)
    rates = leave_one_class_out_rates(BOOK, N_BITS, items, own)
    for rate in (0.01, 0.05, 0.3):
        both = (predicted_region(BOOK, N_BITS, rate), rates.region(BOOK, N_BITS, rate))
        found = conservative_region(BOOK, N_BITS, rate, rates)
        assert found.radius == min(each.radius for each in both)
        told = acceptance_region(BOOK, N_BITS, found.radius).predicted_rate
        assert found.predicted_rate == max(told, rates.rates[found.radius])


@pytest.mark.parametrize("none", [None, left_out([0.5], n_items=1)])
def test_few_items_leave_the_code_space(none):
    found = conservative_region(BOOK, N_BITS, 0.05, none)
    assert found.radius == predicted_region(BOOK, N_BITS, 0.05).radius


def test_rate_finer_than_an_item_has_the_finest_that_they_can_tell():
    rates = left_out([0.0, 0.005, 0.03], n_items=100)
    finest = conservative_region(BOOK, N_BITS, 0.0101, rates)
    with pytest.warns(UserWarning, match=r"rate of 0.001 is not met: 0.005 of") as told:
        finer = conservative_region(BOOK, N_BITS, 0.001, rates)
    assert told[0].filename == __file__
    assert finest.radius == finer.radius == 1
    assert finer.predicted_rate > 0.001


def test_a_rate_that_is_met_is_not_warned_about():
    """Even when it is finer than an item: warnings are errors here."""
    rates = left_out([0.0] * N_BITS, n_items=100)
    assert conservative_region(BOOK, N_BITS, 0.001, rates).predicted_rate <= 0.001


def test_short_codes_are_refused_with_what_is_lacking():
    with pytest.raises(ArgumentError, match="bits"):
        conservative_region(BOOK, N_BITS, 1e-5, None)
    with pytest.raises(ArgumentError, match=r"100 held-out items are too"):
        conservative_region(BOOK, N_BITS, 1e-5, left_out([0.0]))
    with pytest.raises(ArgumentError, match="longer codes are needed"):
        conservative_region(BOOK, N_BITS, 0.05, left_out([0.5]))


@pytest.mark.parametrize("rate", [1.0, 0, float("nan"), "x", None])
def test_no_rate(rate):
    with pytest.raises(ArgumentError, match="rate must be a number between 0 and 1"):
        conservative_region(BOOK, N_BITS, rate, None)


@pytest.mark.parametrize("codes", [BOOK.astype(int), BOOK.tolist(), BOOK[:, :1], None])
def test_no_codes(codes):
    with pytest.raises(CodeError):
        conservative_region(codes, N_BITS, 0.05, left_out([0.0]))


def test_rates_of_codes_of_another_length():
    rates = left_out([0.0])
    with pytest.raises(ArgumentError, match="rates of codes of 16 bits, not 8"):
        conservative_region(BOOK[:, :1], 8, 0.3, rates)
    with pytest.raises(ArgumentError, match="rates of codes of 16 bits, not 8"):
        rates.within(BOOK[:, :1], 8, 1)


def test_what_is_written_to_a_region_is_its_own():
    conservative_region(BOOK, N_BITS, 0.05, None).class_codes[:] = 7
    again = conservative_region(BOOK, N_BITS, 0.05, None).class_codes
    assert {tuple(row) for row in again} == {tuple(row) for row in BOOK}
