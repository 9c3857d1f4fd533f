"""What goes into a store comes out of it."""

import pyarrow as pa
import pytest

from fewbits.errors import ArgumentError, ArtefactError, LockedError
from fewbits.store import Store
from tests.store._tables import (
    SCHEMA,
    TEXT_IDS,
    VECTORS,
    content,
    expected,
    live_positions,
    rows,
)

SCHEMAS = [
    pytest.param(SCHEMA, id="numbers"),
    pytest.param(TEXT_IDS, id="texts"),
    pytest.param(VECTORS, id="vectors"),
]


def make(folder, schema=SCHEMA):
    return Store.create(folder, schema, n_bits=64, fingerprint="of a test")


def ids(schema, numbers):
    texts = schema.field("_id").type == pa.large_string()
    return [f"item {i}" if texts else i for i in numbers]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_rows_come_back(tmp_path, schema):
    store = make(tmp_path / "new", schema)
    table = rows(ids(schema, range(10)), schema=schema)
    more = rows(ids(schema, [3, 77, 5]), 1, schema)
    with store.writer() as writer:
        writer.append(table)
        assert writer.commit() == 1
        assert writer.upsert(more) == 2
        assert writer.delete(ids(schema, [0, 77, 500])) == 2
        assert writer.commit() == 2
    wanted = expected(table, more)
    del wanted[ids(schema, [0])[0]], wanted[ids(schema, [77])[0]]
    snapshot = Store(tmp_path / "new").snapshot()
    assert list(content(snapshot).items()) == list(wanted.items())
    assert snapshot.schema == schema
    assert (snapshot.n_bits, snapshot.fingerprint) == (64, "of a test")


def test_nothing_happens_without_a_commit(tmp_path):
    store = make(tmp_path)
    with store.writer() as writer:
        writer.append(rows(range(3)))
    assert store.snapshot().n_live == 0
    with store.writer() as writer:
        writer.append(rows(range(3)))
        writer.commit()
        writer.delete([1])
    assert list(content(store.snapshot())) == [0, 1, 2]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_id_is_there_once(tmp_path, schema):
    store = make(tmp_path, schema)
    with store.writer() as writer:
        writer.append(rows(ids(schema, [5, 3]), schema=schema))
        with pytest.raises(ArgumentError, match="upsert"):
            writer.append(rows(ids(schema, [9, 3]), schema=schema))
        writer.commit()
        with pytest.raises(ArgumentError, match="upsert"):
            writer.append(rows(ids(schema, [5]), schema=schema))
        writer.delete(ids(schema, [5]))
        writer.append(rows(ids(schema, [5]), schema=schema))
        writer.commit()
    assert list(content(store.snapshot())) == ids(schema, [3, 5])


def test_automatic_ids_are_not_used_again(tmp_path):
    store = make(tmp_path)
    plain = rows(range(2)).drop_columns("_id")
    with store.writer() as writer:
        assert writer.append(plain).to_pylist() == [0, 1]
        writer.append(rows([40]))
        writer.commit()
        writer.delete([1, 40])
        writer.commit()
    with store.writer() as writer:
        assert writer.append(plain).to_pylist() == [41, 42]
        writer.commit()
    parts = store.snapshot().segments
    assert [n for p in parts for n in p.row_numbers[live_positions(p)]] == [0, 3, 4]


def test_find_gives_places(tmp_path):
    store = make(tmp_path)
    with store.writer() as writer:
        writer.append(rows([7, 2, 9]))
        writer.commit()
        writer.delete([2])
        writer.commit()
    (part,) = store.snapshot().segments
    assert part.find(pa.array([9, 2, 7, 8, -1])).tolist() == [2, -1, 0, -1, -1]


def test_a_snapshot_stays(tmp_path):
    store = make(tmp_path)
    with store.writer() as writer:
        writer.append(rows(range(9)))
        writer.commit()
    before = store.snapshot()
    wanted = expected(rows(range(9)))
    for seed in range(6):
        with store.writer() as writer:
            writer.upsert(rows(range(9), seed))
            writer.commit()
    assert content(before) == wanted
    assert content(store.snapshot(before.number)) == wanted
    number = before.number
    before.close()
    with store.writer():
        pass
    with pytest.raises(ArgumentError, match="is gone"):
        store.snapshot(number)


def test_one_writer_at_a_time(tmp_path):
    store = make(tmp_path)
    with store.writer(), pytest.raises(LockedError, match=r"process .* since 2"):
        store.writer(timeout=0).__enter__()


def test_what_is_no_store(tmp_path):
    with pytest.raises(ArtefactError, match="no manifest"):
        Store(tmp_path).snapshot()
    with pytest.raises(ArtefactError, match="no manifest"):
        Store(tmp_path / "missing").snapshot()
    make(tmp_path)
    with pytest.raises(ArtefactError, match="already"):
        make(tmp_path)
