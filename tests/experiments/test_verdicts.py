"""Verdicts on claims, from made-up measurements."""

import math

import pytest

from experiments._claims import Claim
from experiments._claims_page import row
from experiments._summary import figure
from experiments._verdicts import (
    ends,
    minus,
    named,
    of_independent,
    only,
    over_seeds,
    overall,
    steps,
    tagged,
    values_of,
)


def cell(method, seed, figures, **setting):
    key = {"data": "icd10", "method": method, "seed": seed, **setting}
    return {"cell": key, "figures": figures}


def line(method, *values, bits=64):
    """Return a cell for each seed."""
    return [
        cell(method, seed, {"accuracy": value}, bits=bits)
        for seed, value in enumerate(values)
    ]


def accuracies(cells, method):
    return values_of(cells, method, figure("accuracy"))


def test_differences_are_of_the_same_settings_and_seeds():
    cells = [*line("A", 0.5, 0.7), *line("A", 0.9, bits=32), *line("B", 0.4, 0.4, 0.9)]
    gaps = minus(accuracies(cells, "A"), accuracies(cells, "B"))
    assert list(gaps) == [(("bits", 64),)]
    assert gaps[(("bits", 64),)] == pytest.approx({0: 0.1, 1: 0.3})


def test_controls_stand_beside_every_length():
    cells = [*line("A", 0.5), *line("A", 0.9, bits=32), *line("float", 0.6, bits=0)]
    gaps = minus(accuracies(cells, "A"), accuracies(cells, "float"))
    found = {dict(at)["bits"]: gap[0] for at, gap in over_seeds(gaps).items()}
    assert found == pytest.approx({32: 0.3, 64: -0.1})
    assert len(only(gaps, bits=32)) == 1


def test_steps_and_ends_over_a_part_of_the_setting():
    cells = [
        c for b, v in ((128, 0.9), (32, 0.3), (64, 0.5)) for c in line("A", v, bits=b)
    ]
    values = accuracies(cells, "A")
    found = {dict(at)["bits"]: each[0] for at, each in steps(values, "bits").items()}
    assert found == pytest.approx({64: 0.2, 128: 0.4})
    assert ends(values, "bits") == {(("bits", 128),): {0: pytest.approx(0.6)}}
    assert ends(only(values, bits=32), "bits") == {}


def test_the_overall_mean_is_over_seeds_that_have_every_setting():
    gaps = {
        (("bits", 32),): {0: 0.1, 1: 0.3, 2: 9.0},
        (("bits", 64),): {0: 0.3, 1: 0.3},
    }
    mean, error, n = overall(gaps)
    assert (mean, error, n) == pytest.approx((0.25, 0.05, 2))
    assert overall({(): {0: 1.0}, (("bits", 1),): {1: 1.0}}) is None


def test_means_of_independent_draws_have_the_errors_of_both():
    mean, error, n = of_independent([(0.1, 0.03, 3), (0.3, 0.04, 5)])
    assert (mean, error) == pytest.approx((0.2, 0.025))
    assert n == pytest.approx(1 + 0.0025**2 / (0.0009**2 / 2 + 0.0016**2 / 4))
    one = of_independent([(0.1, 0.02, 4)])
    assert one == pytest.approx((0.1, 0.02, 4))
    assert of_independent([(0.1, 0.0, 3), (0.3, 0.0, 4)]) == pytest.approx((0.2, 0, 6))
    assert math.isnan(of_independent([(0.1, 0.03, 3), (0.3, math.nan, 1)])[1])


def test_names_of_settings():
    (at,) = tagged({(("bits", 64),): {}}, examples=5, by="linear SVM")
    assert named(at) == "64 bits, linear SVM, 5 examples"
    assert named((("bits", 0), ("each", 5))) == "5 per class"


def judged(gaps, margin=0.0):
    claim = Claim("X", "text", "compared", lambda _: gaps, "yes", "no", margin)
    return row(claim, {})[3:]


@pytest.mark.parametrize(
    ("values", "verdict", "why"),
    [
        ((0.02, 0.025, 0.03), "holds: +.025 ± .003", "yes"),
        # Two standard errors from 0, which three seeds do not tell from it.
        ((0.01, 0.02, 0.03), "not decided: +.020 ± .006", "seeds differ by as much"),
        ((-0.01, 0.03), "not decided: +.010 ± .020", "seeds differ by as much"),
        ((0.3,), "not decided: +.300", "one seed"),
        ((-0.03, 0.01), "not decided: -.010 ± .020", "seeds differ by as much"),
        ((-0.03, -0.025, -0.02), "**does not hold**: -.025 ± .003", "no"),
    ],
)
def test_verdicts_and_their_reasons(values, verdict, why):
    gaps = {(("bits", 64),): dict(enumerate(values))}
    mean, worst, count, reason = judged(gaps)
    assert mean == verdict
    assert worst == f"{verdict} at 64 bits"
    assert count == f"{int(sum(values) > 0)} of 1"
    assert reason == why
    better = {(("bits", 32),): dict.fromkeys(range(len(values)), 0.5)}
    _, worst, count, reason = judged(gaps | better)
    assert worst == f"{verdict} at 64 bits"
    assert count == f"{int(sum(values) > 0) + 1} of 2"
    # Of the mean: it is told beside it.
    assert reason == ("yes" if len(values) > 1 else "one seed")


def test_reasons_are_of_the_worst_where_no_seed_has_all():
    bad, good = dict.fromkeys(range(3), -0.1), dict.fromkeys(range(3, 6), 0.2)
    found = judged({(("bits", 64),): bad, (("bits", 32),): good})
    assert found[0] == ""
    assert found[-1] == "no"


def test_exact_claims_are_judged_by_their_sign():
    claim = Claim("X", "text", "compared", lambda _: {(): {0: 0.1}}, "yes", "no")
    assert row(claim._replace(exact=True), {})[4].startswith("holds")
    assert row(claim, {})[4].startswith("not decided")


def test_the_mean_over_settings_has_a_verdict_of_its_own():
    some = {(("bits", b),): {0: 0.1 * b, 1: 0.1 * b, 2: 0.1 * b} for b in (-1, 3)}
    mean, worst, *_ = judged(some)
    assert mean == "holds: +.100 ± .000"
    assert worst.startswith("**does not hold**")


def test_what_is_much_needs_a_margin():
    gaps = {(("bits", 64),): {0: 0.01, 1: 0.01}}
    assert judged(gaps)[1].startswith("holds")
    assert judged(gaps, margin=0.02)[1].startswith("**does not hold**")


def test_one_seed_has_no_error():
    assert math.isnan(overall({(): {0: 1.0}})[1])
