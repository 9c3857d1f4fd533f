"""The commands from fit to search, as people and programs use them."""

import errno
import json
import re
import shlex
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

import fewbits
from fewbits import datasets, engine
from fewbits.bundle import Bundle
from fewbits.cli import _progress, app
from fewbits.training import DEEP_METHODS, DEVICE_METHODS, METHODS

COMMANDS = ["demo", "fit", "encode", "build", "search", "like", "evaluate", "inspect"]
COMMANDS += ["compare", "duplicates", "export", "methods", "recall"]
TEXTS = ["a broken arm", "a cat [/b] asleep", "the bank of the river", "a shark"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_lines_that_end_early(command):
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "60"}).stdout
    lines = [line.strip() for line in shown.partition("╭")[0].splitlines()]
    for line, following in pairwise(lines):
        if following and not line.startswith("Usage:"):
            first_word = following.split()[0]
            assert not line or len(f"{line} {first_word}") > 58


def invoke(*arguments, **options):
    return CliRunner().invoke(app, [str(a) for a in arguments], **options)


def run(*arguments, **options):
    result = invoke(*arguments, **options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    np.save("x.npy", X)
    np.save("q.npy", X[:3])
    np.save("new.npy", X[:3] + 0.01)
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    return tmp_path


@pytest.fixture
def vectors(folder):
    run("fit", "x.npy", "-o", "b", "-b", 16)
    run("build", "b", "x.npy", "--keep-vectors", "float16")
    return "b"


@pytest.fixture
def texts(folder):
    run("fit", "t.txt", "-o", "t", "--bits", 32)
    run("build", "t", "t.txt")
    return "t"


def test_fit_goes_on_from_its_checkpoint(folder):
    class Killed(Exception):
        pass

    def kill(done, total, note):
        assert note.startswith("objective ")
        if done == 4:
            raise Killed

    @contextmanager
    def killing(label):
        yield kill

    options = ["fit", "x.npy", "-b", 16, "--set", "n_iter=9"]
    run(*options, "-o", "whole")
    options += ["--checkpoint", "fit.npz", "-o", "resumed"]
    with patch("fewbits.cli._fit.progress_bar", killing):
        result = CliRunner().invoke(app, [str(option) for option in options])
    assert isinstance(result.exception, Killed)
    assert (folder / "fit.npz").exists()
    run(*options)
    assert not (folder / "fit.npz").exists()
    whole, resumed = (Bundle.load(folder / name) for name in ("whole", "resumed"))
    assert whole.encoder.fingerprint == resumed.encoder.fingerprint
    assert whole.metadata == resumed.metadata


def test_only_codes_are_replaced_by_codes(vectors, folder):
    given = ["encode", vectors, "q.npy", "-o", "c.npy"]
    run(*given)
    run(*given)
    (folder / "empty.npy").touch()
    run(*given[:-1], "empty.npy")
    for name in ("x.npy", "damaged.npy"):
        kept = (folder / "x.npy").read_bytes()[: None if name == "x.npy" else 90]
        (folder / name).write_bytes(kept)
        result = CliRunner().invoke(app, [*given[:-1], name])
        told = f"fewbits: error: {name} exists and holds no codes; name another file\n"
        assert (result.exit_code, result.stderr) == (2, told)
        assert (folder / name).read_bytes() == kept


def test_progress_is_told_now_and_then_where_there_is_no_terminal(folder, monkeypatch):
    options = ["fit", "x.npy", "-b", "16", "--set", "n_iter=3"]
    assert CliRunner().invoke(app, [*options, "-o", "quiet"]).stderr == ""
    monkeypatch.setattr(_progress, "PAUSE", 0.0)
    told = CliRunner().invoke(app, [*options, "-o", "b"]).stderr.splitlines()
    for done, line in enumerate(told, 1):
        assert line.startswith("fewbits: learning, objective ")
        assert line.endswith(f": {done} of 3")
    assert len(told) == 3


def test_fit_that_cannot_be_saved_goes_on_from_its_checkpoint(folder):
    options = ["fit", "x.npy", "-b", "16", "--checkpoint", "fit.npz", "-o", "b"]
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch.object(Bundle, "save", side_effect=full):
        result = CliRunner().invoke(app, options)
    assert result.exit_code == 2
    assert (folder / "fit.npz").exists()
    run(*options)
    assert not (folder / "fit.npz").exists()


def test_fit_on_a_device(folder):
    run("fit", "x.npy", "-b", 16, "-o", "numpy")
    run("fit", "x.npy", "-b", 16, "-o", "torch", "--device", "cpu")
    numpy, torch = (Bundle.load(folder / name).encoder for name in ("numpy", "torch"))
    np.testing.assert_allclose(torch.weights, numpy.weights, rtol=1e-4, atol=1e-6)


def test_vectors(vectors):
    lines = run("search", vectors, "-i", "q.npy", "-k", 2, "--json").splitlines()
    assert [json.loads(line)["hits"][0]["id"] for line in lines] == [0, 1, 2]
    lines = run("search", vectors, "-i", "q.npy", "-k", 2).splitlines()
    named = [line.split("\t")[0] for line in lines]
    assert named == ["query", *np.repeat(["query 0", "query 1", "query 2"], 2)]
    many = run("search", vectors, "-i", "x.npy", "-k", 1)
    assert "query 19" in many
    assert "query 20" not in many
    assert many.endswith("note: 40 more queries; --json prints the results of all\n")
    assert "recall@5" in run("evaluate", vectors, "new.npy", "x.npy", "-k", 5)
    report = json.loads(run("evaluate", vectors, "new.npy", "x.npy", "--json"))
    assert report["n_queries"] == 3
    run("encode", vectors, "x.npy", "-o", "codes.npy")
    assert np.load("codes.npy").shape == (60, 2)


def test_texts(texts):
    out = run("search", texts, "broken arm", "shark", "-k", 1)
    assert TEXTS[0] in out
    assert TEXTS[3] in out
    assert TEXTS[1] in run("search", texts, "cat", "-k", 1)
    many = run("search", texts, "-i", "-", "-k", 10**9, "--json", input="cat\narm\n")
    assert [len(json.loads(line)["hits"]) for line in many.splitlines()] == [4, 4]


def test_overwrite(vectors):
    run("fit", "x.npy", "-o", "b", "-b", 8, "--overwrite")
    assert json.loads(run("inspect", "b", "--json"))["n_bits"] == 8


def test_a_damaged_collection_can_be_built_again(vectors, folder):
    next((folder / "b").glob("items-*/manifest-*")).write_bytes(b"damaged")
    run("build", "b", "x.npy", "--overwrite")
    assert "every file matches" in run("inspect", "b")


def test_out_of_distribution_queries_are_marked(folder):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 16)) * 5, 10, axis=0) + rng.normal(size=(60, 16))
    np.savez("known.npz", x=X, y=np.repeat(list("abcdef"), 10))
    np.save("queries.npy", np.stack([X[0], -X.mean(axis=0) * 50]))
    chosen = ["known.npz", "--column", "x", "--labels", "y"]
    run("fit", *chosen, "-o", "k", "-b", 64)
    assert "novelty radius" in run("build", "k", *chosen) + run("inspect", "k")
    lines = run("search", "k", "-i", "queries.npy", "--json").splitlines()
    assert json.loads(lines[0])["out_of_distribution"] is False
    assert "out_of_distribution" in json.loads(lines[1])
    narrow = ["--filter", "bit(0) = 1", "--json"]
    out = run("search", "k", "-i", "queries.npy", *narrow)
    assert "out_of_distribution" not in json.loads(out.splitlines()[0])


