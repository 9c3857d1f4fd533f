"""``fewbits recall`` as people and programs use it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from fewbits.collection import Collection
from fewbits.cli import app, main
from fewbits.encoders import LinearEncoder

X = np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32)
Q = np.random.default_rng(1).normal(size=(9, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recall")
    bundle = Bundle(LinearEncoder(np.eye(16), np.zeros(16)))
    bundle.with_items(X, keep_vectors="float16").save(folder / "b")
    bundle.with_items(X).save(folder / "plain")
    np.save(folder / "x.npy", X)
    np.save(folder / "q.npy", Q)
    (folder / "t.txt").write_text("a cat\na dog\n")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(Q.ravel()), 16)
    pq.write_table(pa.table({"v": vectors, "w": vectors}), folder / "q.parquet")
    return folder


def invoke(*arguments, **options):
    return CliRunner().invoke(app, ["recall", *map(str, arguments)], **options)


def run(*arguments, **options):
    result = invoke(*arguments, **options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_programs_get_each_estimate(folder):
    found = json.loads(run(folder / "b", "-i", folder / "q.npy", "-k", 4, "--json"))
    expected = Collection.open(folder / "b").estimate_recall(4, queries=Q)
    assert found["held_out"] is True
    assert found["estimates"] == [each.to_dict() for each in expected]


def test_people_see_a_table(folder):
    lines = run(folder / "b").splitlines()
    assert lines[0].split("\t") == ["search", "shortlist", "recall@10", "low", "high"]
    one, two, three = Collection.open(folder / "b").estimate_recall()
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
    given = ["--vectors", folder / "x.npy", "--n-queries", 30, "--seed", 3, "--json"]
    found = json.loads(run(folder / "plain", *given))
    own = Collection.open(folder / "plain").estimate_recall(
        vectors=X, n_queries=30, random_state=3
    )
    assert found["estimates"] == [each.to_dict() for each in own]


@pytest.mark.parametrize(
    ("collection", "options", "message"),
    [
        ("plain", [], "keeps no vectors to find the true neighbours with"),
        ("plain", ["--vectors", "q.npy"], "for each of the 60 items, got 9"),
        ("plain", ["--vectors", "t.txt"], "--vectors needs vectors, but t.txt holds"),
        ("b", ["-k", "60"], "k=60 asks for more neighbours than the 59 other items"),
        ("b", ["-i", "t.txt"], "holds texts, but this collection takes vectors"),
        ("b", ["-i", "none.npy"], "none.npy"),
        ("b", ["--column", "v"], "--column needs --input"),
        ("b", ["--confidence", "95"], "confidence must be a number above 0"),
        ("none", [], "is not a collection"),
    ],
)
def test_mistakes(folder, bundle, options, message, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["fewbits", "recall", bundle, *options])
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main())
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
