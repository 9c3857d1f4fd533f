"""The README's Python runs, and its commands exist."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fewbits.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_quickstart(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    names = {}
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)
    share, found, chosen = capsys.readouterr().out.splitlines()
    assert float(share) > 0.8
    assert json.loads(found).count(8) > 5
    assert re.fullmatch(r"{.lam.: 10+\.0}", chosen)
    assert (tmp_path / "digits.safetensors").exists()
    assert "fewbits classify digits-bundle picture.png" in README
    command = ["classify", "digits-bundle", "picture.png", "--json"]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0, answer.stderr
    assert json.loads(answer.stdout)["class"] == 8


def test_commands_exist():
    named = set(re.findall(r"^ +(?:\.venv/bin/)?fewbits (\w+)", README, re.MULTILINE))
    known = {command.name for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    assert named
    assert named <= known


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
