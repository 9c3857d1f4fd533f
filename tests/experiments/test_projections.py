"""The comparison of projections: its cells, figures, claims and page."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import _features, _sparse_page, _sparse_plots, sparse_projections
from experiments._cells import Cells
from experiments._features import FeatureSet, load_features
from experiments._options import one_line
from experiments._projections import (
    LENGTHS,
    METHODS,
    SEEDS,
    left_out,
    lineup,
    matrix_bytes,
    measured,
    seeds_of,
)
from experiments._ranking import Fit, encoder_figures, float_figures
from experiments._sparse_page import WIDTHS, own_signs
from experiments._structured_claims import structured_claims, structured_verdicts
from fewbits.datasets import Dataset
from fewbits.errors import ArgumentError, MissingDataError
from fewbits.learners import LSH, SparseProjections

RESULTS = Path(__file__).parents[2] / "docs" / "results"
CELL = {"data": "digits", "bits": 64, "seed": 0}


def made_up(with_labels=True):
    X = np.random.default_rng(0).normal(size=(150, 16)).astype(np.float32)
    y = np.arange(150) % 3 if with_labels else np.empty(0)
    return FeatureSet(X[20:], X[:20], y[20:], y[:20])


def keys(cells):
    return {json.dumps(cell, sort_keys=True) for cell in cells}


def test_what_was_measured_is_still_asked_for():
    files = RESULTS.glob("sparse_projections-*.jsonl")
    lines = [line for file in files for line in file.read_text().splitlines()]
    done = [json.loads(line)["cell"] for line in lines]
    assert done
    asked = keys(
        cell
        for name in {cell["data"] for cell in done}
        for seed in range(max(SEEDS) + 1)
        for cell, _ in lineup(name, WIDTHS[name], seed)
        if seed in seeds_of(cell["method"])
    )
    assert keys(done) <= asked


def test_what_takes_too_long_is_left_out_and_told():
    assert measured("icd10", "BRE", 512)
    assert not measured("icd10", "BRE", 1024)
    assert measured("caltech101-11520", "BP-opt", 11520)
    assert measured("caltech101-11520", "SP 1%", 2048)
    assert measured("caltech101-11520", "SP 10%", 11520)
    assert not measured("caltech101-11520", "SP 15%", 5760)
    assert not measured("caltech101-5120", "SP 30%", 5120)
    assert measured("glove", "SP 10%, iterative, spectral", 256)
    assert not measured("caltech101-11520", "SP 10%, iterative, spectral", 256)
    table = left_out({"caltech101-11520": "Caltech"})
    assert "| BRE; BRE, Gaussian | everywhere | above 512 bits |" in table
    assert "| Caltech | at any length |" in table
    assert set(LENGTHS) <= set(WIDTHS)


def test_seeds_are_those_that_no_choice_saw(monkeypatch):
    seen = []
    monkeypatch.setattr(sparse_projections, "load_features", lambda *_: made_up())
    monkeypatch.setattr(
        sparse_projections, "measure", lambda cell, *_: seen.append(cell)
    )
    ask = {"bits": [64], "only": ["LSH", "NeighbourCodes"]}
    sparse_projections.main(["digits"], None, **ask)
    found = {(cell["method"], cell["seed"]) for cell in seen}
    assert found == {("LSH", n) for n in (0, 1, 2)} | {
        ("NeighbourCodes", n) for n in (1, 2, 3)
    }
    seen.clear()
    sparse_projections.main(["digits"], [3], **ask)
    assert {(c["method"], c["seed"]) for c in seen} == {
        ("LSH", 3),
        ("NeighbourCodes", 3),
    }


def test_older_cells_are_completed_once(results):
    old = Cells("any")
    old.measure(CELL, lambda: {"a": 1})
    assert Cells("any").measure(CELL, lambda: {"a": 2}) == {"a": 1}
    for _ in range(2):
        found = Cells("any").measure(CELL, lambda: {"a": 3, "b": 4}, "b")
    assert found == {"a": 3, "b": 4}
    assert [each["figures"] for each in Cells("any")] == [found]


def test_figures_of_codes():
    fit = Fit(SparseProjections(32, density=0.01, n_iter=2, random_state=0), made_up())
    with pytest.warns(UserWarning, match="constant"):
        found = sparse_projections.figures({**CELL, "method": "SP 1%"}, fit)
    assert found["dead_bits"] > 20
    assert 0 <= found["recall10"] <= found["recall100"] <= 1
    assert found["encoder_bytes"] < 16 * 32 * 4
    unlabelled = Fit(LSH(32, random_state=0), made_up(with_labels=False))
    found = sparse_projections.figures({**CELL, "method": "LSH"}, unlabelled)
    assert "label_map" not in found


@pytest.mark.parametrize("method", ["LSH", "SP 15%", "SP 30%", "SP 100%", "CBE-rand"])
def test_bytes_of_matrices_go_by_their_shape(method):
    learner = METHODS[method](24, 0, 1)
    size = encoder_figures(learner.fit(made_up().database).encoder_)["encoder_bytes"]
    expected = matrix_bytes(method, 24, 16)
    assert expected == (None if method == "CBE-rand" else size)


def test_signs_of_features_are_named_where_nothing_is_better():
    values = {"threshold": (0.8, 0.9), "ITQ": (0.7, 0.7), "LSH": (0.6, 0.5)}
    cells = named_cells(values)
    found = own_signs(cells, "digits")
    assert found.endswith("than ITQ, which comes next: not decided: +.150 ± .050.")
    assert "at 64 bits (SP 5%, SP 10%, SP 15%, BP-opt, CBE-opt are not)" in found
    cells += named_cells({"SP 1%": (0.85, 0.9)})
    assert own_signs(cells, "digits") == ""


def test_float_features_have_a_place_among_labels():
    found = {
        method: sparse_projections.figures(
            {**CELL, "bits": 0, "method": method}, Fit(None, made_up())
        )
        for method in ("float", "float, centred")
    }
    assert all(set(each) == {"label_map"} for each in found.values())
    assert found["float"] != found["float, centred"]
    unlabelled = Fit(None, made_up(with_labels=False))
    assert sparse_projections.figures({**CELL, "method": "float"}, unlabelled) == {}


def test_angles_of_centred_features_do_not_change_with_their_lengths_or_their_mean():
    features = made_up()
    longer = replace(
        features, queries=3 * features.queries + 5, database=3 * features.database + 5
    )
    one, other = (float_figures(each, 0, centred=True) for each in (features, longer))
    assert one["label_map"] == pytest.approx(other["label_map"])


def test_distractors_share_no_label(monkeypatch):
    def load(name, backbone):
        n = 6
        rows = {"train": np.arange(4), "test": np.arange(4, n)}
        labels = {"class": np.array(["cat", "dog"] * 3)}
        items = list(range(n))
        data = Dataset(name, "images", items, items, labels, rows)
        return data, np.full((n, 2), len(name), np.float32)

    monkeypatch.setattr(_features, "load_image_features", load)
    found = load_features("caltech101+cifar10", 0)
    assert found.database[:, 0].tolist() == [10] * 4 + [7] * 4
    assert set(found.query_labels) == {"cat", "dog"}
    assert set(found.database_labels[4:]) == {"CIFAR-10 cat", "CIFAR-10 dog"}


def images_by_number(n_test):
    """Return a stand-in for loading images, whose only feature is the row."""

    def load(name, backbone):
        n = n_test + 10
        rows = {"train": np.arange(10), "test": np.arange(10, n)}
        labels = {"class": np.array(["cat"] * n)}
        data = Dataset(name, "images", range(n), range(n), labels, rows)
        return data, np.arange(n, dtype=np.float32)[:, None]

    return load


def asked(name, seed, **more):
    return set(load_features(name, seed, 100, **more).queries[:, 0])


@pytest.mark.parametrize(("n_test", "expected"), [(275, 58), (1000, 100)])
@pytest.mark.parametrize("name", ["caltech101-1280", "caltech101+cifar10", "cifar10"])
def test_unseen_queries_are_no_other_seeds(monkeypatch, name, n_test, expected):
    monkeypatch.setattr(_features, "load_image_features", images_by_number(n_test))
    _features.load_features.cache_clear()
    first, *others = (asked(name, seed, unseen=True) for seed in (0, *SEEDS))
    assert first == asked(name, 0)
    assert [len(each) for each in others] == [expected] * len(SEEDS)
    assert len(first.union(*others)) == len(first) + len(SEEDS) * expected
    assert not first.union(*others) & set(range(10))
    with pytest.raises(ArgumentError, match="seed 4 has no queries of its own"):
        asked(name, 4, unseen=True)
    _features.load_features.cache_clear()


def test_other_experiments_keep_the_queries_that_they_were_measured_with(monkeypatch):
    monkeypatch.setattr(_features, "load_image_features", images_by_number(275))
    _features.load_features.cache_clear()
    order = np.random.default_rng(2).permutation(np.arange(10, 285))
    assert asked("cifar10", 2) == set(order[:100])
    _features.load_features.cache_clear()


def test_digits_have_queries_of_their_own():
    found = load_features("digits", 0)
    assert (len(found.database), len(found.queries)) == (1498, 299)


def test_missing_data_end_in_one_line():
    with pytest.raises(SystemExit, match="error: not here"), one_line():
        raise MissingDataError("not here")


def cells_of(method, values, **more):
    figures = {"ann_map": 0.5, "recall10": 0.5, **more}
    return [
        ({**CELL, "method": method, "seed": seed}, {**figures, "ann_map": value})
        for seed, value in enumerate(values)
    ]


def named_cells(values):
    return [
        {"cell": cell, "figures": figures}
        for method, of_seeds in values.items()
        for cell, figures in cells_of(method, of_seeds)
    ]


def test_claims_beside_structured_projections():
    cells = named_cells(
        {
            "SP 10%": (0.5, 0.52),
            "BP-opt": (0.6, 0.62),
            "CBE-opt": (0.4, 0.41),
            "SP 5%": (0.4, 0.41),
        }
    )
    text = structured_claims(
        structured_verdicts(cells, [], [], {"digits": "Digits"}, {"digits": 64}),
        {"digits": "Digits"},
        {"digits": 64},
    )
    assert (
        "SP 10 % is better than CBE-opt | ANN mAP, figures 2, 5 and 6 | holds" in text
    )
    assert "does not hold**: -.100 ± .000 at 64 bits" in text
    assert "- SP 10 % is better than BP-opt: of so few features" in text
    assert "Time, figure 2b" not in text


def times_of(data="digits", bits=64, **single_us):
    return [
        {
            "cell": {"data": data, "bits": bits, "method": method},
            "figures": {"single_us": us, "batch_us": us / 4},
        }
        for method, us in single_us.items()
    ]


def test_claims_on_time_count_single_vectors_and_know_why_not():
    times = times_of(**{"SP 5%": 2.0, "CBE-opt": 1.0, "BP-opt": 2.0, "ITQ": 39.0})
    text = structured_claims(
        structured_verdicts([], [], times, {"digits": "Digits"}, {"digits": 64}),
        {"digits": "Digits"},
        {"digits": 64},
    )
    row = "| SP 5 % encodes {} | Time, {} | {}, in a batch {} |"
    both = "figures 5 and 6"
    assert row.format("faster than BP-opt", both, "holds: 1.0", "1.0") in text
    missed = "**does not hold**: 0.5"
    assert row.format("faster than CBE-opt", both, missed, "0.5") in text
    missed = "**does not hold**: 19.5"
    assert row.format("20 times as fast as ITQ", "figure 2b", missed, "19.5") in text
    # The nearest length there is stands for a quarter of the features.
    assert "times as fast as CBE-opt at about d/4 bits | Time, table 1" in text
    assert "- SP 5 % encodes faster than CBE-opt: of so few features a call" in text
    assert "SP 10 %" not in text.split("these rows are of that.")[1]


def test_claims_on_classes_rise_and_reach_the_features():
    cells = [
        {
            "cell": {"data": "digits", "bits": bits, "method": method, "seed": seed},
            "figures": {"accuracy": value + seed / 1000},
        }
        for bits, method, value in (
            (0, "float", 0.9),
            (64, "SP 5%", 0.7),
            (128, "SP 5%", 0.9),
            (256, "SP 5%", 0.8),
        )
        for seed in range(3)
    ]
    text = structured_claims(
        structured_verdicts([], cells, [], {"digits": "Digits"}, {"digits": 64}),
        {"digits": "Digits"},
        {"digits": 64},
    )
    assert "| SP 5 % classifies better the more bits |" in text
    assert "| **does not hold**: -.100 ± .000 from 128 to 256 bits |" in text
    assert "**does not hold**: -.100 ± .000 at 256 bits" in text
    assert "classifies as the features: the features themselves are far" in text
    rising = [each for each in cells if each["cell"]["bits"] != 256]
    text = structured_claims(
        structured_verdicts([], rising, [], {"digits": "Digits"}, {"digits": 64}),
        {"digits": "Digits"},
        {"digits": 64},
    )
    assert "| holds: +.200 ± .000 from 64 to 128 bits |" in text


def test_page(results, write_cells, monkeypatch):
    monkeypatch.setattr(_sparse_page, "RESULTS", results)
    monkeypatch.setattr(_sparse_plots, "IMAGES", results)
    cells = cells_of("LSH", (0.5, 0.6), encoder_bytes=16640, recall100=0.9)
    cells += cells_of("SP 0.1%", (0.1, 0.2), dead_bits=59)
    cells += [({**CELL, "bits": 0, "method": "float"}, {"label_map": 0.7})]
    cells += [
        (
            {**cell, "data": "caltech101+cifar10", "bits": 1280},
            {**found, "label_map": 1},
        )
        for cell, found in cells_of("BP-opt", (0.5,))
    ]
    write_cells(results / "sparse_projections.jsonl", cells)
    seconds = times_of("caltech101+cifar10", 1280, **{"BP-opt": 2.0})
    write_cells(
        results / "encode_times.jsonl",
        [(each["cell"], each["figures"]) for each in seconds],
    )
    _sparse_page.write()
    page = (results / "sparse_projections.md").read_text("utf-8")
    assert "| LSH | .550 ± .050 |" in page
    assert "| LSH | 16.6 |" in page
    assert "| SP 0.1% | 59 ± 0 |" in page
    assert "| 1280 bits | BP-opt | 1/32 | 1.000 | 2.0 | 1 |" in page
    assert (results / "sparse_digits_density.svg").exists()


def test_recall_is_drawn_only_beside_what_it_is_compared_with():
    def cell(bits, method, **figures):
        found = {"data": "digits", "bits": bits, "method": method, "seed": 0}
        return {"cell": found, "figures": {"ann_map": 0.5, **figures}}

    some = [cell(64, "LSH", recall100=0.8), cell(64, "ITQ"), cell(64, "SH", recall10=1)]
    assert _sparse_plots.has_references(some, "digits", "recall100")
    assert not _sparse_plots.has_references(some, "digits", "recall10")
    less = [*some, cell(128, "LSH"), cell(128, "ITQ")]
    assert not _sparse_plots.has_references(less, "digits", "recall100")
