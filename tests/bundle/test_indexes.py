"""Each index gives the answers of brute force; tables in a folder change none."""

import importlib
import json
import pkgutil

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import fewbits.index
from fewbits.bundle import Bundle, Metadata
from fewbits.bundle._indexes import INDEXES
from fewbits.cli import app
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.index import FlatIndex, Index, _multi_index, _tables
from fewbits.index.table_files import build_tables
from tests.index._indexes import INDEXES as TESTED

N, BITS = 400, 16
ENCODER = LinearEncoder(np.eye(BITS), np.zeros(BITS))
rng = np.random.default_rng(0)
X = np.repeat(rng.normal(size=(40, BITS)), 10, axis=0)
X *= np.where(rng.random((N, BITS)) < 0.1, -1, 1)
QUERIES = X[::37] * np.where(rng.random((11, BITS)) < 0.1, -1, 1)
KINDS = [*INDEXES]


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch):
    """Let few rows make a segment that stays as it is when others come."""
    monkeypatch.setattr("fewbits.store._compact.ROWS", 60)


@pytest.fixture(params=[False, True], ids=["as it is", "tables pay"])
def pays(request, monkeypatch):
    """Let "auto" scan small collections as it does, or think that tables pay."""
    if request.param:
        monkeypatch.setattr(_multi_index, "_FEWEST", 1)
        monkeypatch.setattr(_tables, "_SCAN", {"portable": (10**6, 10**6, 10**6)})
    return request.param


def table(rows):
    rows = np.asarray(rows)
    return pa.table(
        {"id": rows, "v": list(X[rows]), "group": [f"g{row % 7}" for row in rows]}
    )


def bundle_of(rows):
    return Bundle(ENCODER).with_items(table(rows), vectors="v", id="id")


def grown(folder=None):
    """Return a bundle after many changes, and the numbers of its rows in order."""
    bundle, rows = bundle_of(range(250)), list(range(250))
    if folder is not None:
        bundle.save(folder)
        bundle = Bundle.load(folder)
    for some in (range(250, 330), range(330, N)):
        bundle, rows = bundle.add(table(some), vectors="v"), [*rows, *some]
    bundle = bundle.delete([*range(0, 100, 3), 260])
    rows = [row for row in rows if row != 260 and not (row < 100 and row % 3 == 0)]
    again = [7, 255, 300]
    bundle = bundle.upsert(table(again), vectors="v")
    return bundle, [row for row in rows if row not in again] + again


