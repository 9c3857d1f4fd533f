"""Values that were changed in few rows are read at every door, and the others stay."""

import copy
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError
from tests.collection.test_columns import COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

N = 48
X = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)
IDS = [f"item {i}" for i in range(N)]
ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
CHANGED = [3, 0, 47, 20]


def table(turn):
    """Return rows of columns of all types, whose values go round by `turn` steps."""
    places = pa.array((np.arange(N) + turn) % 3)
    columns = {name: pa.array(values).take(places) for name, values in COLUMNS.items()}
    return pa.table({"sku": IDS, "kind": [f"k{i % 5}" for i in range(N)], **columns})


@pytest.fixture(params=["memory", "folder"])
def pair(request, tmp_path):
    """Return a collection after updates, and one that was made with these values."""
    folder = None if request.param == "memory" else tmp_path / "c"
    options = {"id": "sku", "label": "kind", "encoder": ENCODER}
    options |= {"keep_vectors": "float32"}

    def made(rows, path):
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 8)
        rows = rows.append_column("v", vectors)
        return Collection.create(path, rows, column="v", **options)

    rows, new = table(0), table(1).take(CHANGED)
    col = made(rows, folder)
    col.tag("before")
    for name in new.column_names[1:]:  # a commit for each column, and some anew
        col.update(new.select(["sku", name]).slice(0, 3))
    assert col.update(new.slice(2)) == 2
    kept = [i for i in range(N) if i not in CHANGED]
    whole = pa.concat_tables([rows.take(kept), new]).unify_dictionaries()
    order = np.argsort([*kept, *CHANGED])
    return col, made(whole.take(order).combine_chunks(), None)


def plain(rows):
    return pa.table(rows).to_pylist()


FILTERS = [
    "int8 > 0",
    "text = ''",
    "kind = 'k1' and truth",
    "date is null",
    "sku = 'item 20'",
]


def same(col, other):
    assert plain(col.to_arrow()) == plain(other.to_arrow())
    query = X[:5] + 0.1
    for options in (
        {},
        {"rerank": False},
        *({"filter": each} for each in FILTERS),
        {"group_by": "int8"},
        {"group_by": "category", "columns": ["kind", "map"]},
    ):
        assert (
            col.search(query, 4, **options).to_list()
            == other.search(query, 4, **options).to_list()
        ), options
    ids = [*IDS[7::7], IDS[47]]
    assert col.get(ids) == other.get(ids)
    assert col["item 47"] == other["item 47"]
    assert list(col) == list(other)


def test_every_door_reads_them(pair, tmp_path):
    col, other = pair
    same(col, other)
    same(copy.deepcopy(col), other)
    same(pickle.loads(pickle.dumps(col)), other)
    col.save(tmp_path / "copy")
    same(Collection.open(tmp_path / "copy"), other)
    short, wanted = col.prefix(4), other.prefix(4)
    assert plain(short.to_arrow()) == plain(wanted.to_arrow())
    before = col.at("before")
    assert plain(before.to_arrow()) == plain(table(0))
    if col.path is not None:
        assert len([*col.path.glob("rows-*/seg-*")]) == 1
        assert 0 < len([*col.path.glob("rows-*/upd-*")]) < 4
        col.backup(tmp_path / "backup")
        backup = Collection.open(tmp_path / "backup")
        same(backup, other)
        assert backup.verify().is_intact
        assert col.verify().is_intact
        same(Collection.open(col.path), other)
    col.untag("before")
    for some in (col, other):
        some.reencode(LinearEncoder(-np.eye(8)[::-1], np.zeros(8)))
    same(col, other)


def test_they_stay_when_rows_come_and_go(pair):
    col, other = pair
    for some in (col, other):
        some.delete([IDS[3], IDS[5]])
        with some.transaction():
            some.update(None, ids=[IDS[9]], columns={"int8": [7]})
            some.update(None, ids=[IDS[9], IDS[11]], columns={"text": ["x", "y"]})
            assert some.delete(filter="int8 = 7") == 1
            some.update(None, ids=[IDS[12]], columns={"int8": [7]})
        some.update(None, ids=[IDS[13]], columns={"late": [1.5]})
    same(col, other)
    assert [x for x in col.to_arrow()["late"].to_pylist() if x] == [1.5]
    assert col.search(X[:1], 1, filter="late > 1").ids.tolist() == [[IDS[13]]]
    col.compact()
    same(col, other)
    if col.path is not None:
        col.untag("before")
        col.compact()
        assert not [*col.path.glob("rows-*/upd-*")]
        assert Collection.verify_folder(col.path).is_intact


