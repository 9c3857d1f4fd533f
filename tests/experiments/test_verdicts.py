"""Verdicts on claims, from made-up measurements."""

import math

import pytest

from experiments import _claims_page
from experiments._claims import (
    MUCH,
    Claim,
    gains_from_classes,
    spare_seconds,
    times_classemes,
)
from experiments._claims_page import NOT_MEASURED, PAPERS, row, tables, write
from experiments._stated_claims import DBC, PICODES
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


def test_gains_of_picodes_over_classemes():
    examples = ("1", "2", "5", "10", "20")
    cells = [
        cell("PiCoDes", 0, {"precision": {n: [0.6] * 9 for n in examples}}, bits=256),
        cell("classemes", 0, {"precision": {n: [0.4] * 9 for n in examples}}, bits=0),
    ]
    gaps = times_classemes({"class_search": cells})
    assert [gap[0] for gap in gaps.values()] == pytest.approx([0.5] * len(examples))
    known = [
        cell(method, 0, {"accuracy": value}, bits=bits, known=n)
        for method, bits, values in (
            ("PiCoDes", 128, (0.6, 0.7)),
            ("classemes", 0, (0.2, 0.5)),
        )
        for n, value in zip((10, 50), values, strict=True)
    ]
    (gap,) = gains_from_classes({"known_classes": known}).values()
    assert gap == {0: pytest.approx(-0.2)}


def test_what_is_much_needs_a_margin():
    gaps = {(("bits", 64),): {0: MUCH / 2, 1: MUCH / 2}}
    assert judged(gaps)[1].startswith("holds")
    assert judged(gaps, margin=MUCH)[1].startswith("**does not hold**")


def test_claims_without_measurements_say_so():
    nothing = {name: [] for name in _claims_page.EXPERIMENTS}
    for claim in (*PICODES, *DBC):
        assert row(claim, nothing)[4] == NOT_MEASURED


def test_every_claim_of_the_papers_is_there():
    codes = {claim.code for claim in (*PICODES, *DBC)}
    assert codes >= {"P1", "P2", "P3", "D1", "D2", "D3", "D4", "D5"}


def dbc(seed):
    """Return a run of DBC in which the slack rises."""
    terms = {"intra": [0.3, 0.1], "inter": [0.4, 0.45], "slack": [0.1, 0.2]}
    terms["regulariser"] = [0.5, 0.5]
    figures = {"svm": 0.8, "nearest": 0.7, "selected": 0.79, "objective": [1.0, 0.9]}
    return cell("DBC", seed, {**figures, "terms": terms}, bits=128, each=5)


def search(seed, seconds, items):
    figures = {
        "precision": {str(n): [0.5] * 9 for n in (1, 2, 5, 10, 20)},
        "search_seconds": seconds + 0.1,
        "rank_seconds": seconds,
        "items": items,
        "bytes": 256 * items,
    }
    return cell("PiCoDes", seed, figures, bits=2048)


def measured():
    known = [
        cell("PiCoDes", seed, {"accuracy": 0.01 * n}, bits=128, known=n)
        for seed in (0, 1)
        for n in (10, 25)
    ]
    return {
        "novel_classes": [*line("PiCoDes", 0.5, 0.6, 0.6), *line("LSH", *[0.4] * 3)],
        "known_classes": known,
        "class_search": [search(seed, 0.2, 70_000) for seed in (0, 1)],
        "discriminative": [dbc(seed) for seed in (0, 1)],
    }


def test_the_slowest_code_counts():
    slower = search(1, 0.4, 75_000)
    slower["cell"] = {**slower["cell"], "method": "ITQ"}
    other = {**search(0, 9.0, 75_000), "cell": {**slower["cell"], "bits": 256}}
    cells = [*measured()["class_search"], slower, other]
    (gaps,) = spare_seconds({"class_search": cells}).values()
    assert gaps == pytest.approx({0: 0.9 - 0.2 * 150 / 70, 1: 0.9 - 0.4 * 2})


def verdicts():
    found = {}
    for claim in (*PICODES, *DBC):
        found[claim.code, claim.text] = row(claim, measured())[4]
    return {key: text for key, text in found.items() if text != NOT_MEASURED}


def test_claims_on_made_up_measurements():
    found = {text: verdict for (_, text), verdict in verdicts().items()}
    holds = {text for text, verdict in found.items() if verdict.startswith("holds")}
    assert holds == {
        "PiCoDes are above LSH at every length",
        "more known classes make better codes",
        "an item takes 256 bytes",
        "a search of 150,000 items takes 1 s, learning included",
        "the objective never rises",
        "labels of a class agree more",
        "labels of classes differ more",
        "the hyperplanes' norms fall",
    }
    assert set(found) - holds == {
        "DBC-L1 is no worse than DBC",
        "the errors of the hyperplanes fall",
    }
    assert found["more known classes make better codes"].endswith(
        "+.150 ± .000 at 128 bits, 25 known classes"
    )
    # 1 - 0.1 to learn - 0.2 * 150 / 70 to rank
    assert found["a search of 150,000 items takes 1 s, learning included"] == (
        "holds: +.471 ± .000 at 2048 bits"
    )


def test_small_collections_say_nothing_of_large_ones():
    found = measured()
    found["class_search"] = [search(0, 0.01, 3_000)]
    (claim,) = (claim for claim in PICODES if "learning included" in claim.text)
    assert row(claim, found)[4] == NOT_MEASURED


def test_the_page_has_a_table_for_each_set_of_features(tmp_path, monkeypatch):
    monkeypatch.setattr(_claims_page, "RESULTS", tmp_path)
    monkeypatch.setattr(_claims_page, "Cells", lambda name: measured()[name])
    write()
    text = (tmp_path / "discriminative_claims.md").read_text("utf-8")
    assert text.count("\n## ") == 1
    assert "## ICD-10-CM" in text
    assert text.count("| P1 |") == sum(claim.code == "P1" for claim in PICODES)
    assert "nan" not in text
    assert len(tables(measured(), PAPERS)) == 2


def test_one_seed_has_no_error():
    assert math.isnan(overall({(): {0: 1.0}})[1])
