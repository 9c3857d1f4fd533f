"""The experiment on codes trained to keep neighbours."""

import numpy as np
import pytest

from experiments import _neighbour_page, neighbour_codes
from experiments._cells import Cells
from experiments._features import FeatureSet
from experiments._projections import SEEDS
from experiments.neighbour_codes import (
    FAST,
    FRESH_SEEDS,
    LENGTHS,
    NESTED,
    OTHERS,
    OURS,
    lineup,
)

CELL = {"data": "digits", "bits": 32, "seed": 0}


def made_up():
    X = np.random.default_rng(0).normal(size=(150, 16)).astype(np.float32)
    y = np.arange(150) % 3
    return FeatureSet(X[20:], X[:20], y[20:], y[:20])


def test_nested_codes_are_prefixes_of_one_model():
    cells = list(lineup("digits", made_up(), 0))
    everywhere = len(LENGTHS) * len((*OTHERS, OURS, *FAST, NESTED))
    others = len(neighbour_codes.FORMS) + len(neighbour_codes.TRAININGS)
    width = made_up().database.shape[1]
    no_axis = sum(n_bits > width for n_bits in LENGTHS)  # of PCAH
    assert len(cells) == everywhere + 2 * others - no_axis
    nested = [fit for cell, fit in cells if cell["method"] == NESTED]
    assert len({id(fit) for fit in nested}) == 1
    learner = nested[0].learner
    assert (learner.n_bits, *learner.lengths) == (512, 32, 64, 128, 256)
    alone = [fit.learner for cell, fit in cells if cell["method"] == OURS]
    assert [each.n_bits for each in alone] == list(LENGTHS)
    assert not any(each.lengths for each in alone)


def test_what_is_known_is_not_measured_again(results, write_cells):
    known = {"recall10": 0.5, "recall100": 0.9}
    older = {**CELL, "bits": 64, "method": "LSH"}
    cells = [({**CELL, "method": "LSH"}, known), (older, {"recall10": 0.5})]
    write_cells(results / "sparse_projections.jsonl", cells)
    fits = ((cell, fit) for cell, fit in lineup("digits", made_up(), 0))
    short = next(fits)
    assert neighbour_codes.figures(*short) == known
    longer = next((cell, fit) for cell, fit in fits if cell == older)
    assert neighbour_codes.figures(*longer)["recall10"] != 0.5


def test_what_was_measured_with_other_queries_is_not_taken(results, write_cells):
    known = {"recall10": 0.5, "recall100": 0.9}
    sets = ("icd10", "caltech101-1280", "fashion-mnist")
    cells = [{**CELL, "data": name, "method": "LSH"} for name in sets]
    path = results / "sparse_projections.jsonl"
    write_cells(path, [(cell, known) for cell in cells])
    found = [neighbour_codes.measured_already(cell) for cell in cells]
    assert found == [known, None, None]


def test_figures_are_those_of_the_length_of_a_cell(results):
    fit = next(fit for cell, fit in lineup("any", made_up(), 0))  # LSH of 32 bits
    whole = neighbour_codes.figures(CELL, fit)
    short = neighbour_codes.figures({**CELL, "bits": 8}, fit)
    assert short["encoder_bytes"] < whole["encoder_bytes"]
    assert short["recall100"] < whole["recall100"]
    assert short["fit_seconds"] == whole["fit_seconds"]


@pytest.fixture
def page(results, write_cells, monkeypatch):
    monkeypatch.setattr(_neighbour_page, "IMAGES", results)
    values = {"ITQ": (0.5, 0.52), OURS: (0.6, 0.62), NESTED: (0.55, 0.57)}
    cells = [
        (
            {**CELL, "method": method, "seed": seed},
            {
                **{"recall10": v, "recall100": 0.9, "ann_map": v},
                "fit_seconds": 3.0 + seed,
            },
        )
        for method, each in values.items()
        for seed, v in enumerate(each)
    ]
    write_cells(results / "neighbour_codes.jsonl", cells)
    times = [({**CELL, "method": method}, {"batch_us": 2.0}) for method in values]
    write_cells(results / "encode_times.jsonl", times)
    _neighbour_page.write()
    return (results / "neighbour_codes.md").read_text("utf-8")


def test_page_has_paired_differences_and_the_shortest_times(page, results):
    held, equal = "holds: +.100 ± .000 at 32 bits", "holds: +.000 ± .000 at 32 bits"
    assert f"| {held} | {equal} | {held} |  |" in page  # and no labels
    assert "| **does not hold**: -.050 ± .000 at 32 bits |" in page
    share = "Share of the 10 nearest among the first 10"
    assert f"| {share} | NeighbourCodes - ITQ | +.100 ± .000 |" in page
    assert "| ITQ | 3.0 |" in page
    assert (results / "neighbour_digits_recall100.svg").exists()
    assert (results / "neighbour_digits_recall100_time.svg").exists()


def test_the_readme_shows_codes_of_as_many_bytes_as_they_have(
    results, write_cells, monkeypatch
):
    drawn = {}
    monkeypatch.setattr(_neighbour_page, "IMAGES", results)
    monkeypatch.setattr(
        _neighbour_page, "line_plot", lambda path, curves, **_: drawn.update(curves)
    )

    def cell(method, bits, recall):
        found = {**CELL, "data": "icd10", "method": method, "bits": bits}
        return found, {"recall10": recall}

    measured = [cell(OURS, 64, 0.6), cell(OURS, 256, 0.8), cell("BRE", 64, 0.4)]
    write_cells(results / "neighbour_codes.jsonl", measured)
    signs = [cell("threshold", 256, 0.7), cell("ITQ", 64, 0.1)]
    write_cells(results / "sparse_projections.jsonl", signs)
    _neighbour_page.readme_picture(list(Cells("neighbour_codes")))
    assert drawn == {
        "trained to keep neighbours": [(8, 0.6, 0), (32, 0.8, 0)],
        "signs of the vector": [(32, 0.7, 0)],
        "float vectors": [(1024, 1, 0)],
    }


def test_fresh_seeds_are_kept_apart_and_told_beside_the_others():
    def cells(seeds, gain):
        return [
            {
                "cell": {"data": "glove", "bits": 32, "method": method, "seed": seed},
                "figures": {"recall10": 0.1 * seed + gain * (method == OURS)},
            }
            for method in ("ITQ", OURS)
            for seed in seeds
        ]

    assert not {*FRESH_SEEDS} & {0, *SEEDS}
    fresh, before = cells(FRESH_SEEDS, 0.02), cells(SEEDS, 0.03)
    text = "\n".join(_neighbour_page.asked_afterwards(fresh, before))
    assert "NeighbourCodes | 4 to 6 | holds: +.020 ± .000 |" in text
    assert "NeighbourCodes | 1 to 3 | holds: +.030 ± .000 |" in text
    assert not list(_neighbour_page.asked_afterwards([], before))
