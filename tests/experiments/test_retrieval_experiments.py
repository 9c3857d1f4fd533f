"""Retrieval by codes of classes, across modalities, and the toy of the posterior."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from experiments import (
    _bernoulli_page,
    _cross_modal_page,
    _hash_problems,
    _llc_retrieval_page,
    bernoulli_toy,
    cross_modal,
    llc_retrieval,
    posterior_control,
)
from experiments._hash_problems import HashProblem
from experiments.posterior_control import Settings

RANKING = (*llc_retrieval.BOOKS, "predicted class")


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    labels = np.repeat([f"c{i:02}" for i in range(12)], 10)
    X = rng.normal(size=(120, 20)).astype(np.float32)
    X += 3 * rng.normal(size=(12, 20)).astype(np.float32).repeat(10, axis=0)
    rows = np.arange(120)
    train, query = rows[rows % 10 < 6], rows[rows % 10 > 7]
    return HashProblem(X, labels, train, query, rows[rows % 10 < 8], None)


@pytest.fixture
def short(monkeypatch, problem):
    for module in (llc_retrieval, cross_modal):
        monkeypatch.setattr(module, "load_problem", lambda name, seed: problem)
        monkeypatch.setattr(module, "N_ITER", 3)
        monkeypatch.setattr(module, "CODEBOOK_EPOCHS", 3)
    chosen = Settings("", None, 1e-3)
    monkeypatch.setattr(posterior_control, "settings", lambda *_: chosen)
    monkeypatch.setattr(posterior_control, "N_ITER", 3)
    take_problem(monkeypatch, problem)
    monkeypatch.setattr(llc_retrieval, "RATES", (1e-3,))
    monkeypatch.setattr(llc_retrieval, "MORE_RATES", ())
    monkeypatch.setattr(llc_retrieval, "REGULARISERS", (1,))


def take_problem(monkeypatch, problem):
    for module in (llc_retrieval, posterior_control):
        for name in ("load_problem", "choice_problem"):
            monkeypatch.setattr(module, name, lambda *_: problem)


@pytest.mark.parametrize(
    "method", ["LLC", "SVD", "GreedyHash", "ITQ", "CCA-ITQ", "real-valued, learnt"]
)
def test_every_kind_of_code_ranks(short, results, method):
    found = llc_retrieval.figures("any", 8, method, 0)
    assert 0.1 < found["map"] <= 1


@pytest.mark.parametrize("method", llc_retrieval.WHOLE)
def test_references_have_no_length(short, method):
    assert llc_retrieval.figures("any", 0, method, 0)["map"] > 0.5


def test_items_of_several_classes(short, results, problem, monkeypatch):
    names, numbers = np.unique(problem.labels, return_inverse=True)
    labels = np.eye(len(names), dtype=int)[numbers]
    labels[::3, 0] = 1
    several = replace(problem, labels=labels)
    take_problem(monkeypatch, several)
    cells = list(llc_retrieval.lineup("any", 0, 12, several=True))
    assert not any("number" in cell["method"] for cell in cells)
    for method in {cell["method"] for cell in cells}:
        bits = 0 if method in llc_retrieval.WHOLE else 8
        found = llc_retrieval.figures("any", bits, method, 0)
        assert 0.1 < found["map"] <= 1
        assert ("label_ranking" in found) == (method in RANKING)
        known = method == "predicted class"  # three epochs are few for the others
        assert found.get("label_ranking", 1) > (0.9 if known else 0.1)


def test_what_is_best_aside_is_taken(short, results, write_cells, monkeypatch):
    monkeypatch.setattr(llc_retrieval, "REGULARISERS", (0.1, 1, 10))
    monkeypatch.setattr(llc_retrieval, "RATES", (1e-3, 3e-3, 1e-2))
    common = {"data": "any", "head": "linear", "control": "", "weight": None}
    cells = [
        (
            {**common, "method": method, "rate": rate},
            {"map": 0.5 + 0.1 * (i == 1), "epochs": 7 + i},
        )
        for method, rates in (("CCA-ITQ", (0.1, 1, 10)), ("LLC", (1e-3, 3e-3, 1e-2)))
        for i, rate in enumerate(rates)
    ]
    longer = {**common, "method": "LLC", "rate": 3e-3, "bits": 64}
    write_cells(
        results / "posterior_choices.jsonl", [*cells, (longer, {"map": 0, "epochs": 5})]
    )
    assert llc_retrieval.settled("any", "CCA-ITQ", 64) == (1, 0)
    assert llc_retrieval.settled("any", "LLC", llc_retrieval.CHOSEN_BITS) == (3e-3, 8)
    assert llc_retrieval.settled("any", "LLC", 64) == (3e-3, 5)


def test_all_items_are_trained_on_in_the_end():
    chosen = llc_retrieval.make("LLC", 8, 0, 3e-3, 8)
    assert (chosen.training.max_epochs, chosen.training.validation) == (8, 0)
    tried = llc_retrieval.make("LLC", 8, 0, 3e-3)
    assert tried.training.max_epochs == llc_retrieval.N_ITER
    assert tried.training.validation == 0.1


def test_losses_are_not_trained_twice(short, results, write_cells, monkeypatch):
    monkeypatch.setattr(posterior_control, "superseded", lambda *_: False)
    cell = {"data": "any", "head": "linear", "bits": 16, "seed": 0}
    cell |= {"method": "hashnet", "control": ""}
    known = {"map": 0.123, "fit_seconds": 1.0, "bound": 0.3}
    write_cells(results / "posterior_control.jsonl", [(cell, known)])
    found = llc_retrieval.figures("any", 16, "HashNet", 0)
    assert found == {"map": 0.123, "fit_seconds": 1.0}


def test_few_classes_have_few_directions():
    cells = list(llc_retrieval.lineup("cifar10", 0, 10))
    assert {cell["bits"] for cell in cells if cell["method"] == "SVD"} == {8}
    assert {c["bits"] for c in cells if c["method"] == "LLC"} == {8, 10, 16, 32, 48, 64}


def test_page_of_retrieval(results, write_cells):
    cells = [
        (
            cell,
            {"map": 0.5 + 0.1 * (cell["method"] == "LLC"), "unique": 100}
            | ({"label_ranking": 0.4} if cell["method"] in RANKING else {}),
        )
        for seed in range(2)
        for cell in llc_retrieval.lineup("caltech101", seed, 100)
    ]
    write_cells(results / "llc_retrieval.jsonl", cells)
    _llc_retrieval_page.write()
    page = (results / "llc_retrieval.md").read_text("utf-8")
    assert "| LLC | .600 ± .000 |" in page
    assert "soft decoding; of linear SVMs .400 ± .000" in page
    assert "| LLC | .400 ± .000 |" in page
    assert "features .500 ± .000; predicted class .500 ± .000; predicted" in page


class Words:
    """Features of texts that tell their words."""

    def extract(self, texts):
        names = [f"c{i:02}" for i in range(12)]
        rows = [[name in text.split() for name in names] for text in texts]
        return np.array(rows, np.float32)


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.setattr(cross_modal.backbones, "load", lambda name: Words())


def test_texts_to_test_by_share_the_name_only():
    rng = np.random.default_rng(0)
    known, new = (cross_modal.written("car_side", 40, i, rng) for i in (0, 1))
    assert len(set(known)) == 40
    words = [
        {word for text in texts for word in text.split()} for texts in (known, new)
    ]
    assert words[0] & words[1] <= {"a", "car", "side", "in", "the", "on", "at"}


def test_a_shared_codebook_ties_modalities_together(short, texts, monkeypatch):
    monkeypatch.setattr(cross_modal, "N_ITER", 80)
    cross_modal.load_sides.cache_clear()
    shared = cross_modal.figures("any", 16, "random", 0)
    apart = cross_modal.figures("any", 16, "one for each, learnt", 0)
    assert shared["texts to images"] > apart["texts to images"] + 0.2
    assert shared["scores"]["texts to images"] > 0.5
    classes = cross_modal.figures("any", 0, "predicted class", 0)
    assert classes["images to texts"] > 0.5
    cross_modal.load_sides.cache_clear()


def test_page_across_modalities(results, write_cells):
    found = {"texts to images": 0.5, "images to texts": 0.6, "images to images": 0.7}
    cells = [
        (cell, found | ({"scores": found} if cell["bits"] else {}))
        for cell in cross_modal.lineup("caltech101", 0, 100)
    ]
    write_cells(results / "cross_modal.jsonl", cells)
    _cross_modal_page.write()
    page = (results / "cross_modal.md").read_text("utf-8")
    assert "|  | one bit for each class | 16 bits | 32 bits | 64 bits |" in page
    assert "| random |  | .600 | .600 | .600 |" in page


def test_blocks_of_one_bit_are_marginals():
    values = np.array([0b0000_0001, 0b0000_0011, 0b1000_0001])
    marginals = bernoulli_toy.histograms(values, 1)
    np.testing.assert_allclose(marginals[:, 1], np.array([7, 3, 1, 1, 1, 1, 1, 3]) / 8)
    joint = bernoulli_toy.joint(marginals)
    assert joint.sum() == pytest.approx(1)
    assert joint[0b1000_0011] == pytest.approx(7 * 3 * 3 * 7**5 / 8**8)


def test_a_surrogate_learns_the_distribution(monkeypatch):
    monkeypatch.setattr(bernoulli_toy, "N_STEPS", 120)
    monkeypatch.setattr(bernoulli_toy, "N_HIDDEN", 32)
    found = bernoulli_toy.figures("softmax of normals", "surrogate", 2000, 4, 0)
    assert found["constant input"] == pytest.approx(found["histogram"], abs=0.05)
    assert found["training samples"] < found["100 new samples"]
    assert found["histogram"] < found["marginals"]


def test_bits_of_samples_are_seen_in_their_order():
    seen = bernoulli_toy.scores(np.array([0b0001_0010]), 4)
    assert torch.equal(seen[:, 0], torch.tensor([[-1.0, 1, -1, -1], [1, -1, -1, -1]]))


def test_page_of_the_toy(results, write_cells, monkeypatch):
    monkeypatch.setattr(_bernoulli_page, "RESULTS", results)
    monkeypatch.setattr(_bernoulli_page, "IMAGES", results)
    found = dict.fromkeys(_bernoulli_page.ROWS, 0.01) | {"marginals": 0.5}
    shown = {"real": [0.1, 0.9], "histogram": [0.2, 0.8]}
    shown |= {key: shown["histogram"] for key in _bernoulli_page.ROWS}
    cell = {"data": "Dirichlet", "method": "surrogate", "samples": 10_000, "seed": 0}
    cells = [
        ({**cell, "block": 8}, found | {"shown": shown}),
        ({**cell, "block": 4}, found),
    ]
    write_cells(results / "bernoulli_toy.jsonl", cells)
    _bernoulli_page.write()
    page = (results / "bernoulli_toy.md").read_text("utf-8")
    assert "| product of marginals | .500 |" in page
    assert "| (2^8 - 1) / 2 n | 0.013 |" in page
    assert (results / "bernoulli_dirichlet.svg").exists()


def test_blocks_of_diagnoses_are_split(monkeypatch):
    labels = np.repeat(["A00", "B00", "C00"], [6, 5, 2])
    data = type("D", (), {"items": list(range(13)), "labels": {"block": labels}})
    monkeypatch.setattr(_hash_problems.datasets, "load_icd10", lambda: data)
    backbone = type("B", (), {"extract": lambda self, items: np.zeros((13, 4))})
    monkeypatch.setattr(_hash_problems.backbones, "load", lambda name: backbone())
    monkeypatch.setattr(_hash_problems, "N_BLOCK", 3)
    monkeypatch.setattr(_hash_problems, "N_ASKED", 2)
    _hash_problems.load_problem.cache_clear()
    problem = _hash_problems.load_problem("icd10", 0)
    _hash_problems.load_problem.cache_clear()
    assert np.unique(labels[problem.train]).tolist() == ["A00", "B00"]
    assert (len(problem.train), len(problem.query)) == (6, 4)
    assert len(problem.base) == 11 - 4
    assert not set(problem.query) & set(problem.base)
