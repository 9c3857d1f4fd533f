"""``fewbits build``: one command from a table to a collection."""

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from fewbits.collection import Collection, tools
from fewbits.errors import ArtefactError
from tests.cli._calling import fail, invoke, run

ROWS = [f"s{i},a text {i},{'xyz'[i % 3]},{i / 7},{i * i}" for i in range(40)]
HEADER = "sku,title,kind,a,b"
LABELLED = ["--column", "title", "--id", "sku"]


def write(name, rows):
    Path(name).write_text("\n".join([HEADER, *rows]))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    np.save("x.npy", X)
    write("t.csv", ROWS[:30])
    write("more.csv", ROWS[30:])
    (tmp_path / "pictures").mkdir()
    for i in range(3):
        Image.new("RGB", (9, 9), (i, 9, 80 * i)).save(f"pictures/{i} .png")
    return tmp_path


def test_a_table_becomes_a_collection_that_grows():
    out = run("build", "c", "t.csv", *LABELLED, "--label", "kind", "--bits", 16)
    assert out.startswith("c: 30 items of 16 bits\nnext: ")
    (first,) = run("search", "c", "a text 7", "-k", 1).splitlines()[2:]
    assert first.startswith("s7\t0\ta text 7\ty\t1.0\t49")
    told = run("build", "c", "more.csv", *LABELLED)
    assert told == "c: 10 added; 40 items in all\n"
    opened = Collection.open("c")
    assert (len(opened), opened.label_column) == (40, "kind")
    assert opened.facts.novelty_radius is not None


def test_learning_happens_once():
    run("fit", "t.csv", "--column", "title", "-o", "c", "-m", "lsh", "-b", 8)
    run("fit", "t.csv", "--column", "title", "-o", "other", "-m", "lsh", "-b", 4)
    for options, both in (
        (["--bits", 16], "--bits 8, not 16: leave out --bits"),
        (["-m", "itq"], "--learner lsh, not itq: leave out --learner"),
        (["--random-state", 1], "--random-state 0, not 1: leave out --random-state"),
        (["--sample", 9], "--sample 30, not 9: leave out --sample"),
        (["--kernel-map", "chi2"], "--kernel-map none, not chi2"),
        (["--set", "dtype=x"], "--set dtype none, not x"),
        (["--encoder", "other"], "not LinearEncoder(256 -> 4 bits)"),
    ):
        said = fail("build", "c", "t.csv", *LABELLED, *options)
        assert said.startswith("fewbits: error: c has an encoder already, ")
        assert both in said
    run("build", "c", "t.csv", *LABELLED, "--keep-vectors", "int8", "--index", "flat")
    opened = Collection.open("c")
    assert (opened.facts.method, opened.facts.index) == ("lsh", "flat")
    assert opened.vector_dtype == "int8"
    said = fail("build", "c", "more.csv", *LABELLED, "--keep-vectors", "float16")
    assert "with keep_vectors=int8, not float16" in said
    said = fail("build", "c", "more.csv", *LABELLED, "--index", "auto")
    assert "with index=flat, not auto" in said
    run("build", "c", "t.csv", *LABELLED, "--bits", 16, "--overwrite")
    assert Collection.open("c").encoder.n_bits == 16


def test_the_same_command_again_adds_what_is_new():
    options = [*LABELLED, "--label", "kind", "--keep-vectors", "int8"]
    learning = [
        "-m",
        "itq",
        "-b",
        8,
        "--random-state",
        3,
        "--set",
        "n_iter=2",
        "--sample",
        20,
    ]
    command = ["build", "c", "t.csv", *options, *learning]
    run(*command)
    before = Collection.open("c")
    answer = run(*command)
    assert "added 0 of 30 rows" in answer
    assert "fewbits upsert" in answer
    assert Collection.open("c").version == before.version
    write("t.csv", [*ROWS[31:33], *ROWS[5:15]])
    assert run(*command).startswith("c: added 2 of 12 rows: 10 are there already (")
    opened = Collection.open("c")
    assert opened.ids.tolist() == [*before.ids, "s31", "s32"]
    assert opened.encoder.fingerprint == before.encoder.fingerprint
    write("t.csv", ROWS[29:36])
    told = json.loads(run(*command, "--json"))
    assert [told[x] for x in ("added", "already_there", "n_items")] == [4, 3, 36]


