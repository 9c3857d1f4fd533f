"""``add``, ``upsert``, ``update``, ``delete`` and ``compact`` as people use them."""

import csv
import json
import shutil

import numpy as np
import pytest

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from tests.cli._calling import fail, run

X = np.random.default_rng(0).normal(size=(40, 2)).round(3)
VECTORS = ["--column", "x", "--column", "y"]


def write(path, rows, year=0):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "x", "y", "year"])
        writer.writerows([f"s{row}", *X[row], row + year] for row in rows)
    return path


@pytest.fixture
def encoder(tmp_path):
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    Collection.create(tmp_path / "e", np.eye(2), encoder=encoder)
    return ["--encoder", tmp_path / "e"]


@pytest.fixture
def built(tmp_path, encoder):
    table = write(tmp_path / "a.csv", range(20))
    run("build", tmp_path / "b", table, *VECTORS, "--id", "sku", *encoder)
    return tmp_path / "b"


def test_delete_by_a_file_of_ids(built, tmp_path):
    (tmp_path / "ids.txt").write_text("s3\ns1\ns3\ns99\n\n")
    words = ["delete", built, "--input", tmp_path / "ids.txt"]
    assert "there is no item with id 's99'" in fail(*words)
    told = run(*words, "--missing-ok")
    assert told == f"{built}: 2 deleted, 1 not there; 18 items in all\n"
    table = write(tmp_path / "c.csv", [1, 5])
    told = json.loads(run("delete", built, "-i", table, "--missing-ok", "--json"))
    assert (told["deleted"], told["not_there"], told["n_items"]) == (1, 1, 17)
    assert "2 deleted; 15" in run("delete", built, "-i", "-", input="s7\r\ns8")
    left = {f"s{row}" for row in range(20)} - {"s1", "s3", "s5", "s7", "s8"}
    assert {*Collection.open(built).ids} == left
    np.save(tmp_path / "n.npy", np.arange(3))
    told = fail("delete", built, "--input", tmp_path / "n.npy")
    assert "the ids of this collection are texts, got 0" in told


def test_delete_by_many_whole_numbers(tmp_path):
    Collection.create(tmp_path / "b", codes=np.zeros((20_000, 1), np.uint8))
    gone = np.random.default_rng(0).choice(20_000, 10_000, replace=False)
    np.save(tmp_path / "ids.npy", gone)
    told = run("delete", tmp_path / "b", "--input", tmp_path / "ids.npy")
    assert "10,000 deleted; 10,000 items" in told
    left = Collection.open(tmp_path / "b").ids
    np.testing.assert_array_equal(left, np.setdiff1d(np.arange(20_000), gone))
    (tmp_path / "ids.txt").write_text("1\ns2\n")
    told = fail("delete", tmp_path / "b", "--input", tmp_path / "ids.txt")
    assert "ids of this collection are integers, got 's2'" in told


def test_a_table_by_the_ids_it_was_built_with(built, tmp_path):
    later = write(tmp_path / "later.csv", range(20, 25))
    told = json.loads(run("add", built, later, *VECTORS, "--json"))
    expected = {"collection": str(built), "added": 5, "n_items": 25, "version": 2}
    assert told == expected
    again = write(tmp_path / "again.csv", range(18, 22), year=100)
    assert "item with id 's18' already" in fail("add", built, again, *VECTORS)
    assert "4 upserted; 25 items" in run("upsert", built, again, *VECTORS)
    opened = Collection.open(built)
    years = dict(zip(opened.ids, opened.column("year"), strict=True))
    assert years == {f"s{row}": row + 100 * (18 <= row < 22) for row in range(25)}
    np.save(tmp_path / "v.npy", X[:1])
    assert "got id='sku'" in fail("add", built, tmp_path / "v.npy")


def test_update_changes_columns_alone(built, tmp_path):
    codes = Collection.open(built).codes.copy()
    (tmp_path / "u.csv").write_text("sku,year,price\ns3,1999,2.5\ns0,2001,3.5\n")
    told = run("update", built, tmp_path / "u.csv", "--columns", "year")
    assert told == f"{built}: 2 updated; 20 items in all\n"
    opened = Collection.open(built)
    assert opened.column("year")[:5].tolist() == [2001, 1, 2, 1999, 4]
    np.testing.assert_array_equal(opened.codes, codes)
    with pytest.warns(UserWarning, match="no column 'price'; it has .*year"):
        run("update", built, tmp_path / "u.csv", "--id", "sku")
    assert Collection.open(built)["s3"] == {"year": 1999, "price": 2.5}
    for content in ("sku,year\ns1,1066\n", '[{"sku": "s1", "year": 1066}]'):
        assert "1 updated" in run("update", built, "-", "--id", "sku", input=content)
        assert Collection.open(built)["s1"]["year"] == 1066
        run("update", built, tmp_path / "u.csv", "--columns", "year")
    (tmp_path / "u.csv").write_text("sku,year\ns99,1999\n")
    assert "no item with id 's99'" in fail("update", built, tmp_path / "u.csv")
    np.save(tmp_path / "u.npy", X)
    assert "u.npy is no table" in fail("update", built, tmp_path / "u.npy")


