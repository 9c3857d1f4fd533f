"""Verdicts on the claims of LLC and LBHash, from made-up measurements."""

import json

import pytest

from experiments import _claims_page, _deep_claims_page, llc
from experiments._deep_claims import (
    as_predicted,
    beyond_targets,
    controlled,
    estimated,
    exact_against_nearest,
    last_step,
    lifted,
    matching_falls,
    nested,
    over_epochs,
    over_networks,
    purity_beyond_chance,
    regained,
    repairs,
    separable,
    shorter,
    spare_codes,
    timed,
    unrepaired,
    untuned,
)
from experiments._stated_lbhash_claims import LBHASH, TIME, TOY
from experiments._stated_llc_claims import LLC
from experiments.llc import MHD
from experiments.llc_foreign import BALANCED, F1

NAMES = (*_deep_claims_page.EXPERIMENTS, "training")


def cell(method, seed, figures, **setting):
    key = {"data": "caltech101", "method": method, "seed": seed, **setting}
    return {"cell": key, "figures": figures}


def of(**measured):
    return {name: measured.get(name, []) for name in NAMES}


def lengths(**figures):
    """Return cells of LLC with figures for growing lengths."""
    return of(
        llc=[
            cell("LLC", 0, {name: each[i] for name, each in figures.items()}, bits=bits)
            for i, bits in enumerate((10, 14, 20))
        ]
    )


def test_every_claim_of_the_issue_is_stated():
    codes = {claim.code for claims in (LLC, LBHASH, TOY, TIME) for claim in claims}
    assert codes == {
        *(f"L{i}" for i in range(1, 9)),
        *(f"B{i}" for i in range(1, 5)),
        "section 3.2",
        "not in the paper",
    }


def test_nothing_measured_says_nothing():
    for claims in (LLC, LBHASH, TOY, TIME):
        assert not any(claim.gaps(of()) for claim in claims)


def test_exact_decoding_is_best_with_fewer_bits():
    measured = lengths(exact=[0.3, 0.5, 0.4], **{MHD: [0.5, 0.6, 0.7]})
    assert next(iter(exact_against_nearest(measured).values())) == {0: 6.0}
    assert last_step("exact")(measured)[(("bits", 20),)] == pytest.approx({0: 0.1})


def test_a_share_of_bits_is_compared():
    gaps = matching_falls(lengths(matching_bits=[9.0, 12.0, 16.0]))
    assert gaps[(("bits", 20),)] == pytest.approx({0: 0.1})


def test_prefixes_stand_beside_codes_of_their_length():
    found = {"at 10": {MHD: 0.5}, "at 14": {MHD: 0.7}}
    measured = lengths(**{MHD: [0.6, 0.6, 0.6]})
    measured["llc"].append(cell("LLC, nested", 0, found, bits=20))
    gaps = {dict(at)["bits"]: each[0] for at, each in nested(measured).items()}
    assert gaps == pytest.approx({10: -0.1, 14: 0.1})


def test_lengths_that_differ_are_compared():
    cells = [cell("LLC", 0, {"map": 0.6}, bits=32)]
    cells.append(cell("HashNet", 0, {"map": 0.5}, bits=64))
    gaps = shorter(32, "LLC", 64, "HashNet")(of(llc_retrieval=cells))
    assert gaps == {(("bits", 32),): {0: pytest.approx(0.1)}}


def test_figures_inside_of_figures_are_compared():
    found = {"phases": {"1": {"nearest": 0.5}, "2": {"nearest": 0.6}}}
    measured = of(llc_separability=[cell("LLC", 0, found, bits=14)])
    gaps = separable(("phases", "2", "nearest"), ("phases", "1", "nearest"))(measured)
    assert gaps[(("bits", 14),)] == pytest.approx({0: 0.1})


