"""The README's Python runs, and its commands exist."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from sklearn import datasets
from sklearn.datasets import load_digits
from typer.main import get_command
from typer.testing import CliRunner

from fewbits.cli import app
from fewbits.inputs import read

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_quickstart(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    _write_diagnoses(tmp_path / "diagnoses.csv")
    X, y = load_digits(return_X_y=True)
    half = X[::2], y[::2]  # for the sake of time
    monkeypatch.setattr(datasets, "load_digits", lambda *, return_X_y: half)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)
    share, *hits, found, chosen = capsys.readouterr().out.splitlines()
    assert len(hits) == 3
    assert all(hit.startswith("S4") for hit in hits)
    assert float(share) > 0.8
    assert json.loads(found).count(8) > 5
    assert re.fullmatch(r"{.lam.: 10+\.0}", chosen)
    assert (tmp_path / "digits.safetensors").exists()
    assert "fewbits classify digits-bundle picture.png" in README
    command = ["classify", "digits-bundle", "picture.png", "--json"]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0, answer.stderr
    assert json.loads(answer.stdout)["class"] == half[1][8]


def _write_diagnoses(path):
    """Write a tenth of what ``fewbits data export`` writes, for the sake of time."""
    result = CliRunner().invoke(app, ["data", "export", "icd10", str(path)])
    assert result.exit_code == 0, result.stderr
    header, *lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(header + "".join(lines[::10]), "utf-8")


def test_exported_diagnoses_have_ids_of_their_own(tmp_path):
    path = tmp_path / "diagnoses.csv"
    result = CliRunner().invoke(app, ["data", "export", "icd10", str(path)])
    n_items = len(read(path, column="text", id_column="id"))
    assert f"{n_items:,} diagnoses" in README
    assert f"{n_items:,} texts" in result.stdout


def test_a_table_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write_diagnoses(tmp_path / "diagnoses.csv")
    lines = re.findall(
        r"^    fewbits (.*(?:diagnoses|my-codes).*)$", README, re.MULTILINE
    )
    assert [line.split()[0] for line in lines] == ["data", "fit", "build", "search"]
    for line in lines[1:3]:
        result = CliRunner().invoke(app, shlex.split(line))
        assert result.exit_code == 0, result.stderr
    result = CliRunner().invoke(app, [*shlex.split(lines[3]), "--json"])
    hits = json.loads(result.stdout)["hits"]
    with open("diagnoses.csv", newline="", encoding="utf-8") as file:
        rows = {row.pop("id"): row for row in csv.DictReader(file)}
    assert len(hits) == 10
    for hit in hits:
        assert hit["columns"] == rows[hit["id"]]
        assert hit["columns"]["block"] == "S40-S49"


def test_commands_exist():
    named = set(re.findall(r"^ +(?:\.venv/bin/)?fewbits (\w+)", README, re.MULTILINE))
    known = {*get_command(app).commands}
    assert named
    assert named <= known


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
