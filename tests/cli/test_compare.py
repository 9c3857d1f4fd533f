"""``fewbits compare``: a table, a plot, and what could not be learnt."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from fewbits.cli import app
from fewbits.learners import ITQ
from fewbits.training import compare

X, y = load_digits(return_X_y=True)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("d.npz", x=X[:400].astype(np.float32), y=y[:400])
    np.save("x.npy", X[:400].astype(np.float32))
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def test_the_table_is_that_of_the_function(folder):
    asked = ["d.npz", "--column", "x", "--labels", "y", "-m", "lsh", "-m", "pcah"]
    found = run(*asked, "-b", 16, "-b", 128, "--plot", "p.svg")
    assert found.exit_code == 0, found.stderr
    title, header, *rows = found.stdout.splitlines()
    assert title == "# 50 queries among 175 items, learnt from 175 others"
    assert header.split("\t") == [
        *("method", "bits", "bytes each", "ANN mAP", "recall@10", "re-ranked"),
        *("label mAP", "SVM", "fit s", "encode µs"),
    ]
    assert [row.split("\t")[:2] for row in rows[:4]] == [
        ["vectors", "-"],
        ["lsh", "16"],
        ["lsh", "128"],
        ["pcah", "16"],
    ]
    assert rows[4].startswith("note: pcah, 128 bits could not be learnt: PCAH makes")
    assert "<svg" in (folder / "p.svg").read_text()


def test_as_json_without_labels():
    found = json.loads(run("x.npy", "-m", "lsh", "-b", 16, "--json").stdout)
    same = compare("lsh", 16, X[:400].astype(np.float32))
    assert [row["recall"] for row in found["scores"]] == [
        row.recall for row in same.scores
    ]
    assert found["scores"][1]["svm"] is None


def test_what_costs_nothing_stands_beside_what_is_learnt():
    found = json.loads(run("x.npy", "-b", 16, "--seed", 3, "--json").stdout)
    assert [row["method"] for row in found["scores"]] == [
        *("vectors", "lsh", "random rotation", "itq", "additive", "neighbours")
    ]
    rotation = ITQ(n_iter=0, random_state=3)
    same = compare(
        {"rotation": rotation}, 16, X[:400].astype(np.float32), random_state=3
    )
    recall = found["scores"][2]["recall_reranked"]
    assert recall == same.scores[1].recall_reranked


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "dbc"], "dbc learns from labels"),
        (["-m", "lsh", "--plot", "p.png"], ".svg"),
        (["-m", "lsh", "-b", 0], "a number of bits"),
        (["-m", "lsh", "-m", "lsh"], "--method lsh is given more than once"),
        (["-m", "lsh", "--set", "sp.density=1"], "but sp is not compared"),
        (["-m", "lsh", "-m", "itq", "--set", "n_iter=9"], "lsh has no parameter"),
        (["-m", "lsh", "--set", "lsh.n_bits=9"], "--bits"),
        (["-m", "lsh", "--plot", "p.svg", "--metric", "speed"], "metric must be"),
        (["-m", "lsh", "--metric", "recall"], "--metric needs --plot"),
    ],
)
def test_mistakes_are_one_line(words, message):
    found = run("x.npy", *words)
    assert found.exit_code == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