def test_thresholds_that_were_tuned_on_the_right_share_are_left_out():
    met = (0.1, 0.5, 0.9)
    tuned = [{"tuned_on": 0.1, "met": at, BALANCED: 0.8, F1: at} for at in met]
    by_rule = [{"met": at, BALANCED: 0.7, F1: at + 0.1} for at in met]
    found = {"rules": {"radius 1": {"mixtures": by_rule}}, "tuned": tuned}
    measured = of(llc_foreign=[cell("background", 0, found, bits=20)])
    gaps = untuned("radius 1", BALANCED)(measured)  # the same at both other shares
    assert [each[0] for each in gaps.values()] == [pytest.approx(-0.1)]
    gaps = untuned("radius 1", F1)(measured)
    assert [each[0] for each in gaps.values()] == [pytest.approx(0.1)] * 2
    assert untuned("radius 0", F1)(measured) == {}


def test_a_length_where_a_rule_is_refused_with_some_seed_is_left_out():
    rule = {"predicted_rate": 0.03, "unknown_accepted": 0.4}
    found = [{"rules": {"any, 0.05": rule}}, {"rules": {}}]
    cells = [cell("x", seed, found[seed], bits=10) for seed in (0, 1)]
    cells += [cell("x", seed, found[0], bits=20) for seed in (0, 1)]
    (at,) = as_predicted("any, 0.05")(of(llc_foreign=cells))
    assert dict(at)["bits"] == 20


def test_a_control_must_give_more_than_its_targets_and_than_nothing():
    def values(bits, alone, targets, with_d):
        found = {"": alone, "centres": targets, "D": with_d}
        return [
            cell("dch", 0, {"map": value}, bits=bits, control=name)
            for name, value in found.items()
        ]

    cells = values(16, 0.7, 0.6, 0.69) + values(32, 0.5, 0.6, 0.62)
    gaps = beyond_targets("dch")(of(posterior_control=cells))
    found = {dict(at)["bits"]: each[0] for at, each in gaps.items()}
    assert found == {16: pytest.approx(-0.01), 32: pytest.approx(0.02)}


def test_rates_of_foreign_items_stand_beside_what_was_predicted():
    rule = {"predicted_rate": 0.03, "unknown_accepted": 0.4}
    found = {"rules": {"predicted, 0.05": rule}}
    cells = [cell("background", 0, found, bits=64)]
    (gap,) = as_predicted("predicted, 0.05")(of(llc_foreign=cells)).values()
    assert gap == pytest.approx({0: -0.37})


def test_radius_needs_codes_to_spare():
    values = {10: 0.55, 14: 0.65, 20: 0.6}
    cells = [
        cell("background", 0, {"rules": {"radius 1": {"balanced": value}}}, bits=bits)
        for bits, value in values.items()
    ]
    (gap,) = spare_codes(of(llc_foreign=cells)).values()
    assert gap == pytest.approx({0: 0.1})


def test_the_last_layer_has_to_give_back_half():
    found = {
        "projection": {"exact": 0.1},
        "last layer": {"exact": 0.2},
        "trained for codes": {"exact": 0.5},
    }
    cells = [cell("LLC", 0, found, bits=14)]
    (gap,) = regained(of(llc_separability=cells)).values()
    assert gap == pytest.approx({0: -0.1})


def test_losses_that_are_lifted_are_counted():
    cells = [*controls(), *controls(bits=32), *controls(seed=1)]
    for each in cells:
        if each["cell"]["method"] == "dch" and each["cell"]["seed"] == 1:
            each["figures"]["map"] = 0.5
    measured = of(posterior_control=cells)
    assert lifted(["csq", "dch"], (16, 32))(measured) == {
        (("over", "all losses"),): {0: 2.0, 1: 1.0}
    }
    assert lifted(["csq", "none"], (16, 32))(measured) == {}


def controls(seed=0, bits=16):
    for control, value in (("", 0.5), ("D", 0.6), ("centres", 0.58)):
        for method, more in (("csq", 0.0), ("dch", 0.1)):
            found = {"map": value + more, "bound": value + more}
            yield cell(method, seed, found, bits=bits, control=control, head="linear")


def test_controls_are_told_apart():
    measured = of(posterior_control=list(controls()))
    at = (("bits", 16), ("head", "linear"))
    assert controlled("csq")(measured)[at] == pytest.approx({0: 0.1})
    gaps = controlled("csq", other="centres")(measured)
    assert gaps[at] == pytest.approx({0: 0.02})