def test_others_add_the_same_rows_meanwhile():
    run("build", "c", "t.csv", *LABELLED, "-b", 8)
    opened = Collection.open("c")
    items = tools.read_items(opened, "more.csv")
    write("some.csv", ROWS[32:35])
    run("add", "c", "some.csv")
    assert tools.add_missing(opened, items) == 7
    assert len(opened) == len(Collection.open("c")) == 40


@pytest.mark.parametrize(
    "options",
    [
        ["x.npy", "-m", "neighbours", "-b", 8, "--set", "n_iter=1"],
        ["t.csv", "--codes", "sku", "--id", "title"],
        ["x.npy", "--encoder", "long", "-b", 4, "--index", "flat"],
        ["pictures", "-m", "lsh", "-b", 8],
        ["t.csv", *LABELLED, "--backbone", "wordllama-256", "--index", "auto"],
    ],
)
def test_the_same_command_again_is_accepted(options):
    write("t.csv", [f"{i:04x},title {i},x,1,2" for i in range(9)])
    run("build", "long", "x.npy", "-b", 8)
    run("build", "c", *options)
    n = len(Collection.open("c"))
    has_ids = "--id" in options or "pictures" in options
    out = run("build", "c", *options)
    assert f"added 0 of {n}" in out if has_ids else f"{n} added" in out
    assert len(Collection.open("c")) == (n if has_ids else 2 * n)


def test_rows_of_two_first_builds_are_kept(monkeypatch):
    np.save("more.npy", np.load("x.npy")[:9])
    run("fit", "x.npy", "-o", "c", "-b", 8)
    read_items, others = tools.read_items, [["build", "c", "more.npy"]]

    def read_late(*args, **options):
        items = read_items(*args, **options)
        if others:
            run(*others.pop())  # another process is first
        return items

    monkeypatch.setattr(tools, "read_items", read_late)
    assert run("build", "c", "x.npy") == "c: 60 added; 69 items in all\n"
    run("fit", "x.npy", "-o", "c", "-b", 8, "--overwrite")
    others.append(["build", "c", "more.npy"])
    said = fail("build", "c", "x.npy", "--keep-vectors", "int8")
    assert "with keep_vectors=none, not int8" in said
    assert len(Collection.open("c")) == 9


def test_a_collection_that_came_meanwhile_is_not_replaced():
    X = np.load("x.npy")

    def another(done, total):
        Collection.create("c", X[:5], bits=8, overwrite=True)

    with pytest.raises(ArtefactError, match="holds a collection already"):
        Collection.create("c", X, bits=8, progress=another)
    assert len(Collection.open("c")) == 5


def test_a_schema_is_kept():
    text = pa.large_string()
    fields = {"sku": text, "title": text, "kind": text, "a": pa.float64()}
    schema = pa.schema([*fields.items(), ("b", pa.float32()), ("note", text)])
    run("fit", "t.csv", "--column", "title", "-o", "e", "-b", 8)
    Collection.create("c", schema=schema, encoder="e", id="sku")
    with pytest.warns(UserWarning, match="no column 'note'"):
        result = invoke("build", "c", "t.csv", *LABELLED)
    assert result.stdout.startswith("c: 30 items of 8 bits\nnext: ")
    opened = Collection.open("c")
    assert (len(opened), opened.schema) == (30, schema)


def test_learner_is_another_name_of_method():
    run("fit", "x.npy", "-o", "c", "--learner", "lsh", "-b", 8)
    run("build", "c", "x.npy", "--learner", "lsh")
    assert Collection.open("c").facts.method == "lsh"
    assert "--rerank" in fail("search", "c", "--ids", 1, "--shortlist", 5)


