"""Records come back from Parquet as they were, and replace those of the same key."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from research.core.record import Record, Store, key_of, store_of
from research.core.study import names

METRICS = {"map": 0.1, "n": 3, "none": None, "curve": [0.1, 1, []], "by": {"a b": 2.0}}


def test_a_record_comes_back_with_its_types(tmp_path):
    record = Record.now("part", {"data": "icd10", "bits": 64, "seed": 1}, METRICS)
    Store(tmp_path / "a.parquet").put([record])
    (found,) = Store(tmp_path / "a.parquet").read()
    assert found == record
    assert type(found.metrics["n"]) is int
    stamp = found.commit, found.version, found.date, found.machine
    assert all(stamp)


def test_the_same_cell_is_replaced_in_its_place(tmp_path):
    store = Store(tmp_path / "a.parquet")
    store.put([Record("p", {"bits": n}, 0, {"map": 0.0}) for n in (1, 2)])
    store.put([Record("p", {"bits": 1}, 0, {"map": 1.0})])
    assert [r.metrics["map"] for r in store.read()] == [1.0, 0.0]
    assert store.read("other") == []


def test_a_key_does_not_depend_on_the_order_of_settings():
    assert key_of("p", {"a": 1, "seed": 2}) == Record("p", {"a": 1}, 2, {}).key
    assert key_of("p", {"a": 1, "b": 2}) == key_of("p", {"b": 2, "a": 1})
    assert key_of("p", {"a": 1}) == Record("p", {"a": 1}, None, {}).key


def _put(path: Path, numbers: range) -> None:
    for n in numbers:
        Store(path).put([Record("p", {"bits": n}, None, {})])


def test_writers_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "a.parquet"
    with ThreadPoolExecutor(2) as pool:  # a lock is held against threads, too
        list(pool.map(_put, (path, path), (range(10), range(10, 20))))
    assert {r.settings["bits"] for r in Store(path).read()} == set(range(20))
    assert [each.name for each in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("name", names())
def test_stored_results_are_stamped(name):
    records = store_of(name).read()
    assert records
    assert all(r.commit and r.version and r.date for r in records)
