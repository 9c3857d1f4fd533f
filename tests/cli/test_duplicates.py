"""``fewbits duplicates`` as people and programs use it."""

import json

import numpy as np
import pytest

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from tests.cli._calling import fail
from tests.cli._calling import run as run_command

N = 60
X = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
X[30:] = X[:30]
KINDS = ["red", "green", "blue"] * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duplicates")
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    options = {"columns": {"kind": KINDS}, "keep_vectors": "float32"}
    Collection.create(folder / "b", X, encoder=encoder, **options)
    Collection.create(folder / "plain", X, encoder=encoder)
    return folder


def run(*words):
    return run_command("duplicates", *words)


def test_programs_get_all_groups_and_pairs(folder):
    asked = folder / "b", "--radius", "0", "--json"
    groups = [json.loads(line)["items"] for line in run(*asked).splitlines()]
    pairs = [json.loads(line) for line in run(*asked, "--pairs").splitlines()]
    expected = [[i, i + 30] for i in range(30)]
    assert pairs == [{"ids": ids, "distance": 0} for ids in expected]
    assert [[hit["id"] for hit in group] for group in groups] == expected
    assert groups[4][1] == {
        "id": 34,
        "distance": 0,
        "columns": {"kind": "green"},
    }


def test_people_see_the_first_groups(folder):
    shown = run(folder / "b", "-r", "0")
    assert shown.count("# group") == 20
    assert "30 groups, 30 pairs; 30 items to remove" in shown
    assert "the first 20 groups are shown" in shown
    pairs = run(folder / "b", "-r", "0", "--pairs").splitlines()
    assert pairs[:2] == ["first\tsecond\tdistance", "0\t30\t0"]
    assert (pairs[20], pairs[21]) == ("19\t49\t0", "30 pairs")
    few = run(folder / "b", "-r", "0", "--filter", "kind = 'red' and bit(0) = 1")
    assert "are shown" not in few


def test_vectors_confirm(folder):
    options = ["-r", "16", "--max-vector-distance", "0", "--pairs", "--json"]
    found = [json.loads(line) for line in run(folder / "b", *options).splitlines()]
    assert [pair["ids"] for pair in found] == [[i, i + 30] for i in range(30)]
    assert {pair["vector_distance"] for pair in found} == {0.0}


def test_nothing_found(folder):
    shown = run(folder / "b", "-r", "0", "--filter", "kind = 'none'")
    assert shown.startswith("0 groups, 0 pairs; 0 items to remove")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("b", ["-r", "-1"], "radius must be at least 0, got -1"),
        ("b", ["-r", "1", "--filter", "colour = 1"], "colour"),
        ("plain", ["-r", "1", "--max-vector-distance", "1"], "keeps no vectors"),
        ("none", ["-r", "1"], "is not a collection"),
    ],
)
def test_mistakes(folder, name, options, message):
    assert message in fail("duplicates", folder / name, *options)


def test_the_radius_has_to_be_given(folder):
    assert "--radius" in fail("duplicates", folder / "b")
