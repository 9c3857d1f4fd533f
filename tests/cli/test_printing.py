"""What commands print: JSON that is JSON, rows that are rows, whatever is in them."""

import base64
import decimal
import json
import os
import subprocess
import sys
import unicodedata
from datetime import UTC, date, datetime, time, timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

from fewbits._json import to_json
from fewbits.cli import app
from fewbits.cli._options import typed_items
from fewbits.cli._printing import clean, print_hits, print_table, say
from fewbits.errors import ArgumentError


def loads(text):
    """Read JSON as strictly as other programs do: NaN is none."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2020, 2, 29), "2020-02-29"),
        (datetime(2020, 2, 29, 1, 2, 3, 4), "2020-02-29T01:02:03.000004"),
        (datetime(2020, 2, 29, tzinfo=UTC), "2020-02-29T00:00:00+00:00"),
        (time(1, 2, 3), "01:02:03"),
        (timedelta(days=1, seconds=1, microseconds=500), "PT86401.0005S"),
        (timedelta(seconds=-90), "-PT90S"),
        (np.datetime64("2020-02-29T01:02"), "2020-02-29T01:02"),
        (np.datetime64("NaT"), None),
        (np.timedelta64(1500, "ms"), "PT1.5S"),
        (pd.Timestamp("2020-02-29 01:02"), "2020-02-29T01:02:00"),
        (pd.NaT, None),
        (pd.NA, None),
        (pd.Timedelta("1s"), "PT1S"),
        (float("nan"), None),
        (float("-inf"), None),
        (np.float32("nan"), None),
        (np.float32(0.5), 0.5),
        (np.int64(2**60), 2**60),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (b"\xff\x00", base64.b64encode(b"\xff\x00").decode()),
        pytest.param(memoryview(b"ab"), "YWI=", id="memoryview"),
        (decimal.Decimal("0.10"), "0.10"),
        (decimal.Decimal("NaN"), None),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (np.array(["2020-01-01", "NaT"], "datetime64[D]"), ["2020-01-01", None]),
        (np.array([date(2020, 1, 1), b"a"], object), ["2020-01-01", "YQ=="]),
        (
            np.ma.masked_array([1.5, 2.5], mask=[True, False]).astype(object),
            [None, 2.5],
        ),
        (pa.scalar(datetime(2020, 1, 1)), "2020-01-01T00:00:00"),
        ({1: (1, {2})}, {"1": [1, [2]]}),
        (
            {date(2020, 1, 1): 1, None: 2, True: 3},
            {"2020-01-01": 1, "null": 2, "true": 3},
        ),
        (1 + 2j, "(1+2j)"),
        ("half \udcff", "half \udcff"),
    ],
    ids=repr,
)
def test_values_as_json(value, expected):
    found = to_json({"x": value})
    assert loads(found) == {"x": expected}
    found.encode()


def values():
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.binary()
        | st.dates()
        | st.datetimes()
        | st.times()
        | st.timedeltas()
        | st.decimals()
        | st.floats(width=32).map(np.float32)
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner)
        ),
        max_leaves=8,
    )


@given(values())
def test_anything_is_one_line_of_valid_json(value):
    text = to_json(value)
    loads(text)
    assert "\n" not in text
    loads(to_json(value, ascii_only=True).encode("ascii"))


@given(st.timedeltas(min_value=timedelta(-(10**6)), max_value=timedelta(10**6)))
def test_durations_keep_every_digit(value):
    text = loads(to_json(value))
    sign = -1 if text.startswith("-") else 1
    seconds = decimal.Decimal(text.lstrip("-").removeprefix("PT").removesuffix("S"))
    assert sign * seconds * 10**6 == value // timedelta(microseconds=1)


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_cells_never_break_rows(cells):
    text = captured(print_table, "", ["a", "b"], [cells, cells])
    header, *rows = text.removesuffix("\n").split("\n")
    assert header == "a\tb"
    assert [row.count("\t") for row in rows] == [1, 1]
    assert not {*map(unicodedata.category, text)} & {"Zl", "Zp", "Cs"}
    assert {each for each in text if unicodedata.category(each) == "Cc"} <= {*"\t\n"}


def captured(function, *arguments):
    from contextlib import redirect_stdout
    from io import StringIO

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as output:
        patch.delenv("COLUMNS", raising=False)
        function(*arguments)
    return output.getvalue()


def test_commands_to_terminals_are_shown_not_obeyed():
    assert clean("\x1b[2J\x07\x9b\u202e") == "\\x1b[2J\\x07\\x9b\\u202e"
    assert clean("a\r\nb\tc\u2028d") == "a b c d"
    assert clean("naïve 日本 🙂") == "naïve 日本 🙂"
    assert clean("\udcff") == "\\udcff"


@pytest.mark.parametrize("columns", [1, 2, 5, 20, 40, 80])
def test_narrow_windows(columns, monkeypatch):
    rows = [[1, "a long text " * 9, 0.5], [22, "wordwithoutanyblanks" * 9, 1.5]]
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        from contextlib import redirect_stdout
        from io import StringIO

        with redirect_stdout(StringIO()) as output:
            print_table("title", ["id", "text", "distance"], rows)
            say("a note of several words, " * 9)
    longest = max(map(len, output.getvalue().splitlines()))
    assert longest <= max(columns, 13)  # a frame around three columns


def test_sentences_are_wrapped():
    text = captured(say, "note: " + "some words " * 40)
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(text.split()) == "note: " + " ".join(["some words"] * 40)


def commands():
    """Every command with its options, as Click knows them."""
    found = {}

    def walk(command, path):
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, [*path, name])
        if not hasattr(command, "commands"):
            found[tuple(path)] = command

    walk(get_command(app), [])
    return found


def _given(parameter):
    if parameter.is_flag:
        return [parameter.opts[0]]
    return [parameter.opts[0], "1"]


@pytest.mark.parametrize(("path", "command"), commands().items())
def test_an_option_given_twice(path, command):
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            check_given_twice(path, parameter)


def check_given_twice(path, parameter):
    twice = [*path, *_given(parameter), *_given(parameter)]
    result = CliRunner().invoke(app, twice)
    name = max(parameter.opts, key=len)
    assert result.exit_code == 2
    told = f"fewbits: error: {name} is given twice (see 'fewbits"
    if parameter.multiple:
        assert "is given twice" not in result.stderr
    else:
        assert told in result.stderr.replace("root", "fewbits")
        assert result.stderr.count("\n") == 1


def test_a_flag_and_its_contrary():
    words = ["search", "b", "x", "--rerank", "--no-rerank"]
    assert "--rerank is given twice" in CliRunner().invoke(app, words).stderr


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printing")
    X = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)
    np.save(folder / "x.npy", X)
    np.save(folder / "q.npy", X[:20] + 0.01)
    for words in (
        ["fit", "x.npy", "-o", "b", "-b", "4"],
        ["build", "b", "x.npy"],
    ):
        run_in(folder, words)
    return folder


def run_in(folder, words):
    old = os.getcwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, words)
    finally:
        os.chdir(old)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["methods"],
        ["methods", "itq"],
        ["data", "list"],
        ["inspect", "b", "--bits"],
        ["search", "b", "-i", "x.npy", "-k", "2"],
        ["like", "b", "--id", "1", "--id", "2"],
        ["evaluate", "b", "q.npy", "x.npy"],
        ["compare", "x.npy", "-m", "lsh", "-b", "16"],
        ["encode", "b", "x.npy", "-o", "codes.npy"],
    ],
    ids=" ".join,
)
def test_json_of_commands_is_valid(bundle, words):
    lines = run_in(bundle, [*words, "--json"]).splitlines()
    assert lines
    for line in lines:
        loads(line)


#: As a shell starts it; once each, because Python takes a while to start.
START = [sys.executable, "-c", "from fewbits.cli import main; main()"]


def start(folder, *words, **options):
    env = {**os.environ, **options.pop("env", {})}
    env.pop("COLUMNS", None)
    return subprocess.run(
        [*START, *words], cwd=folder, capture_output=True, env=env, **options
    )


def test_zeros_and_ones_that_collapse_to_two_codes_are_told(tmp_path):
    np.save(tmp_path / "x.npy", np.repeat(np.eye(2, 8, dtype=np.float32), 60, axis=0))
    with pytest.warns() as told:
        run_in(tmp_path, ["fit", "x.npy", "-o", "b", "-b", "16"])
    said = " ".join(str(each.message) for each in told)
    assert "in one direction only" in said
    assert "100% of the items share their code" in said


def test_bytes_that_are_no_utf8(bundle):
    """Typed as texts, options and names of files."""
    for words in (
        [b"search", b"b", b"-i", b"caf\xe9.npy"],
        [b"search", b"b", b"-i", b"x.npy", b"--column", b"caf\xe9"],
    ):
        found = start(bundle, *words)
        assert found.returncode == 2
        assert found.stderr.startswith(b"fewbits: ")
        assert found.stderr.count(b"\n") == 1
    os.rename(bundle / "x.npy", os.fsencode(bundle) + b"/caf\xe9.npy")
    try:
        words = [b"encode", b"b", b"caf\xe9.npy", b"-o", b"out\xe9.npy", b"--json"]
        for encoding in ("ascii", "utf-8"):
            env = {"PYTHONIOENCODING": encoding, "LC_ALL": "C"}
            found = start(bundle, *words, env=env)
            assert found.returncode == 0, found.stderr
            assert loads(found.stdout.decode("ascii"))["codes"] == "out\udce9.npy"
    finally:
        os.rename(os.fsencode(bundle) + b"/caf\xe9.npy", bundle / "x.npy")


def test_texts_that_are_no_utf8():
    texts = SimpleNamespace(backbone="wordllama-256", item_kind="texts")
    for typed in (["fine", os.fsdecode(b"caf\xe9")], ["\ud800"]):
        with pytest.raises(ArgumentError, match=r"a text must be UTF-8, got .*\\ud"):
            typed_items(texts, "b", typed)
    assert typed_items(texts, "b", ["caf\xe9", "\N{CAT}"]) == ["caf\xe9", "\N{CAT}"]


@pytest.mark.parametrize("columns", [{}, {"COLUMNS": "80"}])
def test_a_reader_that_leaves_early(bundle, columns):
    """As `head` does: no error, and exit code 0."""
    words = ["search", "b", "-i", "q.npy", "-k", "2000"]
    words += [] if columns else ["--json"]
    env = {**{k: v for k, v in os.environ.items() if k != "COLUMNS"}, **columns}
    with subprocess.Popen(
        [*START, *words],
        cwd=bundle,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize("columns", [60, 200])
def test_hits_of_many_columns_can_be_read(monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    kept = {f"column {i}": f"the value of {i}" for i in range(8)}
    print_hits("", [{"id": 7, "distance": 3, "columns": kept}])
    out = capsys.readouterr().out
    assert all(len(line) <= columns for line in out.splitlines())
    hidden = [name for name in kept if name not in out.partition("note:")[0]]
    if columns == 200:
        assert hidden == []
    else:
        assert hidden == list(kept)[len(kept) - len(hidden) :]
        told = " ".join(out.partition("note:")[2].split())
        assert told == f"no room for {', '.join(hidden)}; --json prints all columns"
        assert len(hidden) < 7
