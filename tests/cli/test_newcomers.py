"""What people try first: it works, or a line says what to give instead."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import fewbits
from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from tests.cli._calling import fail, run

X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
KEYS = [f"k{i}" for i in range(40)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"year": [*range(40)], "kind": ["a", "b"] * 20}
    encoder = LinearEncoder(np.eye(8), np.zeros(8))
    made = Collection.create("c", X, ids=KEYS, columns=columns, encoder=encoder)
    made.tag("first")
    made.delete(KEYS[30:])
    rows = [
        {"sku": f"s{i}", "v": X[i].tolist(), "n": i, "on": "2026-01-31"}
        for i in range(40)
    ]
    for i, row in enumerate(rows):
        row |= {"at": f"2026-01-{i % 28 + 1:02}T10:00:00Z", "noon": "2026-01-31 12:00"}
    Path("r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_a_sparse_matrix_is_built_from_its_file():
    matrix = sparse.random(50, 12, 0.4, "csr", np.float32, random_state=0)
    sparse.save_npz("s.npz", matrix)
    np.save("names.npy", [f"row {i}" for i in range(50)])
    out = run("build", "s", "s.npz", "-b", 8, "--id", "names.npy")
    opened = Collection.open("s")
    assert (len(opened), opened.ids[3]) == (50, "row 3")
    dense = Collection.create(None, matrix.toarray(), bits=8)
    np.testing.assert_array_equal(opened.codes, dense.codes)
    assert "query 2" in run(*shlex.split(out.partition("next: fewbits ")[2]))


def test_names_with_a_comma_between_them():
    search = "search", "c", "--ids", "k1,k2", "--json", "--columns"
    both = run(*search, "year", "--columns", "kind")
    assert run(*search, "year, kind") == both
    assert both.count('"query"') == 2
    assert "no column 'color'" in fail(*search, "year,color")
    run("build", "r", "r.jsonl", "--column", "v", "--columns", "sku,n", "-b", 2)
    assert Collection.open("r").columns == ["sku", "n"]
    Path("u.csv").write_text("id,year,kind\nk1,7,c\n")
    run("update", "c", "u.csv", "--columns", "year,kind")
    assert Collection.open("c")["k1"] == {"year": 7, "kind": "c"}
    assert run("get", "c", "k1,k2").count("\n") == 3
    run("delete", "c", "--ids", "k1,k2")
    assert len(Collection.open("c")) == 28
    assert "no item with id 'k99'" in fail("get", "c", "k3,k99")


def test_a_name_that_has_a_comma():
    columns = {"a": [1] * 40, "a,b": [2] * 40, "b": [3] * 40}
    ids = ["k,0", *KEYS[1:]]
    Collection.create("n", X, ids=ids, columns=columns, bits=2)
    assert '"columns": {"a,b": 2}' in run(
        "get", "n", "k,0", "--columns", "a,b", "--json"
    )


def test_learners_and_numbers_with_a_comma_between_them():
    np.save("x.npy", np.tile(X, (8, 1)))
    rest = ["--n-queries", 20, "-k", 2, "--json"]
    once = run("compare", "x.npy", "-m", "lsh,threshold", "-b", "4,8", *rest)
    scores = json.loads(once)["scores"]
    assert {(x["method"], x["n_bits"]) for x in scores} >= {("lsh", 4), ("lsh", 8)}


def test_ids_are_called_id_in_filters():
    run("build", "r", "r.jsonl", "--column", "v", "--id", "sku", "-b", 2)
    opened = Collection.open("r")
    for name in ("id", "sku"):
        hits = opened.search(X[:1], k=5, filter=f"{name} in ('s3', 's9')")
        assert {*hits.ids[0]} == {"s3", "s9", None}
    assert len(opened.to_arrow(filter="id = 's7'")) == 1
    other = Collection.create(None, X, columns={"ID": [*range(40)]}, bits=4)
    assert len(other.to_arrow(filter="id = 7")) == 1  # the column


def test_inspect_names_the_ids_and_the_types():
    run("build", "r", "r.jsonl", "--column", "v", "--id", "sku", "-b", 2)
    out = run("inspect", "r")
    assert "id column\tsku\n" in out
    assert "sku=large_string, n=int64" in out
    facts = json.loads(run("inspect", "r", "--json"))
    assert (facts["id_column"], facts["types"]["n"]) == ("sku", "int64")


def test_times_that_are_texts_are_noted():
    words = ["build", "r", "r.jsonl", "--column", "v", "--id", "sku", "-b", 2]
    out = " ".join(run(*words).split())
    options = ["on=date32", "at=timestamp[us, tz=UTC]", "noon=timestamp[us]"]
    for option in options:
        assert f"--types {shlex.quote(option)}" in out
        words += ["--types", option]
    assert "as texts" not in run(*words, "--overwrite")
    kinds = [str(field.type) for field in Collection.open("r").schema]
    assert kinds[2:] == ["date32[day]", "timestamp[us, tz=UTC]", "timestamp[us]"]


def test_dates_of_another_form_are_noted():
    columns = {
        "us": ["03/14/2025", "12/1/2024"],
        "de": ["14.3.2025", "1.12.2024"],
        "named": ["14 Mar 2025", "1 December 2024"],
        "version": ["1.2.3", "1.2.2024"],
        "some": ["03/14/2025", "soon"],
    }
    rows = [",".join(row) for row in zip(*columns.values(), strict=True)]
    names = ",".join(columns)
    Path("d.csv").write_text(f"text,{names}\nred shoe,{rows[0]}\nhat,{rows[1]}\n")
    out = " ".join(run("build", "d", "d.csv", "--column", "text", "-b", 2).split())
    assert "us holds dates such as 03/14/2025 as texts, which" in out
    noted = [name for name in columns if f"{name} holds dates" in out]
    assert noted == ["us", "de", "named"]


@pytest.mark.parametrize(
    "words",
    [
        ["like", "c", "--good-ids", "k35", "--good-ids", "k36", "--json"],
        ["classify", "c", "--ids", "k35", "--label", "kind", "--json"],
        ["duplicates", "c", "-r", "8", "--filter", "id = 'k35'", "--json"],
        ["search", "c", "--ids", "k35", "--json"],
        ["get", "c", "k35", "--json"],
    ],
    ids=lambda words: words[0],
)
def test_a_version_is_asked(words):
    assert "k35" in run(*words, "--at", "first") or words[0] != "get"
    if words[0] != "duplicates":
        assert "no item with id 'k35'" in fail(*words)


def test_a_version_is_inspected():
    at = json.loads(run("inspect", "c", "--at", "first", "--json"))
    assert (at["n_items"], json.loads(run("inspect", "c", "--json"))["n_items"]) == (
        40,
        30,
    )


def test_one_id_in_place_of_a_list():
    opened = Collection.open("c")
    for ask in (opened.get, opened.delete, lambda ids: opened.search(ids=ids)):
        with pytest.raises(ArgumentError, match=r"give \['k1'\]"):
            ask("k1")
    assert opened["k1"]["year"] == 1


def test_a_collection_becomes_a_data_frame():
    pytest.importorskip("pandas")
    frame = Collection.open("c").to_pandas(["year"], filter="year < 5")
    assert [*frame.columns] == ["id", "year"]
    assert frame["year"].tolist() == [0, 1, 2, 3, 4]


def test_a_change_that_json_would_change():
    for row in ('{"id": "k1", "year": 9007199254740993.0}', '{"id": "k1", "id": "k2"}'):
        Path("changes.jsonl").write_text(f'{{"update": {row}}}')
        assert "line 1 is no change" in fail("apply", "c", "changes.jsonl")


def test_only_public_names_are_listed():
    names = {name for name in dir(fewbits) if not name.startswith("__")}
    assert not {"TYPE_CHECKING", "lazy_names"} & names
    assert not [name for name in names if name.startswith("_")]


def test_codes_of_texts_are_not_short():
    pytest.importorskip("wordllama")
    texts = [f"a text about {i} things" for i in range(300)]
    assert Collection.create(None, texts).encoder.n_bits == 256
    assert Collection.create(None, X).encoder.n_bits == 64
    assert Collection.create(None, texts, learner="lsh", bits=32).encoder.n_bits == 32


def test_names_of_other_programs():
    assert "'fewbits inspect'" in fail("info", "c")
    assert "'fewbits --version'" in fail("version")
    np.save("q.npy", X[:1])
    assert "use --input q.npy" in fail("search", "c", "q.npy")
    assert "use --ids k1" in fail("search", "c", "k1")
    assert "is a file" in fail("search", "q.npy", "k1")
    opened = Collection.open("c")
    with pytest.raises(AttributeError, match=r"len\(col\)"):
        _ = opened.ntotal
    with pytest.raises(AttributeError, match="'colour'"):
        _ = opened.colour
    assert "radius=3" in repr(opened.duplicates(3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda col: Collection.create(X, "there"), r"create\(None, data\)"),
        (lambda col: Collection.create(None, X, learner=LinearEncoder), "give Linear"),
        (lambda col: Collection.create(None, X, label=KEYS), "columns="),
        (lambda col: col.search(X[:1], columns="year"), r"give \['year'\]"),
        (lambda col: col[0:3], r"column\(name\)"),
        (lambda col: col.at(99), "never made"),
        (lambda col: col.recall(), "--keep-vectors"),
        (lambda col: col.search(X[:1], filter="year > 1 & year < 3"), "write AND"),
    ],
)
def test_habits_of_others_are_told_what_to_give(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(Collection.open("c"))
