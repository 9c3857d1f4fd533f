"""The folder of a bundle that grows: who writes when, what is lost, how large it is."""

import json
import os
import threading

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, LockedError
from fewbits.store import _disk, _store

ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
X = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    bundle = Bundle(ENCODER).with_items(
        X[:5], columns={"year": np.arange(5)}, keep_vectors="float32"
    )
    bundle.save(tmp_path / "b")
    return tmp_path / "b"


def add_one(folder):
    Bundle.load(folder).add(X[5:6], columns={"year": [7]}, ids=[77])


def replace_all(folder):
    other = LinearEncoder(-np.eye(8), np.zeros(8))
    Bundle(other).reencode(Bundle.load(folder)).save(folder)


CHANGES = {
    "column": lambda loaded: loaded.with_column("more", np.arange(5)),
    "column, row": lambda loaded: loaded.with_column("year", np.arange(5)).add(
        X[6:7], columns={"year": [1]}
    ),
    "prefix": lambda loaded: loaded.prefix(4),
    "nothing": lambda loaded: loaded,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("others", ["add", "replace"])
def test_no_save_loses_what_others_wrote(folder, change, others):
    changed = CHANGES[change](Bundle.load(folder))
    if others == "replace":
        replace_all(folder)
    add_one(folder)
    if (change, others) == ("nothing", "add"):
        changed.save(folder)  # the collection stays where it is, with all rows
    else:
        with pytest.raises(ArgumentError, match="changed since"):
            changed.save(folder)
    assert Bundle.load(folder).collection.ids.tolist() == [0, 1, 2, 3, 4, 77]


def test_what_was_saved_may_be_saved_again(folder):
    changed = Bundle.load(folder).with_column("more", np.arange(5))
    changed.save(folder)
    changed.save(folder)
    assert Bundle.load(folder).collection.columns == ["year", "more"]
    Bundle.load(folder).delete([1])
    with pytest.raises(ArgumentError, match="changed since"):
        changed.save(folder)


def test_no_change_reaches_a_collection_that_was_replaced(folder):
    before = Bundle.load(folder)
    replace_all(folder)
    for change in (
        lambda: before.add(X[5:6], columns={"year": [1]}),
        lambda: before.delete([1]),
        before.compact,
        before.snapshot,
    ):
        with pytest.raises(ArgumentError, match="load it again"):
            change()
    assert before.search(X[:1], 1).ids.tolist() == [[0]]  # it still answers


def test_another_working_directory(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    bundle = Bundle.load("b")
    monkeypatch.chdir(os.sep)
    assert bundle.search_reranked(X[3:4], 1).ids.tolist() == [[3]]
    assert len(bundle.delete([3]).collection) == 4


def in_threads(calls):
    """Run calls at the same time, and return what they raised."""
    raised = []

    def guarded(call):
        try:
            call()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_saves_and_loads_at_the_same_time(folder):
    def saves(seed):
        for n in range(4):
            encoder = LinearEncoder((seed + n) * np.eye(8), np.zeros(8))
            Bundle(encoder).with_items(X[:9]).save(folder)

    def loads():
        for _ in range(20):
            Bundle.load(folder).search(X[:1], 1)

    # A lock belongs to an open file: threads wait as processes do.
    assert not in_threads([lambda: saves(10), lambda: saves(20), loads, loads])
    assert Bundle.verify(folder).n_rows == 9
    assert sum(path.is_dir() for path in folder.iterdir()) <= 3
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_eight_add_at_the_same_time(folder):
    def adds(n):
        Bundle.load(folder).add(X[n : n + 1], columns={"year": [n]}, ids=[100 + n])

    assert not in_threads([lambda n=n: adds(n) for n in range(8)])
    wanted = [0, 1, 2, 3, 4, *range(100, 108)]
    assert sorted(Bundle.load(folder).collection.ids.tolist()) == wanted


def test_who_does_not_wait_is_told(folder, tmp_path):
    bundle = Bundle.load(folder)
    np.save(tmp_path / "more.npy", X[:1])
    with bundle.collection.store.writer():
        with pytest.raises(LockedError, match=f"process {os.getpid()}"):
            bundle.delete([1], timeout=0)
        told = CliRunner().invoke(app, ["delete", str(folder), "--id", "1", "--wait=0"])
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert "is being changed by process" in told.stderr
    for wrong in (-1, float("nan"), "1", True):
        with pytest.raises(ArgumentError, match="timeout must be a number of seconds"):
            bundle.delete([1], timeout=wrong)


def test_who_waits_is_told_for_whom(folder, monkeypatch, caplog):
    monkeypatch.setattr(_store, "_SILENT", 0)
    bundle = Bundle.load(folder)
    with (
        bundle.collection.store.writer(),
        pytest.raises(LockedError, match="waited"),
    ):
        bundle.delete([1], timeout=0.1)
    (line,) = caplog.messages
    assert line.startswith("waiting: ")
    assert f"is being changed by process {os.getpid()}" in line


@pytest.mark.parametrize("home", ["memory", "folder"])
def test_the_count_of_deleted_items_is_that_of_one_call(folder, home):
    bundle = Bundle.load(folder)  # five items, of the years 0 to 4
    if home == "memory":
        bundle = Bundle(ENCODER).with_codes(
            bundle.collection.codes, columns={"year": np.arange(5)}
        )
    else:
        Bundle.load(folder).add(X[:2], columns={"year": [3, 9]}, ids=[50, 51])
        Bundle.load(folder).delete([0])
    bundle, n_deleted = bundle.delete_and_count(filter="year <= 3")
    assert n_deleted == 4
    assert bundle.delete_and_count([4, 4])[1] == 1
    assert bundle.delete_and_count(filter="year < 0")[1] == 0


def test_the_command_tells_what_it_deleted(folder, monkeypatch):
    load = Bundle.load

    def loaded(path):
        bundle = load(path)
        load(path).delete([0, 1])
        return bundle

    monkeypatch.setattr(Bundle, "load", loaded)
    told = CliRunner().invoke(app, ["delete", str(folder), "--filter", "year < 3"])
    assert told.stdout == f"{folder}: 1 deleted; 2 items in all\n"


def test_stored_codes_find_themselves(tmp_path):
    encoder = LinearEncoder(np.eye(64), np.zeros(64))
    rows = np.random.default_rng(0).normal(size=(100_000, 64)).astype(np.float32)
    bundle = Bundle(encoder).with_items(rows[:60_000])
    bundle.save(tmp_path / "b")
    bundle = Bundle.load(tmp_path / "b").add(rows[60_000:])
    some = np.arange(0, len(rows), 50)
    found = bundle.search(rows[some], 1)
    assert not found.distances.any()
    np.testing.assert_array_equal(found.ids[:, 0], some)


def test_deleted_rows_leave_the_disk(tmp_path):
    n, left = 20_000, 2_000
    rows = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    for name, some in (("all", rows), ("few", rows[-left:])):
        bundle = Bundle(ENCODER).with_items(
            some, columns={"year": np.arange(n)[-len(some) :]}, keep_vectors="float32"
        )
        bundle.save(tmp_path / name)
    condition = f"year < {n - left}"
    told = CliRunner().invoke(
        app, ["delete", str(tmp_path / "all"), "--filter", condition, "--json"]
    )
    assert json.loads(told.stdout)["deleted"] == n - left
    sizes = [Bundle.load(tmp_path / name).disk_bytes() for name in ("all", "few")]
    assert sizes[0] <= 2 * sizes[1]


def test_many_small_upserts_make_few_files(folder, monkeypatch):
    monkeypatch.setattr(_disk, "_sync", lambda descriptor: None)
    bundle = Bundle.load(folder)
    for n in range(120):
        bundle = bundle.upsert(X[n % 64][None], ids=[n % 40], columns={"year": [n]})
    assert bundle.collection.store.n_files() <= 64
    assert len(bundle.collection) == 40
    years = dict(
        zip(bundle.collection.ids, bundle.collection.column("year"), strict=True)
    )
    assert years == {n % 40: n for n in range(120)}


CASTS = [
    ([1, 2], [None, None], [None, None]),
    ([1.0, 2.0], np.array([np.nan, 1], np.float32), [np.nan, 1.0]),
    ([1.0, 2.0], [3, 4], [3.0, 4.0]),
    (["a", "b"], pd.Series(["c", None], dtype="category"), ["c", None]),
    (pd.Series(["a", "b"], dtype="category"), ["c", "a"], ["c", "a"]),
    (pd.Series(["a", "b"], dtype="category"), [None, None], [None, None]),
]
REFUSED = [
    ([1, 2], [True, False]),
    ([True, False], [1, 0]),
    ([1, 2], [1.5, 2.0]),
    (["1", "2"], [1, 2]),
    ([1, 2], ["1", "2"]),
]


@pytest.mark.parametrize(("first", "then", "wanted"), CASTS)
def test_columns_become_those_of_the_collection(tmp_path, first, then, wanted):
    made = Bundle(ENCODER).with_items(X[:2], columns={"c": first})
    made.save(tmp_path / "b")
    for bundle in (made, Bundle.load(tmp_path / "b")):
        grown = bundle.add(X[2:4], columns={"c": then})
        got = grown.collection.column("c")[2:].tolist()
        assert repr(got) == repr(wanted)  # NaN, too


@pytest.mark.parametrize(("first", "then"), REFUSED)
def test_values_never_become_others(first, then):
    bundle = Bundle(ENCODER).with_items(X[:2], columns={"c": first})
    with pytest.raises(ArgumentError, match="column 'c' must be"):
        bundle.add(X[2:4], columns={"c": then})


def test_more_categories_than_a_byte_holds(tmp_path):
    def names(n):
        return pd.Series([f"{n}-{i}" for i in range(64)], dtype="category")

    made = Bundle(ENCODER).with_items(X, columns={"c": names(0)})
    made.save(tmp_path / "b")
    for bundle in (made, Bundle.load(tmp_path / "b")):
        grown = bundle
        for n in range(1, 5):
            grown = grown.add(X, columns={"c": names(n)})
        hits = grown.compact().search_records(X[:1], 5, group_by="c")
        assert [hit["columns"]["c"] for hit in hits[0]] == [f"{n}-0" for n in range(5)]


def test_ids_end(folder):
    full = Bundle(ENCODER).with_items(X[:2], ids=[0, 2**63 - 1])
    with pytest.raises(ArgumentError, match="row ids are exhausted"):
        full.add(X[2:3])


def test_the_form_of_the_vectors_stays(folder):
    with pytest.raises(TypeError, match="no option 'keep_vectors'"):
        Bundle.load(folder).add(X[:1], columns={"year": [1]}, keep_vectors="int8")
