"""Learnt codes beat random ones, re-ranking helps, and nonsense is refused."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from fewbits import datasets
from fewbits.collection import Collection
from tests.cli._calling import invoke


@pytest.fixture(scope="module")
def data():
    whole = datasets.load_icd10()
    rows = np.random.default_rng(0).permutation(len(whole))[:2000]
    return replace(
        whole,
        items=[whole.items[row] for row in rows],
        keys=[whole.keys[row] for row in rows],
        labels={name: values[rows] for name, values in whole.labels.items()},
    )


def told_by(folder, bits, gain):
    """Return the answers of the demo, whose codes find what they should."""
    result = invoke("demo", "--json", "-o", folder, "--bits", bits)
    assert result.exit_code == 0, result.stderr
    steps = result.stderr.splitlines()
    assert len(steps) == 3
    assert f"{bits} bits" in steps[1]
    told = json.loads(result.stdout)
    rows = told["comparison"]
    by_name = {row["name"]: row for row in rows}
    learnt, drawn = by_name[f"learnt {bits} (ITQ)"], by_name[f"random {bits} (LSH)"]
    assert learnt["bytes_per_item"] == drawn["bytes_per_item"] == bits // 8
    assert learnt["recall"] > drawn["recall"]
    few = bits // 4
    short = by_name[f"learnt {few} (neighbours)"]
    assert short["bytes_per_item"] == few // 8
    assert short["recall"] > by_name[f"learnt {few} (ITQ)"]["recall"] + gain
    lengths = (few, bits, 2 * bits)
    recalls = [by_name[f"learnt {n} (ITQ)"]["recall"] for n in lengths]
    assert recalls == sorted(recalls)
    for row in rows[1:]:
        assert row["recall_reranked"] >= row["recall"]
    return {answer["question"]: answer for answer in told["answers"]}


def test_on_a_slice(data, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "load_icd10", lambda: data)
    # 2,000 rows are too few for neighbours to teach much.
    answers = told_by(tmp_path / "d", 64, gain=-0.03)
    assert len(answers) == 5
    opened = Collection.open(tmp_path / "d")
    assert opened.column("icd10").tolist() == data.keys
    for question, answer in answers.items():
        hits = opened.search([question])[0]
        assert answer["texts"] == [hit["text"] for hit in hits]
        assert answer["distances"] == [hit.distance for hit in hits]


def test_another_collection_is_not_replaced(tmp_path):
    Collection.create(tmp_path / "c", np.eye(8, dtype=np.float32), bits=4)
    result = invoke("demo", "-o", tmp_path / "c")
    assert result.exit_code == 2
    assert "holds a collection already" in result.stderr


@pytest.mark.skipif(
    os.environ.get("FEWBITS_NIGHTLY") != "1", reason="all diagnoses: make nightly"
)
def test_whole_run(tmp_path):
    answers = told_by(tmp_path / "d", 256, gain=0.1)
    assert answers["quarterly earnings report of the bank"]["chapter"] is None
    assert answers["bitten by a shark"]["chapter"] is not None
