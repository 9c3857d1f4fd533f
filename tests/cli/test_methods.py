"""``fewbits methods``."""

import json

from typer.testing import CliRunner

from fewbits.cli import app
from fewbits.training import DEEP_METHODS, METHODS


def run(*arguments):
    result = CliRunner().invoke(app, ["methods", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_all_are_listed():
    shown = run()
    found = json.loads(run("--json"))
    assert {each["method"] for each in found} == {*METHODS, *DEEP_METHODS, "packed"}
    assert all(f" {each['method']} " in shown for each in found)


def test_no_row_breaks_where_another_command_reads_it():
    plain = CliRunner().invoke(app, ["methods"], env={"COLUMNS": None}).stdout
    header, *rows, _ = [line.split("\t") for line in plain.splitlines()]
    assert header == ["method", "needs", "description"]
    assert {row[0] for row in rows} == {*METHODS, *DEEP_METHODS, "packed"}
    assert {len(row) for row in rows} == {3}
    table = CliRunner().invoke(app, ["methods"], env={"COLUMNS": "60"}).stdout
    assert max(map(len, table.splitlines())) <= 60


def test_what_can_be_set_is_shown():
    shown = run("sp")
    assert shown.startswith("sp: Sparse projections (Xia et al., 2015). Learn one ")
    assert "density" in shown
    assert "float, default=0.1" in shown
    assert json.loads(run("hadamard", "--json"))["settings"][0]["name"] == "n_rounds"


def test_packed_codes_have_no_settings():
    assert run("packed").endswith("packs them.\nit has no settings\n")


def test_a_name_that_is_not_known():
    result = CliRunner().invoke(app, ["methods", "itqq"])
    assert result.exit_code == 2
    assert "no method 'itqq' (did you mean 'itq'?)" in result.stderr
    assert result.stderr.count("\n") == 1
