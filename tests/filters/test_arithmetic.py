"""Arithmetic is exact, or refused in one line."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.filters._ask import ask, refusal


@pytest.mark.parametrize(
    "condition",
    [
        "c + 1 = 9007199254740994",
        "c * 2 = 18014398509481986",
        "c - 0.5 = 9007199254740992.5",
        "-c = -9007199254740993",
        "c % 10 = 3",
        "c * 0.1 = 900719925474099.3",
        "0.1 + 0.2 = 0.3",
        "2 * 3 + 4 * 5 = 26",
        "7 / 2 = 3.5",
        "1 / 3 * 3 = 1",
        "(c - 9007199254740992) / 4 = .25",
        "c - 1 - 1 - 1 = 9007199254740990",
    ],
)
def test_is_exact(condition):
    assert ask(condition, c=[2**53 + 1]) == [True]


def test_of_decimals_is_exact():
    prices = pa.array([Decimal("0.10"), Decimal("19.99"), None], pa.decimal128(9, 2))
    assert ask("c + 0.2 = 0.3", c=prices) == [True, False, False]
    assert ask("c * 3 = 59.97", c=prices) == [False, True, False]
    assert ask("c * c = 399.6001", c=prices) == [False, True, False]


@given(number=st.integers(-9, 9), other=st.integers(-9, 9).filter(bool))
@settings(max_examples=50)
def test_the_remainder_has_the_sign_of_what_is_divided(number, other):
    rest = abs(number) % abs(other) * (-1 if number < 0 else 1)
    assert ask(f"c % {other} = {rest}", c=[number]) == [True]
    assert ask(f"{number} % d = {rest}", d=[other]) == [True]
    assert ask(f"{number} % {other} = {rest}", d=[0]) == [True]


def test_lowest_number_has_a_remainder():
    assert ask("c % -1 = 0", c=[-(2**63)]) == [True]


@pytest.mark.parametrize("quotient", ["c / 0", "c / d", "c % d", "c % 0", "1 / 0"])
def test_dividing_by_zero_is_null(quotient):
    assert ask(f"({quotient}) IS NULL", c=[1], d=[0]) == [True]
    assert ask(f"{quotient} = 1 OR {quotient} <> 1", c=[1], d=[0]) == [False]


@pytest.mark.parametrize(
    "condition",
    [
        "c + 1 > 0",
        "c * c > 0",
        "-1 - c - 2 < 0",
        "c / 3 > 0",
        "c * 1e300 > 0",
        "c + f > 0",
        "1e300 * 1e300 * 1e300 * 1e300 * 1e300 > c",
    ],
)
def test_what_overflows_is_refused(condition):
    assert refusal(condition, c=[2**63 - 1], f=[1.5])


def test_precedence_that_differs_between_databases_is_refused():
    for condition in ("7 % 4 * 2 = 6", "1 + 7 % 4 = 4", "8 * 7 % 4 = 0"):
        assert "parentheses around %" in refusal(condition)
    assert ask("(7 % 4) * 2 = 6 AND 1 + (7 % 4) = 4", c=[0]) == [True]