@pytest.mark.parametrize("cells", ["7,2.50,2024-01-31", '"7",2.50,2024-01-31'])
def test_texts_stay_texts_where_few_rows_hold_numbers_alone(tmp_path, encoder, cells):
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text('x,y,sku,price,day\n1,2,a1,"3,50",soon\n2,1,a2,4,2023-01-01\n')
    later.write_text(f"x,y,sku,price,day\n3,4,{cells}\n")
    run("build", tmp_path / "b", first, *VECTORS, "--id", "sku", *encoder)
    run("add", tmp_path / "b", later, *VECTORS)
    opened = Collection.open(tmp_path / "b")
    assert opened.ids.tolist() == ["a1", "a2", "7"]
    assert opened["7"] == {"price": "2.50", "day": "2024-01-31"}
    later.write_text("sku,price\n7,8\n")
    run("update", tmp_path / "b", later)
    assert Collection.open(tmp_path / "b")["7"]["price"] == "8"


def test_everything_goes_and_comes_back(built, tmp_path):
    assert "2 deleted" in run("delete", built, *["--ids", "s1", "--id", "s2"] * 2)
    assert "no item with id 's1'" in fail("delete", built, "--ids", "s1")
    words = ["--ids", "s3", "--ids", "s4", "--filter", "year > 3"]
    assert "1 deleted; 17 items" in run("delete", built, *words)
    assert "17 deleted; 0 items" in run("delete", built, "--filter", "year >= 0")
    sizes = json.loads(run("compact", built, "--json"))
    assert sizes["bytes"] <= sizes["bytes_before"]
    table = write(tmp_path / "c.csv", range(3))
    assert "3 added; 3 items" in run("add", built, table, *VECTORS)
    assert "3 rows" in run("verify", built)


def test_packed_codes(tmp_path):
    codes = np.random.default_rng(0).integers(0, 256, (9, 2), np.uint8)
    Collection.create(tmp_path / "b", codes=codes[:6])
    np.save(tmp_path / "more.npy", codes[6:])
    assert "3 added; 9 items" in run("add", tmp_path / "b", tmp_path / "more.npy")
    assert "give the ids" in fail("upsert", tmp_path / "b", tmp_path / "more.npy")
    np.testing.assert_array_equal(Collection.open(tmp_path / "b").codes, codes)


def size(folder):
    """Return the bytes of the files of a collection, without its empty lock."""
    (rows,) = folder.glob("rows-*")
    return sum(path.stat().st_size for path in rows.iterdir())


def test_compact_tells_the_bytes_that_are_left(tmp_path):
    shop = tmp_path / "shop"
    X = np.random.default_rng(0).normal(size=(400, 8)).astype("float32")
    Collection.create(shop, X, bits=16, keep_vectors="float32")
    run("delete", shop, *(f"--ids={row}" for row in range(100)))
    before = size(shop)
    shutil.copytree(next(shop.glob("rows-*")), shop / "rows-0123456789ab")
    told = json.loads(run("compact", shop, "--json"))
    assert told["bytes_before"] == 2 * before
    assert told["bytes"] == size(shop) < before
    ids = [f"--id={row}" for row in range(100, 399)]
    assert run("delete", shop, *ids).endswith(" 299 deleted; 1 item in all\n")


def test_a_column_beside_the_ids_gives_no_ids(tmp_path):
    with open(tmp_path / "t.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sku", "a", "b"])
        rows.writerows([f"s{row}", row, row**2 % 7] for row in range(20))
    columns = ["--column", "a", "--column", "b"]
    run("build", tmp_path / "b", tmp_path / "t.csv", *columns, "-b", 2)
    said = fail("add", tmp_path / "b", tmp_path / "t.csv", *columns, "--id", "sku")
    assert "'sku'" in said


KINDS = {"n": "1", "x": "1.5", "sold": "true", "day": "2024-01-01", "word": "a"}


@pytest.mark.parametrize("change", ["add", "upsert"])
def test_cells_that_are_blank_in_all_rows_are_null(tmp_path, change):
    pytest.importorskip("wordllama")
    header = ",".join(["id", "text", *KINDS])
    rows = [",".join([str(i), f"text {i}", *KINDS.values()]) for i in range(50)]
    (tmp_path / "all.csv").write_text("\n".join([header, *rows]))
    (tmp_path / "one.csv").write_text(f"{header}\n70,more{',' * len(KINDS)}\n")
    options = ["--column", "text", "--id", "id", "-b", 8]
    run("build", tmp_path / "b", tmp_path / "all.csv", *options)
    run(change, tmp_path / "b", tmp_path / "one.csv")
    opened = Collection.open(tmp_path / "b")
    assert opened[70] == {"text": "more", **dict.fromkeys(KINDS)}
    kinds = [str(kind) for kind in opened.schema.types[-len(KINDS) :]]
    assert kinds == ["int64", "double", "bool", "date32[day]", "large_string"]
