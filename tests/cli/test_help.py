"""Help, versions, and options that are given twice."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from itertools import pairwise

import pytest
from typer.main import get_command

import fewbits
from fewbits import _kernels
from fewbits.cli import app
from fewbits.training import DEEP_METHODS, DEVICE_METHODS, METHODS
from tests.cli._calling import fail, invoke, run


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


COMMANDS = commands()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_no_lines_that_end_early(path):
    wide = run(*path, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    assert f"Example: fewbits {' '.join(path)}" in wide
    shown = run(*path, "--help", env={"COLUMNS": "60"})
    lines = [line.strip() for line in shown.partition("╭")[0].splitlines()]
    for line, following in pairwise(lines):
        if following and line and not line.startswith("Usage:"):
            assert len(f"{line} {following.split()[0]}") > 58


def test_help_of_learning_tells_every_method():
    out = run("fit", "--help", env={"COLUMNS": "1000", "TERM": "dumb"})
    told = out[out.index("-m ") : out.index("--backbone")]
    assert set(re.findall("[a-z-]+", told)) >= {*METHODS, *DEEP_METHODS}
    line = next(line for line in out.splitlines() if "--device" in line)
    assert set(re.findall("[a-z-]+", line)) >= {*DEVICE_METHODS}


def test_the_version_says_which_kernels_run():
    def version(**env):
        command = [sys.executable, "-m", "fewbits", "--version"]
        env = {**os.environ, **env}
        return subprocess.check_output(command, env=env, text=True)

    line = version(FEWBITS_KERNELS="reference")
    assert line.startswith(f"fewbits {fewbits.__version__} (slower NumPy kernels; Py")
    assert platform.machine() in line
    if _kernels.COMPILED:
        assert "(native kernels, portable;" in version(FEWBITS_ISA="portable")


@pytest.mark.parametrize(
    ("words", "closed", "status"),
    [
        ("fit - -o c", "<&-", 2),
        ("inspect none", "2>&-", 2),
        ("data list", "<&- >&- 2>&-", 0),
    ],
)
def test_closed_streams(tmp_path, words, closed, status):
    command = f"{shlex.quote(sys.executable)} -m fewbits {words} {closed}"
    ended = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stderr
    assert "Traceback" not in ended.stderr


def test_root():
    assert "'fewbits build" in run("--help").strip().splitlines()[2]
    out = run("--help", env={"COLUMNS": "200"})
    names = {path[0] for path in COMMANDS}
    assert all(name in out for name in [*names, "--show-completion"])
    assert "did you mean" in fail("serch").lower()


@pytest.mark.parametrize(("path", "command"), COMMANDS.items(), ids=str)
def test_an_option_given_twice(path, command):
    for option in command.params:
        if option.param_type_name != "option" or option.name == "help":
            continue
        once = [option.opts[0]] if option.is_flag else [option.opts[0], "1"]
        result = invoke(*path, *once, *once)
        name = max(option.opts, key=len)
        assert result.exit_code == 2
        if option.multiple:
            assert "is given twice" not in result.stderr
        else:
            told = f"fewbits: error: {name} is given twice (see 'fewbits"
            assert told in result.stderr.replace("root", "fewbits")
            assert result.stderr.count("\n") == 1


def test_a_flag_and_its_contrary():
    words = ["search", "b", "x", "--rerank", "--no-rerank"]
    assert "--rerank is given twice" in fail(*words)


def methods(*words, columns="200"):
    return run("methods", *words, env={"COLUMNS": columns})


def test_methods_are_listed():
    names = {*METHODS, *DEEP_METHODS, "packed"}
    assert {row["method"] for row in json.loads(methods("--json"))} == names
    header, *rows, _ = [x.split("\t") for x in methods(columns=None).splitlines()]
    assert header == ["method", "needs", "description"]
    assert {row[0] for row in rows} == names
    assert {len(row) for row in rows} == {3}
    assert max(map(len, methods(columns="60").splitlines())) <= 60


def test_settings_of_a_method():
    shown = methods("sp")
    assert shown.startswith("sp: Sparse projections (Xia et al., 2015). Learn one ")
    assert "float, default=0.1" in shown
    settings = json.loads(methods("hadamard", "--json"))["settings"]
    assert settings[0]["name"] == "n_rounds"
    assert methods("packed").endswith("packs them.\nit has no settings\n")
    assert "no method 'itqq' (did you mean 'itq'?)" in fail("methods", "itqq")
