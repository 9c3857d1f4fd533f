"""``fewbits recall`` as people and programs use it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from tests.cli._calling import fail
from tests.cli._calling import run as run_command

X = np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32)
Q = np.random.default_rng(1).normal(size=(9, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recall")
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    Collection.create(folder / "b", X, encoder=encoder, keep_vectors="float16")
    Collection.create(folder / "plain", X, encoder=encoder)
    np.save(folder / "x.npy", X)
    np.save(folder / "q.npy", Q)
    (folder / "t.txt").write_text("a cat\na dog\n")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(Q.ravel()), 16)
    pq.write_table(pa.table({"v": vectors, "w": vectors}), folder / "q.parquet")
    return folder


def run(*words):
    return run_command("recall", *words)


def test_programs_get_each_estimate(folder):
    found = json.loads(run(folder / "b", "-i", folder / "q.npy", "-k", 4, "--json"))
    expected = Collection.open(folder / "b").recall(4, queries=Q)
    assert found["estimates"] == [each.to_dict() for each in expected]


def test_people_see_a_table(folder):
    lines = run(folder / "b").splitlines()
    assert lines[0].split("\t") == ["search", "shortlist", "recall@10", "low", "high"]
    one, two, three = Collection.open(folder / "b").recall()
    shown = [line.split("\t") for line in lines[1:4]]
    assert [line[0] for line in shown] == [
        "codes alone",
        "re-ranked by scores",
        "re-ranked by vectors",
    ]
    for line, each in zip(shown, [one, two, three], strict=True):
        assert line[2:] == [f"{x:.3f}" for x in (each.recall, each.low, each.high)]
    said = " ".join(lines[4:])
    assert "60 items of the collection as queries" in said
    assert "95 % confidence interval" in said
    assert "held-out ones by --input" in said


def test_held_out_queries_are_named(folder):
    options = ["--column", "v", "--confidence", "0.9"]
    said = " ".join(run(folder / "b", "-i", folder / "q.parquet", *options).split())
    assert "9 held-out queries as queries; low to high is the 90 %" in said
    assert "note" not in said


def test_vectors_of_a_file(folder):
    given = [
        "--vectors",
        folder / "x.npy",
        "--n-queries",
        30,
        "--random-state",
        3,
        "--json",
    ]
    found = json.loads(run(folder / "plain", *given))
    own = Collection.open(folder / "plain").recall(
        vectors=X, n_queries=30, random_state=3
    )
    assert found["estimates"] == [each.to_dict() for each in own]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plain", [], "keeps no vectors to find the true neighbours with"),
        ("plain", ["--vectors", "q.npy"], "for each of the 60 items, got 9"),
        ("plain", ["--vectors", "t.txt"], "--vectors needs vectors, but t.txt holds"),
        ("b", ["-k", "60"], "k=60 asks for more neighbours than the 59 other items"),
        ("b", ["-i", "t.txt"], "holds texts, but this collection takes vectors"),
        ("b", ["-i", "none.npy"], "none.npy"),
        ("b", ["--column", "v"], "--column needs --input"),
        ("b", ["--confidence", "95"], "confidence must be"),
        ("none", [], "is not a collection"),
    ],
)
def test_mistakes(folder, name, options, message, monkeypatch):
    monkeypatch.chdir(folder)
    assert message in fail("recall", name, *options)
