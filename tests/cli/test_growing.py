"""Counts and bytes that the commands about a growing collection tell."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app


def run(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def size(folder):
    """Return the bytes of the files of a collection, without its empty lock."""
    [items] = folder.glob("items-*")
    return sum(path.stat().st_size for path in items.iterdir())


@pytest.fixture
def shop(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 8)).astype("float32")
    np.save(tmp_path / "x.npy", X)
    bundle = tmp_path / "shop"
    run("fit", tmp_path / "x.npy", "-o", bundle, "-b", 16)
    run("build", bundle, tmp_path / "x.npy", "--keep-vectors", "float32")
    return bundle


def test_compact_tells_the_bytes_that_are_left(shop):
    run("delete", shop, *(f"--id={row}" for row in range(100)))
    before = size(shop)
    told = json.loads(run("compact", shop, "--json"))
    assert told["bytes_before"] == before
    assert told["bytes"] == size(shop) < before


def test_an_id_given_twice_is_one_item(shop):
    told = run("delete", shop, "--id", 7, "--id", 7)
    assert told == f"{shop}: 1 deleted; 399 items in all\n"
    ids = [f"--id={row}" for row in range(399) if row != 7]
    assert run("delete", shop, *ids).endswith(" 398 deleted; 1 item in all\n")


def test_a_column_beside_the_ids_gives_no_ids(tmp_path):
    with open(tmp_path / "t.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sku", "a", "b"])
        rows.writerows([f"s{row}", row, row**2 % 7] for row in range(20))
    columns = ["--column", "a", "--column", "b"]
    bundle = tmp_path / "b"
    run("fit", tmp_path / "t.csv", *columns, "-o", bundle, "-b", 8)
    run("build", bundle, tmp_path / "t.csv", *columns)
    command = ["add", bundle, tmp_path / "t.csv", *columns, "--id", "sku"]
    result = CliRunner().invoke(app, [str(each) for each in command])
    assert "column 'sku' cannot give the ids" in result.stderr


KINDS = {"n": "1", "x": "1.5", "sold": "true", "day": "2024-01-01", "word": "a"}


@pytest.mark.parametrize("change", ["add", "upsert"])
def test_cells_that_are_blank_in_all_rows_are_null(tmp_path, change):
    header = ",".join(["id", "text", *KINDS])
    rows = [",".join([str(i), f"text {i}", *KINDS.values()]) for i in range(50)]
    (tmp_path / "all.csv").write_text("\n".join([header, *rows]))
    (tmp_path / "one.csv").write_text(f"{header}\n70,more{',' * len(KINDS)}\n")
    bundle = tmp_path / "b"
    run("fit", tmp_path / "all.csv", "--column", "text", "-o", bundle, "-b", 8)
    run("build", bundle, tmp_path / "all.csv", "--column", "text", "--id", "id")
    run(change, bundle, tmp_path / "one.csv")
    collection = Bundle.load(bundle).collection
    assert collection.row(70) == {"text": "more", **dict.fromkeys(KINDS)}
    kinds = [str(each) for each in collection.schema.types[-len(KINDS) :]]
    assert kinds == ["int64", "double", "bool", "date32[day]", "large_string"]