def brute_force(rows, chosen, k):
    """Return distances and ids of the nearest chosen rows, ties in their order."""
    rows = np.array(rows)[chosen]
    apart = ((QUERIES[:, None] > 0) != (X[rows] > 0)).sum(axis=2)
    order = np.argsort(apart, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(apart, order, axis=1), rows[order], apart


def check(bundle, rows):
    """Compare all kinds of search with brute force."""
    every, numbers = np.ones(len(rows), np.bool_), np.array(rows)
    masks = {
        None: every,
        "group = 'g3'": numbers % 7 == 3,
        "bit(2) = 1": X[numbers, 2] > 0,
    }
    for condition, chosen in masks.items():
        for _ in range(2):  # before there are tables, and with them
            for k in (1, 10, 400):
                distances, ids, apart = brute_force(rows, chosen, k)
                found = bundle.search(QUERIES, k, filter=condition)
                width = ids.shape[1]
                np.testing.assert_array_equal(found.ids[:, :width], ids)
                np.testing.assert_array_equal(found.distances[:, :width], distances)
                assert (found.ids[:, width:] == -1).all()
            near = bundle.range_search(QUERIES, 3, filter=condition)
            assert near.offsets[-1] == np.count_nonzero(apart <= 3)
            assert near.ids.tolist() == [
                found
                for one in brute_force(rows, chosen, N)[:2][1:]
                for line, d in zip(one, np.sort(apart, axis=1), strict=True)
                for found in line[d <= 3].tolist()
            ]
    records = bundle.search_records(QUERIES, 5, group_by="group")
    _, ids, _ = brute_force(rows, every, N)
    for line, hits in zip(ids.tolist(), records, strict=True):
        first = {}
        for row in line:
            first.setdefault(row % 7, row)
        assert [hit["id"] for hit in hits] == list(first.values())[:5]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("home", ["memory", "folder"])
@pytest.mark.usefixtures("pays")
def test_answers_are_those_of_brute_force(tmp_path, home, kind):
    bundle, rows = grown(tmp_path / "b" if home == "folder" else None)
    n_segments = len(bundle.collection.runs)
    assert n_segments > 1 if home == "folder" else n_segments == 1
    bundle = bundle.with_index(kind)
    check(bundle, rows)
    check(bundle.compact(), rows)


def test_kinds_of_index():
    bundle = bundle_of(range(20))
    wanted = bundle.search(QUERIES, 3).ids.tolist()
    for kind in KINDS:
        other = bundle.with_index(kind)
        assert type(other.index) is INDEXES[kind].index
        assert other.search(QUERIES, 3).ids.tolist() == wanted
    assert bundle.with_index("flat").with_index("auto").metadata == bundle.metadata
    with pytest.raises(ArgumentError, match="index must be one of auto, flat, multi-"):
        bundle.with_index("hnsw")


def test_every_index_is_public_tested_and_can_be_chosen():
    for module in pkgutil.iter_modules(fewbits.index.__path__):
        importlib.import_module(f"fewbits.index.{module.name}")
    every = set(Index.__subclasses__())
    assert {made.__name__ for made in every} <= set(fewbits.index.__all__)
    assert every == {getattr(made, "func", made) for made in TESTED}
    assert every == {kind.index for kind in INDEXES.values()}


def test_a_bundle_keeps_its_choice(tmp_path):
    bundle_of(range(20)).with_index("flat").save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b").add(table([30]), vectors="v")
    assert type(loaded.index) is FlatIndex
    assert loaded.summary()["index"] == "flat"


def table_files(folder):
    return sorted(folder.glob("items-*/mih-*.bin"))


@pytest.fixture
def looked_up(tmp_path):
    """Return a compact bundle in a folder with tables, and its rows."""
    bundle, rows = grown(tmp_path / "b")
    bundle = bundle.with_index("multi-index").compact()
    assert len(table_files(tmp_path / "b")) == 1
    return bundle, rows


def counted(monkeypatch):
    """Return a list to which each making of tables adds."""
    made = []

    def build(*args):
        made.append(args)
        return build_tables(*args)

    monkeypatch.setattr("fewbits.index._tables.build_tables", build)
    return made


def test_tables_are_read_from_the_folder(tmp_path, looked_up, monkeypatch):
    made, (_, rows) = counted(monkeypatch), looked_up
    check(Bundle.load(tmp_path / "b").with_index("multi-index"), rows)
    assert not made
    assert Bundle.verify(tmp_path / "b").is_intact


def test_tables_stay_when_rows_come_and_go(tmp_path, looked_up, monkeypatch):
    (path,), made = table_files(tmp_path / "b"), counted(monkeypatch)
    before = path.read_bytes()
    bundle, rows = looked_up
    bundle = bundle.add(table([0]), vectors="v").delete([rows[5]])
    check(bundle, [row for row in rows if row != rows[5]] + [0])
    assert [len(args[0]) for args in made] == [1]
    assert table_files(tmp_path / "b") == [path]
    assert path.read_bytes() == before


def test_tables_in_memory_are_those_of_the_next_state(tmp_path, monkeypatch):
    bundle, _ = grown(tmp_path / "b")
    bundle, made = bundle.with_index("multi-index"), counted(monkeypatch)
    bundle.search(QUERIES, 1)
    n_segments = len(made)
    bundle = bundle.delete([1])
    bundle.search(QUERIES, 1)
    assert len(made) == n_segments
    bundle.snapshot().search(QUERIES, 1)
    assert len(made) == n_segments


@pytest.mark.parametrize("how", ["gone", "flipped", "cut", "other", "empty", "folder"])
def test_tables_that_are_not_as_they_were(tmp_path, looked_up, how):
    bundle, rows = looked_up
    (path,) = table_files(tmp_path / "b")
    content = bytearray(path.read_bytes())
    path.unlink()
    if how == "flipped":
        content[len(content) // 2] ^= 4
    if how == "other":
        bundle_of(range(30)).save(tmp_path / "c")
        Bundle.load(tmp_path / "c").with_index("multi-index").compact()
        content = table_files(tmp_path / "c")[0].read_bytes()
    if how == "folder":
        path.mkdir()
    elif how != "gone":
        n = {"cut": len(content) // 2, "empty": 0}.get(how, len(content))
        path.write_bytes(content[:n])
    check(Bundle.load(tmp_path / "b").with_index("multi-index"), rows)
    check(Bundle.load(tmp_path / "b"), rows)
    report = Bundle.verify(tmp_path / "b")
    assert report.is_intact == (how == "gone")
    assert all(damage.is_derived for damage in report.damages)
    bundle.compact()  # makes them again
    if how != "folder":
        assert Bundle.verify(tmp_path / "b").is_intact
        assert len(table_files(tmp_path / "b")) == 1


def test_the_wish_for_none_removes_them(tmp_path, looked_up):
    bundle, rows = looked_up
    size = bundle.disk_bytes()
    flat = bundle.with_index("flat").compact()
    assert not table_files(tmp_path / "b")
    assert flat.disk_bytes() < size
    check(flat, rows)


def test_tables_are_written_where_they_pay(tmp_path, pays):
    bundle, rows = grown(tmp_path / "b")
    bundle = bundle.compact()
    assert len(table_files(tmp_path / "b")) == pays
    check(Bundle.load(tmp_path / "b"), rows)
    assert bundle.commit == bundle.compact().commit


def test_a_folder_that_cannot_be_written(looked_up, monkeypatch):
    bundle, rows = looked_up
    monkeypatch.setattr(
        "fewbits.store._disk.os.open",
        lambda *args, **kwargs: (_ for _ in ()).throw(PermissionError(13, "no")),
    )
    check(bundle, rows)


def test_an_index_that_no_bundle_has():
    with pytest.raises(ArgumentError, match="index must be one of flat, multi-index"):
        Metadata(index="hnsw")


def test_the_command_tells_of_tables(tmp_path, pays):
    grown(tmp_path / "b")
    told = CliRunner().invoke(app, ["compact", str(tmp_path / "b")])
    assert ("are tables for search" in told.stdout) == pays
    told = CliRunner().invoke(app, ["compact", str(tmp_path / "b"), "--json"])
    facts = json.loads(told.stdout)
    sizes = [path.stat().st_size for path in table_files(tmp_path / "b")]
    assert len(sizes) == pays
    assert facts["table_bytes"] == sum(sizes)
    assert facts["bytes"] == Bundle.load(tmp_path / "b").disk_bytes()