@pytest.mark.filterwarnings("ignore:60 of 60 queries are equal to an item")
def test_several_labels_for_each_item(folder):
    rng = np.random.default_rng(0)
    np.savez("several.npz", x=np.load("x.npy"), y=rng.random((60, 3)) < 0.5)
    chosen = ["several.npz", "--column", "x", "--labels", "y"]
    run("fit", *chosen, "-m", "cca-itq", "-o", "s", "-b", 8)
    run("build", "s", *chosen)
    out = run("evaluate", "s", "several.npz", *chosen)
    assert "mean average precision over labels" in out
    assert "votes" not in out
    asked = ["inspect", "s", "--bound", "--bits", "--labels", "label", "--json"]
    assert json.loads(run(*asked))["bound"]["n_classes"] == 3


def test_nested_codes_are_shortened(folder):
    nested = ["-b", 16, "--set", "nested_bits=[8]", "--set", "n_iter=1"]
    run("fit", "x.npy", "-m", "neighbours", *nested, "-o", "long")
    shown = run("inspect", "long")
    assert "nested_bits=(8,)" in " ".join(shown.split())
    out = run("build", "long", "x.npy", "--bits", 8, "-o", "short")
    assert "short: 60 items of 8 bits" in out
    assert "fewbits search short" in out
    facts = json.loads(run("inspect", "short", "--json"))
    assert (facts["n_bits"], facts["prefix_of"], facts["n_items"]) == (8, 16, 60)
    assert json.loads(run("inspect", "long", "--json"))["n_items"] == 0


