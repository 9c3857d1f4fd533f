"""Columns that are dropped: gone from the newest version, there in those before."""

import shutil

import numpy as np
import pyarrow as pa
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError
from tests.collection._full import full
from tests.store import _format

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

N = 24
X = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(8), np.zeros(8))


def made(path=None, **columns):
    columns = {"n": np.arange(N), "note": [f"a {i}" for i in range(N)], **columns}
    return Collection.create(path, X, encoder=ENCODER, columns=columns)


def newest(col):
    """Return the newest manifest of rows."""
    path = max(col.path.glob("rows-*/manifest-*.json"))
    return _format.manifest(path.read_bytes())


def test_the_column_is_gone_and_others_stay(home):
    col = home(made())
    before, hits = col.frozen(), col.search(X[:3], 4, columns=["n"]).to_list()
    col.drop_columns(["note"])
    assert col.columns == ["n"]
    assert col.schema.names == ["id", "n"]
    assert col.search(X[:3], 4).to_list() == hits
    assert (col[3], before[3]) == ({"n": 3}, {"n": 3, "note": "a 3"})
    for refused in (
        lambda: col.search(X[:1], filter="note = 'a 3'"),
        lambda: col.search(X[:1], columns=["note"]),
        lambda: col.search(X[:1], group_by="note"),
        lambda: col.classify(X[:1], label="note"),
        lambda: col.delete(filter="note is null"),
        lambda: col.column("note"),
        lambda: col.drop_columns(["note"]),
    ):
        with pytest.raises(ArgumentError, match="no column 'note'"):
            refused()
    with pytest.warns(UserWarning, match="left out 'note'"):
        col.add(X[:1], columns={"n": [7], "note": ["x"]})
    col.drop_columns(["n"])
    assert (col.columns, col[3], len(col)) == ([], {}, N + 1)
    version = col.version
    col.drop_columns([])
    assert col.version == version


@pytest.mark.parametrize("values", [["new"], [1.5]])
def test_a_column_of_the_same_name_begins_empty(home, values):
    col = home(made())
    col.update(None, ids=[2, 3], columns={"note": ["b", "c"], "n": [20, 30]})
    col.tag("before")
    col.drop_columns(["note"])
    with pytest.warns(UserWarning, match="null for all other items"):
        col.update(None, ids=[3], columns={"note": values})
    for _ in range(2):
        expected = [None] * N
        expected[3] = values[0]
        assert col.to_arrow()["note"].to_pylist() == expected
        assert [row["note"] for row in col.get([2, 3])] == [None, values[0]]
        assert (col[2]["n"], col[3]["n"]) == (20, 30)
        assert col.at("before")[2] == {"n": 20, "note": "b"}
        col.compact()


def test_columns_that_stay_are_refused(home, tmp_path):
    col = home(made())
    for name, reason in (
        ("id", "ids"),
        ("nota", "did you mean 'note'"),
        ("_code", "no column '_code'"),
        (3, "no column 3"),
    ):
        with pytest.raises(ArgumentError, match=reason):
            col.drop_columns(["n", name])
    for wrong in ("note", None, 3):
        with pytest.raises(ArgumentError, match="list of names"):
            col.drop_columns(wrong)
    with pytest.raises(ArgumentError, match="read-only"):
        col.frozen().drop_columns(["n"])
    assert col.columns == ["n", "note"]
    table = pa.table({"sku": ["a", "b"], "text": ["red", "hat"], "kind": ["x", "y"]})
    options = {"column": "text", "id": "sku", "label": "kind", "bits": 16}
    texts = Collection.create(tmp_path / "t", table, **options)
    for name, reason in (("sku", "the ids"), ("text", "codes were made of")):
        with pytest.raises(ArgumentError, match=reason):
            texts.drop_columns([name])
    texts.drop_columns(["kind"])
    assert (texts.columns, texts.label_column) == (["text"], None)
    more = pa.table({"sku": ["c"], "text": ["shoe"]})
    assert texts.add(more) == 1


def test_images_keep_their_paths(colours, tmp_path):
    image = pytest.importorskip("PIL.Image")
    paths = [tmp_path / f"{i}.png" for i in range(3)]
    for i, path in enumerate(paths):
        image.new("RGB", (8, 8), (80 * i, 0, 0)).save(path)
    col = Collection.create(None, paths, backbone=colours, bits=2, learner="lsh")
    with pytest.raises(ArgumentError, match="'path' is what the codes were made of"):
        col.drop_columns(["path"])


def test_in_a_transaction(home):
    col = home(made())
    with col.transaction():
        col.update(None, ids=[*range(N)], columns={"m": [f"b {i}" for i in range(N)]})
        col.drop_columns(["note"])
        with pytest.raises(ArgumentError, match="no column 'note'"):
            col.drop_columns(["note"])
        col.update(None, ids=[4], columns={"note": [1]})
        col.add(X[:1], columns={"n": [1], "m": ["new"], "note": [2]})
        assert col.columns == ["n", "note"]
    assert col.columns == ["n", "m", "note"]
    assert col[4] == {"n": 4, "m": "b 4", "note": 1}
    assert col.to_arrow()["note"].to_pylist()[-2:] == [None, 2]
    before = col.to_arrow()
    with pytest.raises(KeyError), col.transaction():
        _ = {}[col.drop_columns(["n"])]
    assert col.to_arrow() == before


