"""``fewbits add``, ``upsert``, ``delete`` and ``compact`` as people use them."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.collection import Collection
from fewbits.cli import app
from fewbits.encoders import LinearEncoder, PackedEncoder

X = np.random.default_rng(0).normal(size=(40, 2)).round(3)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def write(path, rows, year=0):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "x", "y", "year"])
        writer.writerows([f"s{row}", *X[row], row + year] for row in rows)
    return path


@pytest.fixture
def built(tmp_path):
    Bundle(LinearEncoder(np.eye(2), np.zeros(2))).save(tmp_path / "b")
    options = ["--column", "x", "--column", "y", "--id", "sku"]
    run("build", tmp_path / "b", write(tmp_path / "a.csv", range(20)), *options)
    return tmp_path / "b"


def test_delete_by_a_file_of_ids(built, tmp_path):
    gone = ["s3", "s1", "s3", "s99"]
    (tmp_path / "ids.txt").write_text("\n".join(gone) + "\n\n")
    told = run("delete", built, "--ids", tmp_path / "ids.txt")
    assert told == f"{built}: 2 deleted, 1 not there; 18 items in all\n"
    found = json.loads(
        run("delete", built, "--ids", write(tmp_path / "c.csv", [1, 5]), "--json")
    )
    assert (found["deleted"], found["not_there"], found["n_items"]) == (1, 1, 17)
    result = CliRunner().invoke(
        app, ["delete", str(built), "--ids", "-"], input="s7\r\ns8"
    )
    assert "2 deleted, 0 not there" in result.stdout
    left = {f"s{row}" for row in range(20)} - {"s1", "s3", "s5", "s7", "s8"}
    assert {*Collection.open(built).ids} == left
    np.save(tmp_path / "n.npy", np.arange(3))
    told = run("delete", built, "--ids", tmp_path / "n.npy", code=2)
    assert "the ids of this collection are texts, got 0" in told


def test_delete_by_many_whole_numbers(tmp_path):
    bundle = Bundle(PackedEncoder(8)).with_codes(np.zeros((20_000, 1), np.uint8))
    bundle.save(tmp_path / "b")
    gone = np.random.default_rng(0).choice(20_000, 10_000, replace=False)
    np.save(tmp_path / "ids.npy", gone)
    told = run("delete", tmp_path / "b", "--ids", tmp_path / "ids.npy")
    assert "10,000 deleted, 0 not there; 10,000 items" in told
    left = Collection.open(tmp_path / "b").ids
    np.testing.assert_array_equal(left, np.setdiff1d(np.arange(20_000), gone))
    (tmp_path / "ids.txt").write_text("1\ns2\n")
    told = run("delete", tmp_path / "b", "--ids", tmp_path / "ids.txt", code=2)
    assert "ids of this collection are integers, got 's2'" in told


VECTORS = ["--column", "x", "--column", "y"]


def test_a_table_by_the_ids_it_was_built_with(built, tmp_path):
    later = write(tmp_path / "later.csv", range(20, 25))
    told = json.loads(run("add", built, later, *VECTORS, "--json"))
    assert told == {"collection": str(built), "added": 5, "n_items": 25, "commit": 2}
    again = write(tmp_path / "again.csv", range(18, 22), year=100)
    assert "item with id 's18' already" in run("add", built, again, *VECTORS, code=2)
    assert "4 upserted; 25 items" in run("upsert", built, again, *VECTORS)
    items = Collection.open(built).collection
    known = dict(zip(items.ids, items.column("year"), strict=True))
    wanted = {f"s{row}": row + 100 * (18 <= row < 22) for row in range(25)}
    assert known == wanted
    np.save(tmp_path / "v.npy", X[:1])
    assert "got id='sku'" in run("add", built, tmp_path / "v.npy", code=2)


@pytest.mark.parametrize("cells", ["7,2.50,2024-01-31", '"7",2.50,2024-01-31'])
def test_texts_stay_texts_where_few_rows_hold_numbers_alone(tmp_path, cells):
    Bundle(LinearEncoder(np.eye(2), np.zeros(2))).save(tmp_path / "b")
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text('x,y,sku,price,day\n1,2,a1,"3,50",soon\n2,1,a2,4,2023-01-01\n')
    later.write_text(f"x,y,sku,price,day\n3,4,{cells}\n")
    run("build", tmp_path / "b", first, *VECTORS, "--id", "sku")
    run("add", tmp_path / "b", later, *VECTORS)
    items = Collection.open(tmp_path / "b").collection
    assert items.ids.tolist() == ["a1", "a2", "7"]
    assert items.row("7") == {"price": "2.50", "day": "2024-01-31"}


def test_everything_goes_and_comes_back(built, tmp_path):
    assert "2 deleted" in run("delete", built, *["--id", "s1", "--id", "s2"] * 2)
    assert "no item with id 's1'" in run("delete", built, "--id", "s1", code=2)
    assert "18 deleted; 0 items" in run("delete", built, "--filter", "year >= 0")
    sized = json.loads(run("compact", built, "--json"))
    assert sized["bytes"] <= sized["bytes_before"]
    assert "3 added; 3 items" in run(
        "add", built, write(tmp_path / "c.csv", range(3)), *VECTORS
    )
    assert "3 rows" in run("verify", built)


def test_packed_codes(tmp_path):
    codes = np.random.default_rng(0).integers(0, 256, (9, 2), np.uint8)
    Bundle(PackedEncoder(16)).with_codes(codes[:6]).save(tmp_path / "b")
    np.save(tmp_path / "more.npy", codes[6:])
    assert "3 added; 9 items" in run("add", tmp_path / "b", tmp_path / "more.npy")
    assert "give the ids" in run(
        "upsert", tmp_path / "b", tmp_path / "more.npy", code=2
    )
    bundle = Collection.open(tmp_path / "b").upsert(codes[:1], ids=[8])
    wanted = np.concatenate([codes[:8], codes[:1]])
    np.testing.assert_array_equal(bundle.codes, wanted)
