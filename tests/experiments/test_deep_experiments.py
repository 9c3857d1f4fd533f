"""Experiments on deep codes: what is drawn, chosen and shown."""

import numpy as np
import pytest

from experiments import (
    _hash_problems,
    _llc_foreign_page,
    _llc_page,
    _llc_taxonomy_page,
    _posterior_page,
    llc,
    llc_taxonomy,
    posterior_control,
)


@pytest.fixture(autouse=True)
def images(tmp_path, monkeypatch):
    for module in (_llc_page, _llc_taxonomy_page, _posterior_page):
        monkeypatch.setattr(module, "IMAGES", tmp_path)


def test_labels_are_the_common_long_words(monkeypatch):
    monkeypatch.setattr(_hash_problems, "N_WORDS", 2)
    texts = ["Fracture of femur, right", "fracture of tibia (right)", "burn of hand"]
    labels = _hash_problems.word_labels(texts)
    assert labels.tolist() == [[1, 1], [1, 1], [0, 0]]


def test_what_ranks_best_aside_is_chosen(monkeypatch, results):
    def aside(data, head, loss, control, weight, rate):
        return -abs(np.log10(rate) + 3) - (weight or 0) * (0.1 - (weight or 0))

    monkeypatch.setattr(posterior_control, "aside", aside)
    assert posterior_control.rate_of("any", "linear", "csq") == 1e-3
    assert posterior_control.weight_of("any", "linear", "csq", "D") == 1.0


def test_every_loss_has_every_control():
    cells = list(posterior_control.lineup("caltech101", "linear", 0))
    assert len(cells) == 7 * 3 * 4
    assert len(list(posterior_control.lineup("caltech101", "linear", 4))) == 7 * 3 * 2


def test_page_of_controls(results, write_cells):
    figures = {"map": 0.5, "accuracy": 0.6, "seconds_per_epoch": 1.0}
    history = {"map": [0.1, 0.5], "bound": [0.2, 0.4]}
    cells = [
        (
            cell,
            {
                **figures,
                "map": 0.5 + 0.1 * (cell["control"] == "D") + 0.01 * seed,
                "history": {**history, "bound": [0.2, 0.4 + 0.1 * seed]},
                "seconds_per_epoch": 1.0 + 2 * (cell["control"] == "D"),
            },
        )
        for seed in range(2)
        for cell in posterior_control.lineup("caltech101", "linear", seed)
    ]
    write_cells(results / "posterior_control.jsonl", cells)
    _posterior_page.write()
    page = (results / "posterior_control.md").read_text("utf-8")
    assert "| csq + D | +0.100 ± .000 | +0.100 ± .000 | +0.100 ± .000 |" in page
    assert "| csq + frozen D | +0.000 ± .000 |" in page
    assert "3.0 to 3.0 times" in page
    assert (results / "posterior_caltech101_linear.svg").exists()


def test_page_of_codebooks(results, write_cells):
    found = {key: 0.5 for key in _llc_page.TABLES}
    found["guessed"] = np.linspace(0.3, 0.6, len(llc.BUDGETS)).tolist()
    found["guesses"] = list(range(1, len(llc.BUDGETS) + 1))
    nested = {f"at {m}": {"nearest": 0.4} for m in (10, 14, 20, 24)}
    cells = [
        (
            cell,
            nested if "nested" in cell["method"] else {"accuracy": 0.9, **found},
        )
        for cell in llc.lineup("caltech101", 0, 100)
    ]
    write_cells(results / "llc.jsonl", cells)
    _llc_page.write()
    page = (results / "llc.md").read_text("utf-8")
    assert "A linear SVM on the features: 0.900" in page
    assert "| first bits of the nested | .400 | .400 | .400 | .400 |" in page
    assert (results / "llc_caltech101_14.svg").exists()


def test_page_of_foreign_items(results, write_cells):
    measured = {"accuracy": 0.9}
    mixture = {"tuned_on": 0.1, "met": 0.5, "tuned": measured, "rule": measured}
    rule = {"balanced": 0.7, "foreign_accepted": 0.02, "predicted_rate": 0.01}
    cells = [
        (
            {"data": "caltech101", "bits": 20, "method": kind, "seed": seed},
            {
                "scores": {"max logit": {"auroc": 0.9 + 0.02 * seed}},
                "rules": {"radius 0": {**rule, "mixtures": [mixture]}},
            },
        )
        for kind in ("background", "held-out classes")
        for seed in range(2)
    ]
    write_cells(results / "llc_foreign.jsonl", cells)
    _llc_foreign_page.write()
    page = (results / "llc_foreign.md").read_text("utf-8")
    assert "| max logit | .910 ± .010 |" in page
    assert "| radius 0 | .020 ± .000 (.010 ± .000) |" in page
    assert "| 10% | 50% | .900 ± .000 | .900 ± .000 |" in page


def test_page_of_taxonomies(results, write_cells):
    real = {key: 0.5 for key in _llc_taxonomy_page.TABLES}
    real |= {"purity_chance": 0.16, "purity_p": 0.005, "cophenetic_p": 0.01}
    paths = [["I", "A00"], ["I", "A15"], ["II", "C00"]]
    book = {"codes": ["000000", "000010", "fffff0"], "paths": paths}
    vectors = np.array([[1.0, 0.2], [1.0, 0.1], [-0.1, 1.0]])
    rows = {"cosines": llc_taxonomy.cosines(vectors)}
    cells = [
        ({"data": "icd10", "bits": bits, "method": method, "seed": 0}, real | more)
        for bits, method, more in [
            (0, "classifier rows", rows),
            (0, "class means", {}),
            (20, "learnt", book),
            (20, "SVD", book),
        ]
    ]
    write_cells(results / "llc_taxonomy.jsonl", cells)
    _llc_taxonomy_page.write()
    page = (results / "llc_taxonomy.md").read_text("utf-8")
    assert "|  | real | 20 bits |" in page
    assert "0.010 (cophenetic) and 0.005 (purity)" in page
    assert (results / "llc_taxonomy_icd10.svg").exists()
    assert (results / "llc_taxonomy_icd10_classifier.svg").exists()


def test_vectors_have_the_cosines_that_were_kept():
    vectors = np.random.default_rng(0).normal(size=(6, 9))
    kept = llc_taxonomy.cosines(vectors)
    found = _llc_taxonomy_page.vectors_of(kept)
    np.testing.assert_allclose(llc_taxonomy.cosines(found), kept, atol=2)
