"""Tuning beside fixed defaults, on small data."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from experiments import _tune_page, tune
from experiments._features import FeatureSet
from experiments._projections import SEEDS
from experiments.tune import TUNED, Problem, lineup


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr(
        "fewbits.training.tuning._candidates.METHODS", ("hadamard", "lsh", "pcah")
    )
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))  # they come by writer
    X, y = X[order].astype(np.float32), y[order]
    return Problem(FeatureSet(X[300:], X[:300], y[300:], y[:300]), 0)


def cell(method, bits=32):
    return {"data": "icd10", "bits": bits, "method": method, "seed": 0}


def test_figures(problem):
    plain = problem.figures(cell("hadamard"))
    assert 0.2 < plain["recall"] < plain["reranked"] < plain["reranked, most"] < 1
    tuned = problem.figures(cell(TUNED))
    assert tuned["bytes"] <= 4
    assert tuned["reranked"] >= plain["reranked"] - 0.01
    assert tuned["promised"] == pytest.approx(tuned["reranked"], abs=0.1)


def test_queries_that_methods_were_made_with_are_left_out(problem, monkeypatch):
    seeds = []

    def loaded(name, seed, unseen):
        assert unseen
        seeds.append(seed)
        return FeatureSet(problem.items, problem.queries, None, None)

    monkeypatch.setattr(tune, "load_features", loaded)
    tune.main(["icd10"], only=["none"])
    assert tuple(seeds) == SEEDS
    tune.main(["icd10"], [5], only=["none"])
    assert seeds[-1] == 5


def test_lineup_has_every_length_once():
    cells = list(lineup("icd10", 0, 256))
    assert len(cells) == len(tune.LENGTHS) * (len(tune.FIXED) + 1)
    assert len(list(lineup("glove", 0, 50))) == len(cells) - len(tune.LENGTHS)


def test_page(results, write_cells, monkeypatch):
    monkeypatch.setattr(_tune_page, "IMAGES", results)
    cells = []
    for seed in range(2):
        for each in lineup("icd10", seed, 256):
            value = 0.6 if each["method"] == TUNED else 0.5
            figures = {"recall": value - 0.1, "reranked": value}
            figures |= {"reranked, most": value + 0.02}
            if each["method"] == TUNED:
                figures |= {"chosen": "itq, 64 bits", "promised": 0.6}
                figures |= {"tune_seconds": 60.0}
            cells.append((each, figures))
    write_cells(results / "tune.jsonl", cells)
    _tune_page.write()
    page = (results / "tune.md").read_text("utf-8")
    assert "| itq | .100 ± .000 |" in page
    assert "| itq | .080 ± .000 |" in page
    assert "| 8 | 0 | itq, 64 bits | 0.600 | 0.600 | 1.0 |" in page