def test_extension_types():
    flat = pa.FixedSizeListArray.from_arrays(pa.array(range(2 * N), pa.int32()), 2)
    kind = pa.fixed_shape_tensor(pa.int32(), [2])
    tensors = pa.ExtensionArray.from_storage(kind, flat)
    col = Collection.create(None, X, ids=IDS, columns={"t": tensors}, encoder=ENCODER)
    col.update(None, ids=[IDS[7]], columns={"t": tensors.slice(3, 1)})
    wanted = tensors.to_pylist()
    wanted[7] = wanted[3]
    assert col.to_arrow()["t"].to_pylist() == wanted


def test_a_reader_goes_on_while_values_change(tmp_path):
    columns = {"n": np.zeros(N, np.int64)}
    col = Collection.create(
        tmp_path / "c", X, ids=IDS, columns=columns, encoder=ENCODER
    )
    readers = [Collection.open(tmp_path / "c")]
    for i in range(1, 8):
        col.update(None, ids=[IDS[i % 3]], columns={"n": [i]})
        readers.append(Collection.open(tmp_path / "c"))
    for i, reader in enumerate(readers):
        wanted = np.zeros(N, np.int64)
        for j in range(1, i + 1):
            wanted[j % 3] = j
        assert reader["item 2"]["n"] == wanted[2]
        assert reader.to_arrow()["n"].to_pylist() == wanted.tolist()
    assert len([*tmp_path.glob("c/rows-*/seg-*")]) == 1


def test_a_lost_file_is_told_and_what_was_before_comes_back_if_asked(tmp_path):
    columns = {"n": np.zeros(N, np.int64), "text": ["a"] * N}
    col = Collection.create(
        tmp_path / "c", X, ids=IDS, columns=columns, encoder=ENCODER
    )
    col.update(None, ids=[IDS[2]], columns={"n": [5]})
    (path,) = tmp_path.glob("c/rows-*/upd-*")
    path.unlink()
    col = Collection.open(tmp_path / "c")
    assert col.search(X[:1], 2, columns=["text"]).to_list()[0][0]["id"] == IDS[0]
    condition = "text = 'a' and id <> 'item 0'"  # of columns that are whole
    assert col.search(X[:1], 1, filter=condition, columns=[]).distances.shape == (1, 1)
    for read in (
        col.to_arrow,
        lambda: col[IDS[0]],
        lambda: col.search(X, filter="n>1"),
    ):
        with pytest.raises(ArtefactError, match=path.name):
            read()
    report = Collection.verify_folder(col.path)
    assert "1 rows" in str(report)
    report = Collection.repair_folder(col.path)
    assert not report.is_complete
    assert "n of 1 rows" in str(report)
    report = Collection.repair_folder(col.path, drop_rows=True)
    assert not report.is_complete
    assert "update them anew" in str(report)
    assert Collection.open(col.path)[IDS[2]]["n"] == 0
    assert Collection.verify_folder(col.path).is_intact


def test_a_column_may_be_called_as_ours(tmp_path):
    columns = {"_position": np.arange(N), "n": np.zeros(N, np.int64)}
    col = Collection.create(
        tmp_path / "c", X, ids=IDS, columns=columns, encoder=ENCODER
    )
    new = {"_position": [5, 6], "n": [7, 8]}
    col.update(None, ids=[IDS[3], IDS[1]], columns=new)
    col.update(None, ids=[IDS[2]], columns={"_position": [9]})
    wanted = [0, 6, 9, 5, *range(4, N)]
    assert Collection.open(col.path).to_arrow()["_position"].to_pylist() == wanted
    assert col[IDS[3]]["n"] == 7
    assert Collection.verify_folder(col.path).is_intact


def test_damaged_values_of_a_column_do_not_matter_to_others(tmp_path):
    columns = {"n": np.zeros(N, np.int64), "m": np.zeros(N), "text": ["a"] * N}
    col = Collection.create(
        tmp_path / "c", X, ids=IDS, columns=columns, encoder=ENCODER
    )
    col.update(None, ids=[IDS[2]], columns={"n": [5], "m": [1.5]})
    (path,) = tmp_path.glob("c/rows-*/upd-*")
    data = path.read_bytes()
    path.write_bytes(bytes(len(data)))
    col = Collection.open(tmp_path / "c")
    for i in range(20):
        col.update(None, ids=[IDS[i]], columns={"text": [f"b{i}"]})
    with pytest.raises(ArtefactError, match=path.name):
        col.update(None, ids=[IDS[2]], columns={"m": [2.5]})
    path.write_bytes(data)
    col = Collection.open(tmp_path / "c")
    assert (col[IDS[2]]["n"], col[IDS[2]]["m"]) == (5, 1.5)
    texts = [*(f"b{i}" for i in range(20)), *["a"] * (N - 20)]
    assert col.to_arrow()["text"].to_pylist() == texts


ROWS = [{"id": 0, "a": 9}, {"id": 1, "t": "q"}, {"id": 2}]