def test_the_encoder_of_another_collection():
    nested = ["-b", 16, "--set", "nested_bits=[8]", "--set", "n_iter=1"]
    run("build", "long", "x.npy", "-m", "neighbours", *nested)
    assert "nested_bits=" in " ".join(run("inspect", "long").split())
    out = run("build", "short", "x.npy", "--encoder", "long", "--bits", 8)
    assert out.startswith("short: 60 items of 8 bits\n")
    facts = json.loads(run("inspect", "short", "--json"))
    assert (facts["n_bits"], facts["prefix_of"], facts["n_items"]) == (8, 16, 60)
    long, short = Collection.open("long"), Collection.open("short")
    np.testing.assert_array_equal(long.codes[:, :1], short.codes)
    said = fail("build", "new", "x.npy", "--encoder", "long", "-m", "lsh")
    assert "--encoder leaves nothing to learn: leave out --learner" in said
    assert "between 1 and 16" in fail(
        "build", "new", "x.npy", "--encoder", "long", "-b", 99
    )


def test_codes_that_exist_already():
    Path("h.csv").write_text("path,hash\na,00ff\nb,00fe\nc,ff00\n")
    run("build", "h", "h.csv", "--codes", "hash", "--id", "path")
    (line,) = run("search", "h", "--codes", "00FF", "-k", 2, "--json").splitlines()
    hits = json.loads(line)["hits"]
    assert [(hit["id"], hit["distance"]) for hit in hits] == [("a", 0), ("b", 1)]
    same = run("search", "h", "-i", "h.csv", "--column", "hash", "-k", 1, "--json")
    assert [json.loads(x)["hits"][0]["id"] for x in same.splitlines()] == [*"abc"]
    assert "codes exist already: leave out --learner" in fail(
        "build", "new", "h.csv", "--codes", "hash", "-m", "lsh"
    )
    assert not Path("new").exists()


def test_images_of_a_table():
    Path("p.csv").write_text("file,name\npictures/0 .png,dark\npictures/2 .png,blue\n")
    run("build", "p", "p.csv", "--images", "file", "-m", "lsh", "-b", 64)
    out = run("search", "p", "pictures/2 .png", "-k", 1, "--columns", "name", "--json")
    assert json.loads(out)["hits"][0]["columns"] == {"name": "blue"}
    assert "there is no file 'a pizza'" in fail("search", "p", "a pizza")


def test_ids_are_asked_for_and_are_no_features():
    rows = [f"{i},{','.join(['0.5'] * 8)}" for i in range(9)]
    names = ",".join(f"x{i}" for i in range(8))
    Path("v.csv").write_text("\n".join([f"id,{names}", *rows]))
    result = invoke("build", "n", "v.csv", "--encoder", "n0")
    assert result.exit_code == 2
    run("fit", "x.npy", "-o", "b", "-b", 8)
    out = run("build", "n", "v.csv", "--id", "id", "--encoder", "b")
    assert run(*shlex.split(out.partition("next: fewbits ")[2]))
    with pytest.warns(UserWarning, match="id"):
        out = invoke("build", "m", "v.csv", "--encoder", "b").stdout
    assert "note: ids are row numbers; --id id takes yours" in out


def test_a_damaged_collection_is_built_again():
    run("build", "c", "x.npy", "-b", 8)
    for path in Path("c").glob("rows-*/*.json"):
        path.write_bytes(b"damaged")
    assert "damaged" in fail("build", "c", "x.npy")
    run("build", "c", "x.npy", "-b", 8, "--overwrite")
    assert len(Collection.open("c")) == 60


def test_the_next_command_is_quoted():
    Path("my texts.txt").write_text("a cat\na dog\nan ox\na bee")
    out = run("fit", "my texts.txt", "-o", "my c", "-b", 8)
    assert "next: fewbits build 'my c' 'my texts.txt'" in out


def test_json_is_one_document():
    for words in (["fit", "x.npy", "-o", "f"], ["build", "f", "x.npy"]):
        out = run(*words, "--json")
        assert out.count("\n") == 1
        assert json.loads(out)["n_bits"] == 64
    assert json.loads(run("build", "c", "x.npy", "--json"))["n_items"] == 60


def test_only_some_columns_and_rows_to_learn_from():
    options = ["--columns", "kind", "--sample", 20, "-b", 4]
    run("build", "c", "t.csv", *LABELLED, *options)
    opened = Collection.open("c")
    assert set(opened.columns) == {"title", "kind"}
    assert opened.facts.trained_on == 20
    assert len(opened) == 30