def test_labels_of_queries_in_a_file_of_their_own(vectors):
    np.save("q-labels.npy", np.arange(3) % 2)
    np.save("x-labels.npy", np.arange(60) % 2)
    asked = ["evaluate", vectors, "new.npy", "x.npy", "--labels", "x-labels.npy"]
    out = run(*asked, "--query-labels", "q-labels.npy", "-k", 3)
    assert "k-NN accuracy (k = 3)" in out


def test_the_next_command_is_quoted(folder):
    Path("my texts.txt").write_text("\n".join(TEXTS))
    out = run("fit", "my texts.txt", "-o", "my b", "-b", 8)
    assert "next: fewbits build 'my b' 'my texts.txt'" in out


@pytest.mark.parametrize(
    ("given", "build"),
    [
        (["t.csv", "--column", "title"], "build n t.csv --column title --id Id"),
        (
            ["t.csv", "--column", "title", "--id", "sku", "--labels", "kind"],
            "build n t.csv --column title --labels kind --id sku",
        ),
        (["t.csv", "--column", "a", "--column", "b"], None),
        (["x.npy"], "build n x.npy"),
        (["pictures"], "build n pictures"),
    ],
)
def test_each_next_command_works_as_printed(folder, given, build, monkeypatch):
    monkeypatch.setenv("FEWBITS_CACHE", str(folder / "cache"))
    rows = [f"{i},s{i},a text {i},{'xyz'[i % 3]},{i / 7},{i * i}" for i in range(40)]
    (folder / "t.csv").write_text("\n".join(["Id,sku,title,kind,a,b", *rows]))
    (folder / "pictures").mkdir()
    for i in range(3):
        Image.new("RGB", (9, 9), (i, 9, 80 * i)).save(folder / f"pictures/{i} .png")
    out = run("fit", *given, "-b", 2, "-m", "lsh", "-o", "n")
    assert ("note: lsh learns without labels" in out) == ("--labels" in given)
    command = shlex.split(out.partition("next: fewbits ")[2])
    assert build is None or command == build.split()
    out = run(*command)
    assert "note: ids" not in out
    assert run(*shlex.split(out.partition("next: fewbits ")[2]))
    if given[0] == "t.csv":
        at = command.index("--id")
        out = run(*command[:at], *command[at + 2 :], "--overwrite")
        assert "note: ids are row numbers; --id Id takes yours" in out


def test_the_next_search_takes_no_ids_for_features(vectors, folder):
    rows = [f"{i},{','.join(['0.5'] * 8)}" for i in range(9)]
    names = ",".join(f"x{i}" for i in range(8))
    (folder / "t.csv").write_text("\n".join([f"sku,{names}", *rows]))
    out = run("build", vectors, "t.csv", "--id", "sku", "-o", "n")
    assert run(*shlex.split(out.partition("next: fewbits ")[2]))


def test_novel(vectors, texts):
    found = json.loads(run("like", vectors, "--id", 3, "--id", 4, "-k", 5, "--json"))
    scores = [hit["score"] for hit in found["hits"]]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert not {3, 4} & {hit["id"] for hit in found["hits"]}
    assert "score" in run("like", vectors, "-i", "q.npy", "--not-id", 50)
    sides = [
        json.loads(run("like", vectors, "--id", 3, "--filter", f"bit(0)={v}", "--json"))
        for v in (0, 1)
    ]
    ids = [{hit["id"] for hit in side["hits"]} for side in sides]
    assert ids[0]
    assert ids[1]
    assert not ids[0] & ids[1]
    out = run("like", texts, "a broken leg", "--not", "a cat", "-k", 2)
    assert TEXTS[0] in out


def test_novel_leaves_examples_out(folder, texts):
    found = json.loads(run("like", texts, TEXTS[3], "-k", 3, "--json"))
    assert {hit["columns"]["text"] for hit in found["hits"]} == {*TEXTS[:3]}
    (folder / "given.txt").write_text(TEXTS[3])
    options = ["-i", "given.txt", "--not", TEXTS[0], "--json"]
    found = json.loads(run("like", texts, *options))
    assert {hit["columns"]["text"] for hit in found["hits"]} == {*TEXTS[1:3]}


def test_text_that_is_the_name_of_a_file(texts):
    arguments = ["like", texts, "t.txt", "--not", TEXTS[1], "--json"]
    result = CliRunner().invoke(app, arguments)
    assert (
        result.stderr
        == "note: 't.txt' is taken as a text; to read the file, use --input\n"
    )
    assert json.loads(result.stdout)["hits"]


