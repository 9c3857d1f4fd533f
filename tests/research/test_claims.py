"""Claims are judged by the records that they name, and by no others."""

import pytest

from research.core.claims import NOT_AS_STATED, Claim, judge, load, meets
from research.core.record import Record
from research.core.study import STUDIES, Study, names
from research.core.table import claim_row, effect_of

BOTH = {"left": {"method": "a"}, "right": {"method": "b"}}


def _claim(**more):
    return Claim(**{"says": "a is better", "where": "table 1", "part": "p"}, **more)


def _records(gaps, **more):
    """Return records where a is better than b by a gap, by data and bits."""
    for (data, bits), gap in gaps.items():
        for seed in range(3):
            at, noise = {"data": data, "bits": bits, **more}, 0.01 * seed
            for method, value in (("a", gap * (1 + noise)), ("b", 0.0)):
                yield Record("p", {**at, "method": method}, seed, {"m": value + noise})


def test_every_set_has_its_verdict_by_the_length_that_speaks_against_it():
    gaps = {("x", 8): 0.5, ("x", 16): 0.1, ("y", 8): -0.2, ("y", 16): 0.9}
    found = judge(_claim(metric="m", least=0.0, **BOTH), _records(gaps))
    said = {
        dict(f.setting)["data"]: (dict(f.setting)["bits"], f.verdict) for f in found
    }
    assert said == {"x": (16, "holds"), "y": (8, "does not hold")}


def test_conditions_choose_the_settings():
    gaps = {("x", 8): -0.5, ("x", 16): 0.1, ("x", 32): -0.1}
    claim = _claim(
        metric="m", least=0.0, only={"bits": {"above": 8, "below": 32}}, **BOTH
    )
    (found,) = judge(claim, _records(gaps))
    assert found.effect.mean == pytest.approx(0.101)


def test_a_cell_that_differs_from_the_paper_takes_the_place_of_the_verdict():
    claim = _claim(metric="m", least=0.0, **BOTH)
    records = list(_records({("x", 8): 0.5, ("x", 16): 0.1, ("y", 8): 0.3}))

    def differs(record):
        return "few" if record.settings["bits"] == 16 else ""

    x, _ = judge(claim, records, differs)
    assert (dict(x.setting)["bits"], x.verdict) == (8, "holds")
    x, _ = judge(claim, records, lambda _: "few")
    assert (x.verdict, x.holds) == (NOT_AS_STATED, "holds")
    assert claim_row([x], {"x": "X"}, {"few": " (a)"})[1:] == [
        "+.101 [+.099, +.103] (X, 16 bits)", "", "", "", "1 (a)",
    ]  # fmt: skip


def test_a_control_without_bits_stands_beside_every_length():
    records = [r for r in _records({("x", 8): 0.5, ("x", 16): 0.1})]
    control = [Record("p", {"data": "x", "bits": 0, "method": "c"}, 0, {"m": 0.2})]
    claim = _claim(
        metric="m",
        left={"method": "a"},
        right={"method": "c", "bits": 0},
        exact=True,
        least=0.0,
    )
    (found,) = judge(claim, records + control)
    assert (dict(found.setting)["bits"], found.verdict) == (16, "does not hold")


def test_lengths_are_compared_with_the_next_smaller_one():
    gaps = {("x", 16): 0.4, ("x", 8): 0.1, ("x", 32): 0.3}
    claim = _claim(metric="m", left={"method": "a"}, along="bits", least=0.0)
    (found,) = judge(claim, _records(gaps))
    assert dict(found.setting)["bits"] == 32
    assert found.effect.mean == pytest.approx(-0.101)


def test_a_ratio_is_that_of_every_seed():
    records = [
        Record("p", {"data": "x", "method": method}, seed, {"us": us * (1 + seed)})
        for method, us in (("a", 30.0), ("b", 4.0))
        for seed in range(2)
    ]
    claim = _claim(metric="us", test="ratio", least=10.0, **BOTH)
    (found,) = judge(claim, records)
    assert (found.effect.mean, found.verdict) == (7.5, "does not hold")
    assert effect_of(found) == "7.50x [7.50, 7.50]"


def test_conditions_are_values_lists_or_bounds():
    settings = {"bits": 16, "data": "x"}
    assert meets(settings, {"bits": 16, "data": ["x", "y"]})
    assert meets(settings, {"bits": {"least": 16, "most": 16}})
    assert not meets(settings, {"bits": {"above": 16}})
    assert not meets(settings, {"other": 1})


@pytest.mark.parametrize("name", names())
def test_every_stated_claim_finds_records(name):
    _, claims = load(STUDIES / name / "claims.toml")
    for claim, found in zip(claims, Study(name).judged, strict=True):
        assert found, claim.says
