"""What the pages of results print."""

import math

import pytest

from experiments._summary import decimal, medians, over_seeds, shown


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.712, 3, ".712"), (20.93, 1, "20.9"), (0.04, 1, ".0"), (1.0, 3, "1.000")],
)
def test_only_a_leading_zero_is_dropped(value, digits, text):
    assert decimal(value, digits) == text


def test_one_seed_has_no_error():
    assert shown(10.04, math.nan, 2) == "10.04"
    assert shown(0.5, 0.01) == ".500 ± .010"


def test_seeds_are_put_together():
    cells = [
        {"cell": {"method": m, "seed": s}, "figures": {"map": v}}
        for m, s, v in [("a", 0, 1.0), ("a", 1, 2.0), ("a", 2, 6.0), ("b", 0, 5.0)]
    ]
    mean, error, n = over_seeds(cells, "map")[("a",)]
    assert (mean, n) == (3, 3)
    assert error == pytest.approx(math.sqrt(7 / 3))
    assert medians(cells, "map") == {("a",): 2.0, ("b",): 5.0}
