"""Damage of a collection is named, repaired, and told by the exit status."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.encoders import LinearEncoder

X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    Bundle(LinearEncoder(np.eye(8), np.zeros(8))).with_items(X).save(tmp_path / "b")
    return tmp_path / "b"


def call(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    return result.exit_code, result.stdout


def damage(folder):
    (path,) = folder.glob("items-*/seg-*.arrow")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.name


def test_intact(folder):
    status, printed = call("verify", folder)
    assert (status, printed.split(" in ")[0]) == (0, "40 rows")
    assert call("verify", folder, "--repair")[0] == 0


def test_damage_is_named_and_repaired(folder):
    name = damage(folder)
    status, printed = call("verify", folder)
    assert status == 1
    assert name in printed
    assert json.loads(call("verify", folder, "--json")[1])["damages"]
    status, printed = call("verify", folder, "--repair", "--json")
    lost = json.loads(printed)["n_lost"]
    assert status == (1 if lost else 0)
    assert lost + len(Bundle.load(folder).collection) == 40
    assert call("verify", folder)[0] == 0
