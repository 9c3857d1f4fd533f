"""``fewbits add``, ``upsert``, ``delete`` and ``compact`` as people use them."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
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


VECTORS = ["--column", "x", "--column", "y"]


def test_a_table_by_the_ids_it_was_built_with(built, tmp_path):
    later = write(tmp_path / "later.csv", range(20, 25))
    told = json.loads(run("add", built, later, *VECTORS, "--json"))
    assert told == {"bundle": str(built), "added": 5, "n_items": 25, "commit": 2}
    again = write(tmp_path / "again.csv", range(18, 22), year=100)
    assert "item with id 's18' already" in run("add", built, again, *VECTORS, code=2)
    assert "4 upserted; 25 items" in run("upsert", built, again, *VECTORS)
    items = Bundle.load(built).collection
    known = dict(zip(items.ids, items.column("year"), strict=True))
    wanted = {f"s{row}": row + 100 * (18 <= row < 22) for row in range(25)}
    assert known == wanted
    np.save(tmp_path / "v.npy", X[:1])
    assert "got id column 'sku'" in run("add", built, tmp_path / "v.npy", code=2)


@pytest.mark.parametrize("cells", ["7,2.50,2024-01-31", '"7",2.50,2024-01-31'])
def test_texts_stay_texts_where_few_rows_hold_numbers_alone(tmp_path, cells):
    Bundle(LinearEncoder(np.eye(2), np.zeros(2))).save(tmp_path / "b")
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text('x,y,sku,price,day\n1,2,a1,"3,50",soon\n2,1,a2,4,2023-01-01\n')
    later.write_text(f"x,y,sku,price,day\n3,4,{cells}\n")
    run("build", tmp_path / "b", first, *VECTORS, "--id", "sku")
    run("add", tmp_path / "b", later, *VECTORS)
    items = Bundle.load(tmp_path / "b").collection
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
    bundle = Bundle.load(tmp_path / "b").upsert(codes[:1], ids=[8])
    wanted = np.concatenate([codes[:8], codes[:1]])
    np.testing.assert_array_equal(bundle.collection.codes, wanted)