def test_novel_says_when_nothing_fits(folder):
    rng = np.random.default_rng(0)
    two, alone = np.repeat(rng.normal(size=(2, 8)), 40, axis=0), rng.normal(size=(1, 8))
    X = np.r_[two + 0.01 * rng.normal(size=two.shape), alone]
    np.save("x.npy", X.astype(np.float32))
    run("fit", "x.npy", "-o", "b", "-m", "lsh", "-b", 64)
    run("build", "b", "x.npy")
    said = "note: every score is negative"
    few = partial(engine.LikeRequest, n_random=5)
    with patch("fewbits.engine.LikeRequest", few):
        assert said in run("like", "b", "--id", 80, "--not-id", 0, "--not-id", 40)
        assert said not in run("like", "b", "--id", 0, "--id", 1)
    assert said not in run("like", "b", "--id", 80, "--not-id", 0, "--not-id", 40)


def test_table(folder):
    table = {"title": TEXTS * 3, "kind": ["body", "animal", "place", "animal"] * 3}
    pq.write_table(pa.table(table), "t.parquet")
    chosen = ["t.parquet", "--column", "title"]
    run("fit", *chosen, "--labels", "kind", "-m", "cca-itq", "-b", 8, "-o", "t")
    run("build", "t", *chosen)
    assert TEXTS[0] in run("search", "t", "broken arm", "-k", 1)
    assert json.loads(run("inspect", "t", "--json"))["n_bits"] == 8
    Path("asked.csv").write_text("who,title\nme,a broken arm\n")
    assert run("search", "t", "-i", "asked.csv").startswith("# a broken arm\n")
    Path("asked.csv").write_text("question\na broken arm\n")
    assert run("search", "t", "-i", "asked.csv").startswith("# a broken arm\n")


