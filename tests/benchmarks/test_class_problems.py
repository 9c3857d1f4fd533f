"""What the benchmark of decoders decodes."""

import numpy as np
import pytest

from benchmarks import _class_problems, decode
from fewbits.datasets import Dataset

LEAVES = ["broken left arm", "broken left leg", "burn of hand", "flu", "burn of hand"]


@pytest.fixture
def few_leaves(monkeypatch):
    data = Dataset("icd10", "texts", LEAVES * 20, [f"A{i:02}" for i in range(100)])
    monkeypatch.setattr(_class_problems.datasets, "load_icd10", lambda: data)


def test_items_lack_a_word():
    rng = np.random.default_rng(0)
    shorter = {_class_problems.without_a_word(LEAVES[0], rng) for _ in range(50)}
    assert shorter == {"left arm", "broken arm", "broken left"}
    assert _class_problems.without_a_word("flu", rng) == "flu"


def test_every_leaf_is_a_class(few_leaves):
    classes = _class_problems.icd10_leaves(30)
    assert len(classes.book) == 100
    assert classes.book.n_unique == 4
    assert (classes.W.shape, classes.X.shape) == ((256, 100), (30, 256))
    np.testing.assert_array_equal(
        classes.encoder.project(classes.W.T) > 0, np.unpackbits(classes.book.codes, 1)
    )


def test_every_way_is_measured_on_leaves(few_leaves, monkeypatch):
    monkeypatch.setattr(decode, "BATCHES", {1: 2, 30: 30})
    rows = decode.measure(_class_problems.icd10_leaves(30), 30, repeats=1)
    by_way = {row["way"]: row for row in rows}
    assert by_way["float"]["classes"] == 100
    assert 0 <= by_way["exact"]["right"] <= by_way["float"]["right"] <= 1
    assert all(row["ratio"] > 0 and row["microseconds"] > 0 for row in rows)
