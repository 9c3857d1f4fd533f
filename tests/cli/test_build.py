"""``fewbits build``: one command from a table to a collection."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fewbits.collection import Collection
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
    assert "'s30' already" in fail("build", "c", "more.csv", *LABELLED)
    opened = Collection.open("c")
    assert (len(opened), opened.label_column) == (40, "kind")
    assert opened.facts.novelty_radius is not None


def test_learning_happens_once():
    run("fit", "t.csv", "--column", "title", "-o", "c", "-m", "lsh", "-b", 8)
    for options in (["--bits", 16], ["-m", "itq"], ["--seed", 1], ["--encoder", "c"]):
        assert "has an encoder already: leave out --" in fail(
            "build", "c", "t.csv", *LABELLED, *options
        )
    run("build", "c", "t.csv", *LABELLED, "--keep-vectors", "int8", "--index", "flat")
    opened = Collection.open("c")
    assert (opened.facts.method, opened.facts.index) == ("lsh", "flat")
    assert opened.vector_form == "int8"
    said = fail("build", "c", "more.csv", *LABELLED, "--keep-vectors", "int8")
    assert "has rows already: leave out --keep-vectors" in said
    run("build", "c", "t.csv", *LABELLED, "--bits", 16, "--overwrite")
    assert Collection.open("c").encoder.n_bits == 16


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
    assert "--encoder leaves nothing to learn: leave out --method" in said
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
    assert "codes exist already: leave out --method" in fail(
        "build", "new", "h.csv", "--codes", "hash", "-m", "lsh"
    )
    assert not Path("new").exists()


def test_images_of_a_table():
    Path("p.csv").write_text("file,name\npictures/0 .png,dark\npictures/2 .png,blue\n")
    run("build", "p", "p.csv", "--images", "file", "-m", "lsh", "-b", 64)
    out = run("search", "p", "pictures/2 .png", "-k", 1, "--columns", "name", "--json")
    assert json.loads(out)["hits"][0]["columns"] == {"name": "blue"}
    assert "there is no file 'a pizza'" in fail("search", "p", "a pizza")


@pytest.mark.parametrize(
    ("data", "build"),
    [
        (["t.csv", "--column", "title"], "build n t.csv --column title"),
        (
            ["t.csv", *LABELLED, "--label", "kind"],
            "build n t.csv --column title --label kind --id sku",
        ),
        (["t.csv", "--column", "a", "--column", "b"], None),
        (["x.npy"], "build n x.npy"),
        (["pictures"], "build n pictures"),
    ],
)
def test_each_next_command_works_as_printed(data, build):
    out = run("fit", *data, "-b", 2, "-m", "lsh", "-o", "n")
    assert ("note: lsh learns without labels" in out) == ("--label" in data)
    command = shlex.split(out.partition("next: fewbits ")[2])
    assert build is None or command == build.split()
    out = run(*command)
    assert "note: ids" not in out
    assert run(*shlex.split(out.partition("next: fewbits ")[2]))


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