def numbered():
    columns = {"a": [1, 2, 3], "t": ["x", "y", "z"]}
    return Collection.create(None, X[:3], encoder=ENCODER, columns=columns)


@pytest.mark.parametrize("form", ["list", "jsonl", "json", "columns"])
def test_a_row_keeps_the_values_of_columns_that_it_does_not_name(form, tmp_path):
    col, path = numbered(), tmp_path / f"rows.{form}"
    if form == "columns":
        values = [{"a": 9}, {"t": "q"}]
        assert col.update(None, ids=[0, 1], columns=values) == 2
    else:
        lines = "\n".join(map(json.dumps, ROWS))
        path.write_text(lines if form == "jsonl" else json.dumps(ROWS))
        assert col.update(ROWS if form == "list" else path) == 3
    expected = [{"a": 9, "t": "x"}, {"a": 2, "t": "q"}, {"a": 3, "t": "z"}]
    assert col.get([0, 1, 2]) == expected


def test_an_id_comes_once_whatever_its_rows_name():
    col = numbered()
    with pytest.raises(ArgumentError, match="0 in 2 rows"):
        col.update([{"id": 0, "a": 9}, {"id": 0, "t": "q"}])
    assert col[0] == {"a": 1, "t": "x"}


def test_values_are_put_back_where_their_rows_are_beyond_repair(tmp_path):
    columns = {"n": np.zeros(N, np.int64), "text": ["a"] * N}
    col = Collection.create(
        tmp_path / "c", X, ids=IDS, columns=columns, encoder=ENCODER
    )
    col.update(None, ids=[IDS[2]], columns={"n": [5]})
    (rows,), (values,) = (col.path.glob(f"rows-*/{x}-*") for x in ("seg", "upd"))
    whole, data = rows.read_bytes(), values.read_bytes()
    rows.write_bytes(bytes(len(whole)))
    values.write_bytes(data[:400] + bytes([data[400] ^ 2]) + data[401:])
    report = Collection.repair_folder(col.path)
    assert (report.n_damaged, report.damaged_values) == (N, ())
    assert "1 flipped bit was put back" in str(report)
    (damage,) = Collection.verify_folder(col.path).damages
    assert rows.name in damage.file
    (values,) = col.path.glob("rows-*/upd-*")
    values.write_bytes(b"")
    report = Collection.repair_folder(col.path)
    assert (report.n_damaged, len(report.damaged_values)) == (N, 1)
    values.write_bytes(data)
    rows.write_bytes(whole)
    assert Collection.open(col.path)[IDS[2]]["n"] == 5
    assert Collection.verify_folder(col.path).is_intact
    rows.write_bytes(b"")
    values.write_bytes(b"")
    report = Collection.repair_folder(col.path, drop_rows=True)
    assert (report.n_lost, report.reverted_values) == (N, ())
    assert Collection.verify_folder(col.path).is_intact


def test_all_that_meets_a_filter_gets_the_values_of_a_row():
    columns = {"year": [*range(N)], "kind": ["a", "b"] * (N // 2)}
    col = Collection.create(None, X, ids=IDS, columns=columns, encoder=ENCODER)
    assert col.update({"kind": "new", "year": 9}, filter="year < 3") == 3
    assert col.update({"kind": None}, filter="year > 40") == N - 41
    with col.transaction():  # each sees those before it
        col.update([{"year": 100}], filter="year = 9")
        assert col.update({"year": 101}, filter="year = 100") == 4
    assert col.column("year").tolist().count(101) == 4
    assert col.column("kind").tolist().count(None) == N - 41
    version = col.version
    assert (col.update({"year": 1}, filter="year = -1"), col.version) == (0, version)
    for data, options, message in (
        ([{"year": 1}, {"year": 2}], {}, "one row, got 2"),
        ({"year": [1]}, {}, "year"),
        ({"id": "item 3", "year": 1}, {}, "leave out 'id'"),
        (None, {"columns": {"year": 1}}, "one row"),
        ({"year": 1}, {"ids": IDS[:1]}, "one row"),
        ({"year": "soon"}, {}, "year"),
        (7, {}, "one row, got an int"),
    ):
        with pytest.raises(ArgumentError, match=message):
            col.update(data, filter="year > 1", **options)
    assert col.version == version
    col.update({"tags": ["x"]}, filter="year > 1")
    assert col[IDS[5]]["tags"] == ["x"]


def test_an_update_without_columns_changes_nothing():
    columns = {"n": [*range(N)], "kind": ["a"] * N}
    col = Collection.create(None, X, ids=IDS, columns=columns, encoder=ENCODER)
    version = col.version
    assert col.update(pa.table({"id": IDS[:2]})) == 2  # and nothing changes
    assert col.update(ids=IDS[:1], columns={}) == 1
    assert col[IDS[0]] == {"n": 0, "kind": "a"}
    assert col.version <= version + 2
