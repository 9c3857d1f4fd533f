"""``fewbits search --radius``, against distances counted by hand."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.encoders import LinearEncoder

X = np.random.default_rng(0).normal(size=(200, 12)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("range")
    encoder = LinearEncoder(np.eye(12), np.zeros(12))
    Bundle(encoder).with_items(X, columns={"n": range(200)}).save(folder / "b")
    np.save(folder / "q.npy", X[:40])
    return folder


def call(folder, *options):
    arguments = ["search", folder / "b", "-i", folder / "q.npy", *options]
    return CliRunner().invoke(app, [*map(str, arguments)])


def by_hand(query, radius):
    distances = ((X > 0) != (X[query] > 0)).sum(axis=1)
    order = np.argsort(distances, kind="stable")
    return [(int(i), int(distances[i])) for i in order if distances[i] <= radius]


@pytest.mark.parametrize("k", [None, 3])
def test_all_within_the_radius(folder, k):
    limit = [] if k is None else ["-k", k]
    lines = call(folder, "--radius", 4, "--json", *limit).stdout.splitlines()
    assert len(lines) == 40
    for query, line in enumerate(lines):
        told = json.loads(line)
        assert told["query"] == f"query {query}"
        hits = [(hit["id"], hit["distance"]) for hit in told["hits"]]
        assert hits == by_hand(query, 4)[:k]
        assert all(hit["columns"] == {"n": hit["id"]} for hit in told["hits"])


def test_a_condition(folder):
    found = call(folder, "-r", 12, "--filter", "n < 5", "--json").stdout.splitlines()
    assert all(len(json.loads(line)["hits"]) == 5 for line in found)


def test_a_table(folder):
    printed = call(folder, "-r", 0)
    assert "20 more queries" in " ".join(printed.stdout.split())
    assert "query 0\t0\t0\t0" in printed.stdout


@pytest.mark.parametrize(
    "option", [["--rerank"], ["--no-rerank"], ["--group-by", "n"], ["-k", "0"]]
)
def test_what_has_no_radius(folder, option):
    found = call(folder, "-r", 3, *option)
    assert found.exit_code == 2
    if "-k" not in option:
        assert "cannot be combined with --radius" in found.stderr