@pytest.mark.parametrize("more", [{}, {"accuracy": 0.5}])
def test_votes_are_asked_for_where_items_have_one_label(more):
    figures = {"map": 0.5, "bound": 1.0, **more}
    cells = [
        cell("csq", 0, figures, bits=16, head="linear", control=control)
        for control in ("", "D")
    ]
    parts = _deep_claims_page.section(of(posterior_control=cells), "title")
    assert ("100 votes" in "".join(parts)) == ("accuracy" in figures)


def test_correlations_are_over_epochs_and_networks():
    measured = of(posterior_control=list(controls()))
    at = (("bits", 16), ("head", "linear"))
    assert over_networks(0.7)(measured)[at] == pytest.approx({0: 0.3})
    for each in measured["posterior_control"]:  # as with several labels
        each["figures"]["bound"] = 0.0
    assert over_networks(0.7)(measured) == {}
    curves = {"map": [0.1, 0.3, 0.2], "bound": [0.5, 0.7, 0.6]}
    epochs = [
        cell("csq", 1000, curves, bits=16, control=control, head="linear")
        for control in ("", "D")
    ]
    found = over_epochs("csq", "D", 0.7)(of(posterior_epochs=epochs))
    assert found[at] == pytest.approx({1000: 0.3})
    epochs += [
        cell("D alone", 1000, {**curves, "bound": [3, 1, 2]}, bits=16, control=control)
        for control in ("", "D")
    ]
    found = over_epochs("D alone", "", 0.7)(of(posterior_epochs=epochs))
    assert found == {(("bits", 16),): {1000: pytest.approx(-1.7)}}


def test_divergences_are_those_of_whole_blocks():
    found = {"constant input": 0.015, "marginals": 0.46}
    cells = [
        cell("surrogate", 0, found, samples=10_000, block=block) for block in (4, 8)
    ]
    gaps = estimated("constant input", 0.02)(of(bernoulli_toy=cells))
    assert [each[0] for each in gaps.values()] == [pytest.approx(0.005)]


def test_page_of_claims(results, write_cells, monkeypatch):
    for module in (_claims_page, _deep_claims_page):
        monkeypatch.setattr(module, "RESULTS", results)
    cells = [
        (made, {MHD: 0.5 + 0.1 * (made["method"] == "LLC") + 0.01 * seed})
        for seed in range(2)
        for made in llc.lineup("caltech101", seed, 100)
        if "nested" not in made["method"]
    ]
    write_cells(results / "llc.jsonl", cells)
    rows = [{"name": "posterior", "loss": "csq", "bits": 16, "ratios": [2.4, 2.5, 2.6]}]
    (results / "benchmark_training.json").write_text(json.dumps(rows))
    _deep_claims_page.write()
    page = (results / "deep_claims.md").read_text("utf-8")
    line = (
        "accuracy, LLC less SVD | holds: +.100 ± .000 | holds: +.100 ± .000 at 10 bits"
    )
    assert line in page
    assert "holds: +2.500 ± .058 at 16 bits, csq" in page
    assert "LBHash, its toy" not in page


def test_repeats_of_a_benchmark_are_seeds():
    row = {"name": "posterior", "loss": "csq", "bits": 16, "ratios": [2.0, 3.0]}
    cells = list(timed([row, {"name": "memory"}]))
    assert [each["cell"]["seed"] for each in cells] == [0, 1]


def test_codes_that_had_to_be_changed_speak_against_learnt_ones():
    measured = of(
        llc=[cell("LLC", 0, {"repaired": 3}), cell("CCA", 0, {"repaired": 7})]
    )
    assert list(unrepaired(measured).values()) == [{0: -3}]
    assert list(repairs("CCA")(measured).values()) == [{0: 7}]


def test_purity_stands_beside_chance():
    cells = [cell("learnt", 0, {"purity": 0.4, "purity_chance": 0.15})]
    (gap,) = purity_beyond_chance("learnt")(of(llc_taxonomy=cells)).values()
    assert gap == {0: pytest.approx(0.25)}
