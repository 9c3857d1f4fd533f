"""What commands print: JSON that is JSON, rows that are rows, whatever is in them."""

import base64
import json
import os
import random
import subprocess
import sys
import unicodedata
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from fewbits.collection import Collection
from tests.cli._calling import run

X = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)


def loads(text):
    """Read JSON as strictly as other programs do: NaN is none."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("q.npy", X[:20] + 0.01)
    Collection.create("b", X, bits=4)
    return tmp_path


def keep(**columns):
    """Make a collection with some columns, an item for each value."""
    n = len(next(iter(columns.values())))
    Collection.create("kept", X[:n], columns=columns, encoder="b")
    return [str(i) for i in range(n)]


def test_values_as_json():
    values = {
        "day": (pa.array([date(2020, 2, 29)]), "2020-02-29"),
        "moment": (
            pa.array([datetime(2020, 2, 29, 1, 2, 3, 4)]),
            "2020-02-29T01:02:03.000004",
        ),
        "zoned": (
            pa.array([datetime(2020, 2, 29, tzinfo=UTC)], pa.timestamp("us", "UTC")),
            "2020-02-29T00:00:00+00:00",
        ),
        "span": (pa.array([timedelta(seconds=-90)]), "-PT90S"),
        "long": (pa.array([timedelta(1, 1, 500)]), "PT86401.0005S"),
        "none": (pa.array([None], pa.int64()), None),
        "nan": (pa.array([float("nan")]), "NaN"),
        "endless": (pa.array([float("-inf")]), "-Infinity"),
        "single": (pa.array([0.5], pa.float32()), 0.5),
        "large": (pa.array([2**64 - 1], pa.uint64()), 2**64 - 1),
        "bytes": (pa.array([b"\xff\x00"]), base64.b64encode(b"\xff\x00").decode()),
        "money": (pa.array([Decimal("0.10")]), "0.10"),
        "list": (pa.array([[1.5, None]]), [1.5, None]),
        "struct": (pa.array([{"a": 1}]), {"a": 1}),
        "yes": (pa.array([True]), True),
    }
    keep(**{name: column for name, (column, _) in values.items()})
    columns = loads(run("get", "kept", 0, "--json"))["columns"]
    assert columns == {name: expected for name, (_, expected) in values.items()}


def test_cells_never_break_rows():
    drawn = random.Random(0)
    kinds = ["a", "é", "日", "\t", "\n", "\r\n", "\u2028", "\x1b[2J", "\x07", "\u202e"]
    texts = ["".join(drawn.choices(kinds, k=6)) for _ in range(300)]
    texts += ["\x1b[2J\x07\x9b\u202e", "a\r\nb\tc\u2028d", "naïve 日本 🙂"]
    ids = keep(first=texts, second=texts)
    text = run("get", "kept", *ids)
    header, *rows = text.removesuffix("\n").split("\n")
    assert header == "id\tfirst\tsecond"
    assert {row.count("\t") for row in rows} == {2}
    assert not {*map(unicodedata.category, text)} & {"Zl", "Zp", "Cs"}
    controls = {letter for letter in text if unicodedata.category(letter) == "Cc"}
    assert controls == {*"\t\n"}
    shown = [row.split("\t")[1] for row in rows[-3:]]
    assert shown == ["\\x1b[2J\\x07\\x9b\\u202e", "a b c d", "naïve 日本 🙂"]
    lines = run("get", "kept", *ids, "--json").removesuffix("\n").split("\n")
    assert [loads(line)["columns"]["first"] for line in lines] == texts


@pytest.mark.parametrize("columns", [1, 2, 5, 20, 40, 80])
def test_narrow_windows(columns):
    ids = keep(text=["a long text " * 9, "wordwithoutanyblanks" * 9])
    env = {"COLUMNS": str(columns)}
    for words in (["get", "kept", *ids], ["search", "b", "-i", "x.npy", "-k", "1"]):
        longest = max(map(len, run(*words, env=env).splitlines()))
        assert longest <= max(columns, 18)  # a frame around three columns


def test_sentences_are_wrapped():
    lines = run("recall", "b", "--vectors", "x.npy").splitlines()
    assert max(map(len, lines)) <= 80
    assert "held-out ones by --input" in " ".join(lines)


@pytest.mark.parametrize("columns", [60, 200])
def test_hits_of_many_columns_can_be_read(columns):
    names = [f"column {i}" for i in range(8)]
    keep(**{name: [f"the value of {name}"] for name in names})
    out = run("get", "kept", 0, env={"COLUMNS": str(columns)})
    assert all(len(line) <= columns for line in out.splitlines())
    hidden = [name for name in names if name not in out.partition("note:")[0]]
    if columns == 200:
        assert hidden == []
    else:
        assert hidden == names[len(names) - len(hidden) :]
        told = " ".join(out.partition("note:")[2].split())
        assert told == f"no room for {', '.join(hidden)}; --json prints all columns"
        assert len(hidden) < 7


@pytest.mark.parametrize(
    "words",
    [
        ["methods"],
        ["methods", "itq"],
        ["data", "list"],
        ["inspect", "b", "--bits"],
        ["search", "b", "-i", "x.npy", "-k", "2"],
        ["like", "b", "--good-ids", "1", "--good-ids", "2"],
        ["evaluate", "b", "q.npy", "x.npy"],
        ["compare", "x.npy", "-m", "lsh", "-b", "16"],
        ["encode", "b", "x.npy", "-o", "codes.npy"],
        ["recall", "b", "--vectors", "x.npy"],
        ["verify", "b"],
        ["compact", "b"],
    ],
    ids=" ".join,
)
def test_json_of_commands_is_valid(words):
    lines = run(*words, "--json").splitlines()
    assert lines
    for line in lines:
        loads(line)


#: As a shell starts it; once each, because Python takes a while to start.
START = [sys.executable, "-c", "from fewbits.cli import main; main()"]


def start(*words, **options):
    env = {**os.environ, **options.pop("env", {})}
    return subprocess.run([*START, *words], capture_output=True, env=env, **options)


def test_bytes_that_are_no_utf8(folder):
    """Typed as options and names of files."""
    found = start(b"search", b"b", b"-i", b"x.npy", b"--column", b"caf\xe9")
    assert found.returncode == 2
    assert found.stderr.startswith(b"fewbits: ")
    assert found.stderr.count(b"\n") == 1
    os.rename("x.npy", os.fsencode(folder) + b"/caf\xe9.npy")
    words = [b"encode", b"b", b"caf\xe9.npy", b"-o", b"out\xe9.npy", b"--json"]
    found = start(*words, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert found.returncode == 0, found.stderr
    assert loads(found.stdout.decode("ascii"))["codes"] == "out\udce9.npy"


@pytest.mark.parametrize("columns", [{}, {"COLUMNS": "80"}])
def test_a_reader_that_leaves_early(columns):
    """As `head` does: no error, and exit code 0."""
    words = ["search", "b", "-i", "q.npy", "-k", "300"]
    words += [] if columns else ["--json"]
    env = {**os.environ, **columns}
    with subprocess.Popen(
        [*START, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
