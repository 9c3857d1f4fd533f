"""Learnt codes beat random ones, re-ranking helps, and nonsense is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits import backbones, demo
from fewbits.cli import app


@pytest.fixture(scope="module")
def data():
    whole = demo.load()
    rows = np.random.default_rng(0).permutation(len(whole))[:2000]
    return replace(
        whole,
        items=[whole.items[row] for row in rows],
        keys=[whole.keys[row] for row in rows],
        labels={name: values[rows] for name, values in whole.labels.items()},
    )


def check(rows):
    by_name = {row["name"]: row for row in rows}
    learnt, random = by_name["learnt 256 (ITQ)"], by_name["random 256 (LSH)"]
    assert learnt["bytes_per_item"] == random["bytes_per_item"] == 32
    assert learnt["recall"] > random["recall"]
    short = by_name["learnt 64 (neighbours)"]
    assert short["bytes_per_item"] == 8
    assert short["recall"] > by_name["learnt 64 (ITQ)"]["recall"] + 0.02
    lengths = [by_name[f"learnt {n} (ITQ)"]["recall"] for n in (64, 256, 512)]
    assert lengths == sorted(lengths)
    for row in rows[1:]:
        assert row["recall_reranked"] >= row["recall"]


def test_engine_on_a_slice(data):
    features = backbones.load(demo.BACKBONE).extract(data.items)
    bundle = demo.build(data, features)
    check([row._asdict() for row in demo.compare(features, bundle.encoder)])
    (answer,) = demo.ask(bundle, [data.items[0]])
    assert answer.texts[0] == data.items[0]
    assert answer.distances[0] == 0


def test_whole_run(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--json", "-o", str(tmp_path / "d")])
    assert result.exit_code == 0
    assert result.stderr == ""
    told = json.loads(result.stdout)
    check(told["comparison"])
    answers = {answer["question"]: answer for answer in told["answers"]}
    assert answers["quarterly earnings report of the bank"]["chapter"] is None
    assert answers["bitten by a shark"]["chapter"] is not None
