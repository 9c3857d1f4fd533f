"""``fewbits search``, ``like``, ``get``, ``encode`` and ``evaluate``."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from fewbits.learners import LSH
from tests.cli._calling import fail, invoke, run

TEXTS = ["a broken arm", "a cat [/b] asleep", "the bank of the river", "a shark"]
ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("q.npy", X[:3])
    np.save("new.npy", X[:3] + 0.01)
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    return tmp_path


@pytest.fixture
def vectors():
    columns = {"n": [*range(60)], "kind": ["a", "b", "c"] * 20}
    options = {"encoder": ENCODER, "keep_vectors": "float16"}
    Collection.create("v", X, columns=columns, **options)
    return "v"


@pytest.fixture
def texts():
    pytest.importorskip("wordllama")
    run("build", "t", "t.txt", "--bits", 32)
    return "t"


def lines(*words, **options):
    return [json.loads(x) for x in run(*words, "--json", **options).splitlines()]


def test_vectors(vectors):
    answers = lines("search", vectors, "-i", "q.npy", "-k", 2)
    assert [answer["hits"][0]["id"] for answer in answers] == [0, 1, 2]
    assert [*answers[0]] == ["query", "metric", "rerank", "version", "hits"]
    assert [answer["query"] for answer in answers] == ["query 0", "query 1", "query 2"]
    assert [*answers[0]["hits"][0]] == ["rank", "id", "distance", "columns"]
    title, *shown = run("search", vectors, "-i", "q.npy", "-k", 2).splitlines()
    assert title == "# re-ranked by Euclidean distances of kept vectors"
    named = [line.split("\t")[0] for line in shown]
    assert named == ["query", *np.repeat(["query 0", "query 1", "query 2"], 2)]
    many = run("search", vectors, "-i", "x.npy", "-k", 1)
    assert "query 19" in many
    assert "query 20" not in many
    assert many.endswith("note: 40 more queries; --json prints the results of all\n")


def test_each_argument_is_an_option(vectors):
    """What a command answers is what the method does."""
    opened = Collection.open(vectors)
    code = opened.codes[7].tobytes().hex()
    for words, arguments in (
        (["-i", "q.npy"], {"queries": X[:3]}),
        (["--vectors", "q.npy"], {"vectors": X[:3]}),
        (["--ids", 4, "--ids", 9], {"ids": [4, 9]}),
        (["--codes", code], {"codes": opened.codes[7:8]}),
        (["--ids", 4, "--radius", 3], {"ids": [4], "radius": 3}),
        (["--ids", 4, "-r", 3, "-k", 2], {"ids": [4], "radius": 3, "k": 2}),
        (["--ids", 4, "--filter", "n > 30"], {"ids": [4], "filter": "n > 30"}),
        (["--ids", 4, "--group-by", "kind"], {"ids": [4], "group_by": "kind"}),
        (["--ids", 4, "--no-rerank"], {"ids": [4], "rerank": False}),
        (
            ["--ids", 4, "--rerank", "--shortlist", 12, "-k", 3],
            {"ids": [4], "rerank": True, "shortlist": 12, "k": 3},
        ),
        (
            ["--ids", 4, "--allowed", 5, "--allowed", 6, "--columns", "kind"],
            {"ids": [4], "allowed": [5, 6], "columns": ["kind"]},
        ),
    ):
        expected = opened.search(**arguments).to_dict()
        answers = lines("search", vectors, *words)
        assert [answer["hits"] for answer in answers] == expected["hits"], words
        assert {answer["metric"] for answer in answers} == {expected["metric"]}
        assert {answer["rerank"] for answer in answers} == {
            expected["metric"] != "hamming"
        }
        assert {answer["version"] for answer in answers} == {1}


def test_texts(texts):
    out = run("search", texts, "broken arm", "shark", "-k", 1)
    assert TEXTS[0] in out
    assert TEXTS[3] in out
    assert TEXTS[1] in run("search", texts, "cat", "-k", 1)
    many = run("search", texts, "-i", "-", "-k", 10**9, "--json", input="cat\narm\n")
    assert [len(json.loads(line)["hits"]) for line in many.splitlines()] == [4, 4]
    assert "blank text in row 0" in fail("search", texts, "  ")
    result = invoke("like", texts, "t.txt", "--bad", TEXTS[1], "--json")
    said = "note: 't.txt' is taken as a text; to read the file, use --input\n"
    assert result.stderr == said
    assert json.loads(result.stdout)["hits"]
    for option, words in ("--ids", ["search", texts]), ("--good-ids", ["like", texts]):
        said = invoke(*words, "3").stderr
        assert said.startswith("note: '3' is taken as a text")
        assert said.endswith(f"{option} 3\n")
        assert invoke(*words, "4").stderr == ""
    for bad in ("\udce9", "caf\ud800"):
        assert "a text must be UTF-8, got" in fail("search", texts, "fine", bad)


def test_a_table_of_queries(folder):
    pytest.importorskip("wordllama")
    table = {"title": TEXTS * 3, "kind": ["body", "animal", "place", "animal"] * 3}
    pq.write_table(pa.table(table), "t.parquet")
    options = ["--column", "title", "--label", "kind", "-m", "cca-itq", "-b", 8]
    run("build", "t", "t.parquet", *options)
    assert TEXTS[0] in run("search", "t", "broken arm", "-k", 1)
    Path("asked.csv").write_text("who,title\nme,a broken arm\n")
    assert run("search", "t", "-i", "asked.csv").startswith("# a broken arm (Hamming ")
    Path("asked.csv").write_text("question\na broken arm\n")
    assert run("search", "t", "-i", "asked.csv").startswith("# a broken arm (Hamming ")


def test_images(folder, monkeypatch):
    monkeypatch.setenv("FEWBITS_CACHE", str(folder / "cache"))
    (folder / "pictures").mkdir()
    rng = np.random.default_rng(0)
    for name, mean in (("dark", 20), ("grey", 120), ("light", 230)):
        pixels = rng.integers(mean - 20, mean + 20, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "pictures" / f"{name}.png")
    run("build", "p", "pictures", "-m", "lsh", "-b", 64)
    answers = lines("search", "p", "-i", "pictures", "-k", 1)
    assert [answer["hits"][0]["distance"] for answer in answers] == [0, 0, 0]
    assert "light.png" in str(answers[2])
    (found,) = lines("like", "p", "./pictures/dark.png")
    names = [str(folder.resolve() / f"pictures/{x}.png") for x in ("grey", "light")]
    assert sorted(hit["id"] for hit in found["hits"]) == names
    assert str(run("search", "p", "pictures/grey.png", "-k", 1)).count("grey.png") == 2
    assert len(list((folder / "cache").glob("efficientnet-lite0-128-*/*.npy"))) == 1


def by_hand(query, radius):
    distances = ((X > 0) != (X[query] > 0)).sum(axis=1)
    order = np.argsort(distances, kind="stable")
    return [(int(i), int(distances[i])) for i in order if distances[i] <= radius]


@pytest.mark.parametrize("k", [None, 3])
def test_all_within_a_radius(vectors, k):
    limit = [] if k is None else ["-k", k]
    answers = lines("search", vectors, "-i", "x.npy", "--radius", 3, *limit)
    assert len(answers) == 60
    for query, answer in enumerate(answers):
        hits = [(hit["id"], hit["distance"]) for hit in answer["hits"]]
        assert hits == by_hand(query, 3)[:k]


@pytest.mark.parametrize("option", [["--rerank"], ["--group-by", "n"], ["-k", "0"]])
def test_what_has_no_radius(vectors, option):
    said = fail("search", vectors, "-i", "q.npy", "-r", 3, *option)
    assert "cannot be combined with radius" in said or "at least 1" in said


def test_out_of_distribution_queries_are_marked():
    rng = np.random.default_rng(0)
    known = np.repeat(rng.normal(size=(6, 16)) * 5, 10, axis=0)
    known += rng.normal(size=(60, 16))
    np.savez("known.npz", x=known, y=np.repeat(list("abcdef"), 10))
    np.save("queries.npy", np.stack([known[0], -known.mean(axis=0) * 50]))
    options = ["--column", "x", "--label", "y", "-b", 64]
    run("build", "k", "known.npz", *options)
    assert "novelty radius" in run("inspect", "k")
    near, far = lines("search", "k", "-i", "queries.npy")
    assert near["out_of_distribution"] is False
    assert "out_of_distribution" in far
    (one, _) = lines("search", "k", "-i", "queries.npy", "--filter", "bit(0) = 1")
    assert "out_of_distribution" not in one


def test_a_condition_on_bits(vectors):
    words = ["search", vectors, "-i", "q.npy", "-k", 60, "--filter", "bit(3) = 1"]
    found = [hit["id"] for hit in lines(*words)[0]["hits"]]
    run("encode", vectors, "x.npy", "-o", "codes.npy")
    bits = np.unpackbits(np.load("codes.npy"), axis=1)
    assert sorted(found) == np.flatnonzero(bits[:, 3]).tolist()


def test_items_by_their_ids(vectors):
    assert lines("get", vectors, 5, 3, "--columns", "kind") == [
        {"id": 5, "columns": {"kind": "c"}},
        {"id": 3, "columns": {"kind": "a"}},
    ]
    assert run("get", vectors, 5) == "id\tn\tkind\n5\t5\tc\n"
    assert "there is no item with id 99" in fail("get", vectors, 99)


def test_items_by_a_condition(vectors):
    condition = ["get", vectors, "--filter", "kind = 'c' and id < 9"]
    assert lines(*condition, "--columns", "id,n") == [
        {"id": 2, "columns": {"n": 2}},
        {"id": 5, "columns": {"n": 5}},
        {"id": 8, "columns": {"n": 8}},
    ]
    assert lines(*condition, "--columns", "id")[0] == {"id": 2, "columns": {}}
    assert run(*condition) == "id\tn\tkind\n2\t2\tc\n5\t5\tc\n8\t8\tc\n"
    assert run("get", vectors, "--filter", "n < 0") == "nothing found\n"
    assert lines("get", vectors, "--filter", "n < 0") == []
    assert "--filter" in fail("get", vectors)
    assert "--filter" in fail(*condition, 5)
    assert "no column 'm'" in fail("get", vectors, "--filter", "m = 1")


def test_many_items_by_a_condition_have_one_header(tmp_path):
    n = 2500
    texts = {"twin": [str(i % 2000) for i in range(n)]}
    ids = [str(i) for i in range(n)]
    ones, encoder = np.ones((n, 2)), LinearEncoder(np.eye(2), np.zeros(2))
    Collection.create(tmp_path / "m", ones, ids=ids, columns=texts, encoder=encoder)
    header, *rows = run("get", tmp_path / "m", "--filter", "true").splitlines()
    assert header == "id\ttwin"
    assert [row.split("\t") for row in rows] == [
        *map(list, zip(ids, texts["twin"], strict=True))
    ]


def test_more_like_a_few(vectors, folder):
    (found,) = lines("like", vectors, "--good-ids", 3, "--good-ids", 4, "-k", 5)
    distances = [hit["distance"] for hit in found["hits"]]
    assert found["metric"] == "margin"
    assert len(distances) == 5
    assert distances == sorted(distances)
    assert not {3, 4} & {hit["id"] for hit in found["hits"]}
    assert "distance" in run("like", vectors, "-i", "q.npy", "--bad-ids", 50)
    sides = [
        lines("like", vectors, "--good-ids", 3, "--filter", f"bit(0)={v}")[0]["hits"]
        for v in (0, 1)
    ]
    first, second = ({hit["id"] for hit in side} for side in sides)
    assert first
    assert second
    assert not first & second


def test_examples_are_left_out(folder, texts):
    (found,) = lines("like", texts, TEXTS[3], "-k", 3)
    assert {hit["columns"]["text"] for hit in found["hits"]} == {*TEXTS[:3]}
    (folder / "given.txt").write_text(TEXTS[3])
    (found,) = lines("like", texts, "-i", "given.txt", "--bad", TEXTS[0])
    assert {hit["columns"]["text"] for hit in found["hits"]} == {*TEXTS[1:3]}
    out = run("like", texts, "--good", "a broken leg", "--bad", "a cat", "-k", 2)
    assert TEXTS[0] in out


def test_like_says_when_nothing_fits():
    rng = np.random.default_rng(0)
    two, alone = np.repeat(rng.normal(size=(2, 8)), 40, axis=0), rng.normal(size=(1, 8))
    rows = np.r_[two + 0.01 * rng.normal(size=two.shape), alone].astype(np.float32)
    Collection.create("b", rows, learner=LSH(64, random_state=0))
    said = "nothing in the collection looks like"
    bad = ["--bad-ids", 0, "--bad-ids", 40]
    few = ["--n-random", 5]
    assert said in run("like", "b", "--good-ids", 80, *bad, *few)
    assert said not in run("like", "b", "--good-ids", 0, "--good-ids", 1, *few)
    assert said not in run("like", "b", "--good-ids", 80, *bad)


def test_only_codes_are_replaced_by_codes(vectors, folder):
    words = ["encode", vectors, "q.npy", "-o", "c.npy"]
    run(*words)
    run(*words)
    np.testing.assert_array_equal(np.load("c.npy"), ENCODER.encode(X[:3]))
    (folder / "empty.npy").touch()
    assert json.loads(run(*words[:-1], "empty.npy", "--json"))["shape"] == [3, 1]
    for name in ("x.npy", "damaged.npy"):
        kept = (folder / "x.npy").read_bytes()[: None if name == "x.npy" else 90]
        (folder / name).write_bytes(kept)
        assert "exists and holds no codes" in fail(*words[:-1], name)
        assert (folder / name).read_bytes() == kept


def test_evaluation(vectors):
    assert "recall@5" in run("evaluate", vectors, "new.npy", "x.npy", "-k", 5)
    (report,) = lines("evaluate", vectors, "new.npy", "x.npy")
    assert report["n_queries"] == 3
    np.save("q-labels.npy", np.arange(3) % 2)
    np.save("x-labels.npy", np.arange(60) % 2)
    words = ["evaluate", vectors, "new.npy", "x.npy", "--label", "x-labels.npy"]
    out = run(*words, "--query-label", "q-labels.npy", "-k", 3)
    assert "k-NN accuracy (k = 3)" in out


@pytest.mark.filterwarnings("ignore:60 of 60 queries are equal to an item")
def test_several_labels_for_each_item():
    rng = np.random.default_rng(0)
    np.savez("several.npz", x=X, y=rng.random((60, 3)) < 0.5)
    options = ["several.npz", "--column", "x", "--label", "y"]
    run("build", "s", *options, "-m", "cca-itq", "-b", 8)
    out = run("evaluate", "s", "several.npz", *options)
    assert "mean average precision over labels" in out
    assert "k-NN accuracy" not in out
    words = ["inspect", "s", "--bound", "--bits", "--label", "label", "--json"]
    assert json.loads(run(*words))["bound"]["n_classes"] == 3
