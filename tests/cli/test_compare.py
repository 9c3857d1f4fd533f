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
    asked = ["d.npz", "--column", "x", "--label", "y", "-m", "lsh", "-m", "pcah"]
    found = run(*asked, "-b", 16, "-b", 128, "--plot", "p.svg")
    assert found.exit_code == 0, found.stderr
    title, header, *rows = found.stdout.splitlines()
    assert title == "# 50 queries among 175 items, learnt from 175 others, 17 re-ranked"
    assert header.split("\t") == [
        *("method", "bits", "re-ranked by", "bytes each", "recall@10", "query ms"),
        *("ANN mAP", "label mAP", "SVM", "fit s", "encode µs"),
    ]
    assert [row.split("\t")[:3] for row in rows[2:7]] == [
        ["int8 vectors", "-", "-"],
        *(["lsh", "16", rerank] for rerank in ("-", "scores", "int8", "float16")),
    ]
    assert rows[-1].startswith("note: pcah, 128 bits could not be learnt: PCAH makes")
    assert "<svg" in (folder / "p.svg").read_text()


def test_as_json_without_labels():
    found = json.loads(run("x.npy", "-m", "lsh", "-b", 16, "--json").stdout)
    same = compare("lsh", 16, X[:400].astype(np.float32))
    assert [row["recall"] for row in found["scores"]] == [
        row.recall for row in same.scores
    ]
    assert found["scores"][-1]["svm"] is None
    assert found["choice"] is None


def test_what_costs_nothing_stands_beside_what_is_learnt():
    found = json.loads(run("x.npy", "-b", 16, "--random-state", 3, "--json").stdout)
    rows = [row for row in found["scores"] if row["rerank"] == "scores"]
    assert [row["method"] for row in rows] == [
        *("lsh", "random rotation", "itq", "additive", "neighbours")
    ]
    rotation = ITQ(n_iter=0, random_state=3)
    same = compare(
        {"rotation": rotation}, 16, X[:400].astype(np.float32), random_state=3
    )
    again = next(row for row in same.scores if row.rerank == "scores")
    assert rows[1]["recall"] == again.recall


def test_a_choice_names_the_command_that_makes_it():
    asked = ["x.npy", "-m", "itq", "-b", 32, "-b", 64, "--set", "n_iter=3"]
    found = run(*asked, "--recall", 0.8)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert "; the frontier of 11 rows" in lines[0]
    choice = next(line for line in lines if line.startswith("choice: "))
    assert "re-ranked by int8 vectors: recall@10 " in choice
    assert " on 50 other queries among 150 items, " in choice
    build = next(line for line in lines if line.startswith("next: "))
    start = "next: fewbits build my-collection x.npy --learner itq --bits "
    assert build.startswith(start)
    assert build.endswith(" --set n_iter=3 --keep-vectors int8")
    made = CliRunner().invoke(app, build.split()[2:])
    assert made.exit_code == 0, made.stderr
    told = json.loads(run(*asked, "--recall", 0.8, "--json").stdout)["choice"]
    assert told["reached"]
    assert told["scores"]["rerank"] == "int8"


def test_out_of_reach_is_an_error_that_names_the_nearest():
    asked = ["x.npy", "-m", "lsh", "-b", 16, "--recall", 0.9, "--bytes", 2]
    for more in ([], ["--json"]):
        found = run(*asked, *more)
        assert found.exit_code == 2
        assert "the nearest is lsh, 16 bits, re-ranked by scores with" in found.stderr
        assert found.stdout
    assert run(*asked[:-2], "--latency", 1e-9).exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "dbc"], "dbc learns from labels"),
        (["-m", "lsh", "--plot", "p.png"], ".svg"),
        (["-m", "lsh", "-b", 0], "a number of bits"),
        (["-m", "lsh", "-m", "lsh"], "--learner lsh is given more than once"),
        (["-m", "lsh", "--set", "sp.density=1"], "but sp is not compared"),
        (["-m", "lsh", "-m", "itq", "--set", "n_iter=9"], "lsh has no parameter"),
        (["-m", "lsh", "--set", "lsh.n_bits=9"], "--bits"),
        (["-m", "lsh", "--plot", "p.svg", "--metric", "speed"], "metric must be"),
        (["-m", "lsh", "--metric", "recall"], "--metric needs --plot"),
        (["-m", "lsh", "--recall", 2], "at most 1"),
        (["-m", "lsh", "--bytes", 0], "bytes must be at least 1"),
    ],
)
def test_mistakes_are_one_line(words, message):
    found = run("x.npy", *words)
    assert found.exit_code == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