def test_others_see_it_and_add_without_it(tmp_path):
    one = made(tmp_path / "c")
    other = Collection.open(one.path)
    one.drop_columns(["note"])
    with pytest.warns(UserWarning, match="left out 'note'"):
        other.add(X[:1], columns={"n": [1], "note": ["x"]})
    with pytest.raises(ArgumentError, match="no column 'note'"):
        other.drop_columns(["note"])
    assert one.refresh()
    assert one.columns == other.columns == ["n"]


def test_files_stay_until_compact(tmp_path):
    col = made(tmp_path / "c", long=["x" * 1000] * N)
    col.update(None, ids=[1, 2], columns={"n": [5, 6], "note": ["b", "c"]})
    col.update(None, ids=[3], columns={"long": ["y"]})
    names = {path.name for path in col.path.glob("rows-*/[sv]*")}
    (rows,) = col.path.glob("rows-*")
    col.drop_columns(["note", "long"])
    assert {path.name for path in rows.glob("[sv]*")} == names
    content = newest(col)
    (segment,) = content["segments"]
    assert "dropped" in content["reader_features"]
    (update,) = segment["updates"]  # that of `long` alone is gone
    assert update["columns"] == ["n"]
    stored = {
        pa.ipc.open_file(path).schema.serialize().to_pybytes()
        for path in rows.glob("seg-*")
    }
    for entry, path in ((segment, "seg"), (update, "upd")):
        fields = _format.schema(entry["schema"])
        file = pa.ipc.open_file(rows / f"{path}-{entry['token']}.arrow").schema
        assert file.names == ["_position"] * (path == "upd") + fields.names
    assert len(stored) == 1
    assert col.verify().is_intact
    col.backup(tmp_path / "backup")
    assert Collection.open(tmp_path / "backup")[1] == {"n": 5}
    assert Collection.verify_folder(tmp_path / "backup").is_intact
    col.save(tmp_path / "copy")
    col.compact()
    for folder in (col, Collection.open(tmp_path / "copy")):
        content = newest(folder)
        assert "dropped" not in content["reader_features"]
        assert "schema" not in content["segments"][0]
        size = sum(path.stat().st_size for path in folder.path.glob("rows-*/seg-*"))
        assert size < 1000 * N
        assert folder[1] == {"n": 5}
    version = col.version
    col.compact()
    assert col.version == version


def test_vectors_and_another_encoder(tmp_path):
    col = full(tmp_path / "c")
    before = col.search(X[:2, :1].repeat(12, axis=1), 3, columns=["year"]).to_list()
    col.drop_columns(["kind"])
    query = X[:2, :1].repeat(12, axis=1)
    assert col.search(query, 3).to_list() == before
    col.reencode(LinearEncoder(-np.eye(12), np.zeros(12)))
    assert (col.columns, col.verify().is_intact) == (["year"], True)


def test_flipped_bits_are_put_back(tmp_path):
    col = made(tmp_path / "c")
    col.update(None, ids=[1], columns={"n": [5], "note": ["b"]})
    col.drop_columns(["note"])
    col.update(None, ids=[2], columns={"note": [7]})
    expected = col.to_arrow().to_pylist()
    for kind in ("seg", "upd"):
        for path in sorted(col.path.glob(f"rows-*/{kind}-*")):
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 4
            path.write_bytes(data)
            assert [path.name in x.file for x in col.verify().damages] == [True]
            assert col.repair().is_complete
            assert Collection.open(col.path).to_arrow().to_pylist() == expected
    assert col.verify().is_intact


def test_damaged_values_can_be_dropped(tmp_path):
    col = made(tmp_path / "c")
    col.update(None, ids=[1], columns={"note": ["b"]})
    (path,) = col.path.glob("rows-*/upd-*")
    path.write_bytes(b"")
    col = Collection.open(col.path)
    with pytest.raises(ArtefactError):
        col.to_arrow()
    col.drop_columns(["note"])
    assert col[1] == {"n": 1}
    assert col.verify().is_intact


def test_a_column_that_came_later_goes_again(tmp_path):
    col = made(tmp_path / "c")
    col.update(None, ids=[1], columns={"late": [1]})
    col.drop_columns(["late"])
    shutil.copytree(col.path, tmp_path / "copy")  # of which nothing was read before
    copy = Collection.open(tmp_path / "copy")
    assert copy.to_arrow() == made().to_arrow()
    assert copy.verify().is_intact
    assert newest(copy)["reader_features"] == ["implicit-rows", "inline"]


def test_names_are_any_iterable_or_a_list_with_commas():
    col = made(**{"a, b": [1] * N, "c": [2] * N})
    col.drop_columns(name for name in ["n"])
    assert col.columns == ["note", "a, b", "c"]
    col.drop_columns(["a, b"])
    assert col.columns == ["note", "c"]
    with pytest.raises(ArgumentError, match="no column 'n'"):
        col.drop_columns(["c,n"])
    col.drop_columns(["c, note"])
    assert col.columns == []
