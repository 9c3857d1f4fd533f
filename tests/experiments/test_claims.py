"""What the pages of results print."""

import math

import pytest

from experiments._projections import DENSITIES, named
from experiments._sparse_claims import (
    UNKNOWN,
    Claim,
    below_d,
    gains,
    reasons,
    sweet_point,
    verdict,
)
from experiments._summary import decimal, over_seeds, shortest, shown


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
    assert shortest(cells, "map") == {("a",): 1.0, ("b",): 5.0}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.70, 0.71], "not decided: +.005 ± .005 at 64 bits"),
        ([0.70, 0.705, 0.71], "holds: +.005 ± .003 at 64 bits"),
        ([0.68, 0.68], "**does not hold**: -.020 ± .000 at 64 bits"),
        ([0.65, 0.71], "not decided: -.020 ± .030 at 64 bits"),
        ([0.68], "not decided: -.020 at 64 bits"),
    ],
)
def test_verdicts(values, text):
    table = {
        (64, "SP 10%"): dict(enumerate(values)),
        (64, "LSH"): dict.fromkeys(range(3), 0.7) | {3: 0.9},  # the last has no partner
        (128, "SP 10%"): dict.fromkeys(range(3), 0.8),
        (128, "LSH"): dict.fromkeys(range(3), 0.7),
    }
    near = Claim("near", "SP 10%", "LSH", 0.01)
    assert verdict(near, table, 256) == text
    assert verdict(near._replace(from_share=0.6), table, 256) == ""
    assert "at 128 bits" in verdict(near._replace(from_share=0.3), table, 256)
    assert verdict(near._replace(to_share=0.25), table, 256) == text


def test_reasons_are_those_of_a_set():
    titles = {"icd10": "ICD-10", "caltech101-1280": "narrow", "caltech101-5120": "wide"}
    widths = {"icd10": 256, "caltech101-1280": 1280, "caltech101-5120": 5120}
    missed = ["**does not hold**: -.1"] * 3
    few = Claim("few", "SP 10%", "b", 0.0, why=((500, "too few"), *UNKNOWN))
    other = Claim("other", "a", "ITQ", 0.0)
    apart = Claim("apart", "a", "b", 0.0)  # no method with fewer iterations
    judged = [(few, missed), (other, missed), (few, ["holds"] * 3), (apart, missed)]
    _, lines = reasons(judged, titles, widths)
    fewer = "not examined; ITQ and SP have 5 iterations, 50 in the paper (wide)."
    assert lines.splitlines() == [
        "- few: too few (ICD-10).",
        "- few: not examined (narrow).",
        f"- few: {fewer}",
        f"- {other.text}: not examined (ICD-10; narrow).",
        f"- {other.text}: {fewer}",
        "- apart: not examined (ICD-10; narrow; wide).",
    ]
    assert reasons([(few, ["holds", "", ""])], titles, widths) == []


def test_sweet_point_is_the_best_density():
    values = {"SP 1%": 0.8, "SP 10%": 0.7, "SP 100%": 0.75}
    table = {(64, name): {0: value, 1: value} for name, value in values.items()}
    text = "1 %: +.100 ± .000 beyond 10 %, +.050 ± .000 beyond all"
    assert sweet_point(table, 64) == text
    assert sweet_point(table, 128) == ""
    del table[64, "SP 100%"]
    assert sweet_point(table, 64) == ""


def test_the_best_density_below_the_number_of_features_needs_all_of_them():
    table = {
        (bits, named(density)): dict.fromkeys(range(2), 1 - density)
        for bits in (32, 64, 128)
        for density in DENSITIES
    }
    del table[64, "SP 5%"]
    assert below_d(table, 128).startswith("0.1 %: ")
    assert below_d(table, 128).endswith("beyond all at 32 bits")
    assert below_d(table, 32) == ""


def test_gains_are_those_around_the_number_of_features():
    table = {(bits, "ITQ"): {0: value} for bits, value in [(64, 0.5), (128, 0.6)]}
    table |= {(256, "ITQ"): {0: 0.75}, (512, "ITQ"): {0: 0.7}}
    assert gains("ITQ", table, 256) == (
        "not decided: +.150 from 128 to 256 bits, "
        "not decided: -.050 from 256 to 512 bits"
    )