def test_images(folder, monkeypatch):
    monkeypatch.setenv("FEWBITS_CACHE", str(folder / "cache"))
    (folder / "pictures").mkdir()
    rng = np.random.default_rng(0)
    for name, mean in (("dark", 20), ("grey", 120), ("light", 230)):
        pixels = rng.integers(mean - 20, mean + 20, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "pictures" / f"{name}.png")
    run("fit", "pictures", "-o", "p", "-m", "lsh", "-b", 64)
    run("build", "p", "pictures")
    lines = run("search", "p", "-i", "pictures", "-k", 1, "--json").splitlines()
    assert [json.loads(line)["hits"][0]["distance"] for line in lines] == [0, 0, 0]
    assert "light.png" in lines[2]
    given = ["like", "p", "./pictures/dark.png", "--json"]
    hits = json.loads(run(*given))["hits"]
    assert sorted(hit["id"] for hit in hits) == [1, 2]
    told = CliRunner().invoke(app, ["search", "p", "a pizza"]).stderr
    assert told == "fewbits: error: there is no file 'a pizza'\n"
    assert len(list((folder / "cache").glob("efficientnet-lite0-128-*/*.npy"))) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "x.npy", "-o", "new"),
        ("build", "b", "x.npy", "--overwrite"),
        ("encode", "b", "x.npy", "-o", "c.npy"),
        ("inspect", "b"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_is_one_document(vectors, arguments):
    out = run(*arguments, "--json")
    assert out.count("\n") == 1
    assert isinstance(json.loads(out), dict)


def test_inspect(vectors):
    out = run("inspect", vectors)
    assert "every file matches" in out
    assert "None" not in out


def test_inspect_bits(vectors, texts):
    report = json.loads(run("inspect", vectors, "--bits", "--json"))["bits"]
    assert report["n_codes"] == 60
    assert "note: " in run("inspect", texts, "--bits")
    run("inspect", texts, "--attributes", "bits.html")
    assert "the bank of the river" in Path("bits.html").read_text("utf-8")
    run("inspect", texts, "--attributes", "bits.html", "--groups", "text")
    assert "Classes count, not items" in Path("bits.html").read_text("utf-8")
    run("inspect", vectors, "--attributes", "vectors.html", "--show", 12, "--show", 4)
    page = Path("vectors.html").read_text("utf-8")
    assert re.findall(r'id="bit-(\d+)"', page) == ["12", "4"]


def test_inspect_names_and_classes(folder):
    """Names given by hand stand on the page, and what sets each class apart."""
    X = np.load("x.npy")
    np.savez("kinds.npz", x=X, kind=np.where(X[:, 0] > 0, "warm", "cold"))
    source = ["kinds.npz", "--column", "x", "--labels", "kind"]
    run("fit", *source, "-o", "b", "-b", 16)
    run("build", "b", *source, "--keep-vectors", "float16")
    Path("names.json").write_text('{"3": ["left", "right"], "5": [null, "up"]}')
    options = [
        "--attributes",
        "bits.html",
        "--labels",
        "label",
        "--names",
        "names.json",
    ]
    run("inspect", "b", *options)
    page = Path("bits.html").read_text("utf-8")
    assert "<bdi>right</bdi>" in page
    apart = page[page.index("<h2>What sets classes apart") :]
    assert apart.index("<bdi>cold</bdi>") < apart.index("<h2>Bit by bit")
    telling = re.search(r"= [01](?: <bdi>\w+</bdi>)? \((\d+)% / (\d+)%\)", apart)
    assert int(telling[1]) > int(telling[2])


def test_search_by_attribute(vectors):
    out = run(
        "search", vectors, "-i", "q.npy", "-k", 60, "--filter", "bit(3) = 1", "--json"
    )
    found = [hit["id"] for hit in json.loads(out.splitlines()[0])["hits"]]
    run("encode", vectors, "x.npy", "-o", "codes.npy")
    bits = np.unpackbits(np.load("codes.npy"), axis=1)
    assert sorted(found) == np.flatnonzero(bits[:, 3]).tolist()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name):
    out = run(name, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    assert f"Example: fewbits {name}" in out


def test_help_of_fit_tells_what_a_device_is_for():
    out = run("fit", "--help", env={"COLUMNS": "1000", "TERM": "dumb"})
    line = next(line for line in out.splitlines() if "--device" in line)
    assert set(re.findall("[a-z-]+", line)) >= {*DEVICE_METHODS}


def test_help_of_fit_tells_every_method():
    out = run("fit", "--help", env={"COLUMNS": "1000", "TERM": "dumb"})
    told = out[out.index("-m ") : out.index("--backbone")]
    assert set(re.findall("[a-z-]+", told)) >= {*METHODS, *DEEP_METHODS}


def test_root():
    assert run("--version") == f"{fewbits.__version__}\n"
    out = run("--help", env={"COLUMNS": "200"})
    assert all(name in out for name in [*COMMANDS, "data", "--show-completion"])
    assert "--install-completion" in out


def test_data_list(monkeypatch):
    class Row:
        def __init__(self):
            self.name, self.kind, self.size = "glove", "vectors", "1 MB"
            self.licence, self.present, self.how = "MIT", False, "fewbits data get"

    monkeypatch.setattr(datasets, "available", lambda: [Row()], raising=False)
    assert "glove" in run("data", "list")
    assert json.loads(run("data", "list", "--json"))[0]["name"] == "glove"


def test_data_export(folder):
    out = run("data", "export", "digits", "digits.npz")
    assert "digits.npz: 1,797 vectors, with labels class" in out
    command = out.splitlines()[1].removeprefix("next: fewbits ")
    assert command == "fit digits.npz --column vector -o my-codes"
    run(*command.split(), "-b", 8)
    out = run("data", "export", "digits", "v.npy")
    assert "next: fewbits fit v.npy -o my-codes" in out
    assert "note: a .npz file would hold the labels too (class)" in out


def test_data_export_of_queries_that_evaluate_finds_new(folder):
    out = run("data", "export", "digits", "v.npy", "--queries", "a.npy")
    assert out.splitlines()[:2] == ["v.npy: 1,618 vectors", "a.npy: 179 vectors"]
    run("fit", "v.npy", "-b", 8, "-o", "new")
    run("evaluate", "new", "a.npy", "v.npy")
    said = "1,618 of 1,618 queries are equal to an item"
    with pytest.warns(UserWarning, match=said):
        invoke("evaluate", "new", "v.npy", "v.npy")
    twice = invoke("data", "export", "digits", "w.npy", "--queries", "w.npy")
    assert twice.exit_code == 2
    assert "need two files" in twice.stderr
    (folder / "sub").mkdir()
    twice = invoke("data", "export", "digits", "w.npy", "--queries", "sub/../w.npy")
    assert twice.exit_code == 2
    asked = invoke("data", "export", "digits", "w.npy", "--queries", "q.npy")
    assert asked.exit_code == 2
    assert not (folder / "w.npy").exists()


def test_data_export_replaces_no_file_unasked(folder):
    precious = folder / "mine.npy"
    precious.write_text("mine")
    asked = ["data", "export", "digits", "mine.npy"]
    assert CliRunner().invoke(app, asked).exit_code == 2
    assert precious.read_text() == "mine"
    run("data", "export", "digits", "mine.npy", "--overwrite")
    assert np.load(precious).shape == (1797, 64)
