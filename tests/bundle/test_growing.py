"""Rows that come and go, in memory and in a folder, against a dictionary."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
N = 60
X = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)
HOMES = ["memory", "folder"]
IDS = {
    "numbers": pa.array(np.arange(N) * 3),
    "texts": pa.array([f"item-{row}" for row in range(N)]),
}


def table(rows, kind="numbers"):
    """Return rows whose year is the number of the vector."""
    rows = np.asarray(rows, np.int64)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[rows].ravel()), 8)
    ids = IDS[kind].take(pa.array(rows % N))
    return pa.table({"sku": ids, "v": vectors, "year": rows})


def at_home(bundle, home, folder):
    if home == "memory":
        return bundle
    bundle.save(folder / "b")
    return Bundle.load(folder / "b")


def built(rows, home, folder, kind="numbers", keep_vectors="float32"):
    made = Bundle(ENCODER).with_items(
        table(rows, kind), vectors="v", id="sku", keep_vectors=keep_vectors
    )
    return at_home(made, home, folder)


def content(bundle):
    items = bundle.collection
    return list(zip(items.ids.tolist(), items.column("year").tolist(), strict=True))


def check(bundle, wanted):
    """Compare a bundle with a list of (id, number of the vector), in order."""
    assert content(bundle) == wanted
    n = len(wanted)
    assert len(bundle.collection) == n
    rows = np.array([row for _, row in wanted], np.int64)
    np.testing.assert_array_equal(bundle.collection.codes, ENCODER.encode(X[rows]))
    if not n:
        return
    ids = np.array([name for name, _ in wanted], bundle.collection.ids.dtype)
    apart = np.bitwise_count(bundle.collection.codes ^ ENCODER.encode(X[:1])).sum(1)
    order = np.argsort(apart, kind="stable")
    found = bundle.search(X[:1], n)
    np.testing.assert_array_equal(found.ids[0], ids[order])
    np.testing.assert_array_equal(found.distances[0], apart[order])
    if bundle.collection.vectors is not None:
        ranked = bundle.search_reranked(X[rows[:1]], 1)
        assert ranked.distances[0, 0] == 0
        kept = bundle.collection.some_vectors(np.arange(n))
        np.testing.assert_array_equal(kept, X[rows])
    assert bundle.collection.rows(ids).tolist() == [*range(n)]
    codes = bundle.collection.codes
    between = np.bitwise_count(codes[:, None] ^ codes).sum(axis=2)
    pairs = np.argwhere(np.triu(between <= 1, 1))
    np.testing.assert_array_equal(bundle.duplicates(1).rows, pairs)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "upsert", "delete", "filter", "compact", "load"]),
        st.lists(st.integers(0, N - 1), unique=True, max_size=9),
    ),
    max_size=9,
)


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("kind", IDS)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_any_changes(tmp_path_factory, home, kind, steps):
    bundle = built([0, 1, 2], home, tmp_path_factory.mktemp("b"), kind)
    names = IDS[kind].to_pylist()
    wanted = {names[row]: row for row in (0, 1, 2)}
    for step, rows in steps:
        some = [row for row in rows if names[row] in wanted]
        new = [row for row in rows if names[row] not in wanted]
        if step in ("add", "upsert") and not (new if step == "add" else rows):
            continue  # nothing to read is refused
        if step == "add":
            bundle = bundle.add(table(new, kind), vectors="v", id="sku")
            wanted |= {names[row]: row for row in new}
        elif step == "upsert":
            bundle = bundle.upsert(table(rows, kind), vectors="v")
            wanted = {n: r for n, r in wanted.items() if r not in rows}
            wanted |= {names[row]: row for row in rows}
        elif step == "delete":
            bundle = bundle.delete([names[row] for row in some])
            wanted = {n: r for n, r in wanted.items() if r not in some}
        elif step == "filter":
            limit = rows[0] if rows else 0
            bundle = bundle.delete(filter=f"year < {limit}")
            wanted = {n: r for n, r in wanted.items() if r >= limit}
        elif step == "compact":
            bundle = bundle.compact()
        else:
            bundle = bundle.snapshot()
        check(bundle, [*wanted.items()])


@pytest.mark.parametrize("home", HOMES)
def test_numbered_rows_count_on(tmp_path, home):
    bundle = at_home(Bundle(ENCODER).with_items(X[:4]), home, tmp_path)
    bundle = bundle.add(X[4:6]).add(X[6:7])
    assert bundle.collection.ids.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert bundle.delete([1]).add(X[:1]).collection.ids.tolist() == [
        0,
        2,
        3,
        4,
        5,
        6,
        7,
    ]


@pytest.mark.parametrize("home", HOMES)
def test_mistakes_lose_nothing(tmp_path, home):
    bundle = built(range(5), home, tmp_path)
    before = content(bundle)
    wrong = [
        (lambda: bundle.add(table([1]), vectors="v"), "item with id 3 already"),
        (lambda: bundle.upsert(X[:1], ids=[99]), "no column 'year'"),
        (lambda: bundle.add(table([9], "texts"), vectors="v"), "ids must be integer"),
        (lambda: bundle.upsert(X[:1], columns={"year": [1]}), "give the ids"),
        (lambda: bundle.add(X[:1], columns={"year": [1]}), "give the ids"),
        (lambda: bundle.delete([1]), "no item with id 1"),
        (lambda: bundle.delete(["a"]), "are whole numbers"),
        (lambda: bundle.delete(), "needs ids or a filter"),
        (lambda: bundle.delete(filter="day = 1"), "day"),
        (lambda: bundle.add(X[:1, :3], columns={"year": [1]}, ids=[99]), "features"),
    ]
    for call, message in wrong:
        with pytest.raises((ArgumentError, ValueError), match=message):
            call()
        assert content(bundle.snapshot()) == before
    texts = table([9]).set_column(2, "year", pa.array(["1999"]))
    with pytest.raises(ArgumentError, match=r"'year' must be integer \(int64\)"):
        bundle.add(texts, vectors="v")
    with pytest.warns(UserWarning, match="left out 'more'"):
        bundle.add(table([9]).append_column("more", pa.array([1])), vectors="v")


@pytest.mark.parametrize("home", HOMES)
def test_a_column_that_was_null_throughout_can_be_given_a_type(tmp_path, home):
    bundle = Bundle(ENCODER).with_items(X[:3], columns={"note": [None] * 3})
    bundle = at_home(bundle, home, tmp_path)
    bundle = bundle.add(X[3:4], columns={"note": [None]})
    wanted = r"'note' was null in each row .* no text .*pyarrow.nulls\(4, 'string'"
    with pytest.raises(ArgumentError, match=wanted):
        bundle.add(X[4:5], columns={"note": ["a"]})
    with pytest.raises(ArgumentError, match=r"build the collection anew$"):
        bundle.add(X[4:5], columns={"note": pa.array([["a", "b"]])})
    typed = bundle.with_column("note", pa.nulls(4, "string"))
    typed = at_home(typed, home, tmp_path).add(X[4:5], columns={"note": ["a"]})
    assert typed.collection.column("note").tolist() == [None] * 4 + ["a"]


def test_a_new_column_has_a_name_of_its_own(tmp_path):
    bundle = built(range(5), "memory", tmp_path)
    bundle = replace(bundle, metadata=replace(bundle.metadata, id_column="sku"))
    for name in ("", 3, None):
        with pytest.raises(ArgumentError, match="a column needs a name, a string; got"):
            bundle.with_column(name, range(5))
    for name in ("sku", "_id"):
        with pytest.raises(ArgumentError, match=f"'{name}'.* the (ids|collection)"):
            bundle.with_column(name, range(5))


def test_rows_without_a_column_that_was_added_later(tmp_path):
    bundle = built(range(5), "folder", tmp_path)
    items = bundle.collection.with_column("flag", [True] * 5)
    replace(bundle, items=items).save(tmp_path / "b")
    del bundle, items
    with pytest.warns(UserWarning, match="no column 'flag': they get null there"):
        Bundle.load(tmp_path / "b").add(table([9]), vectors="v")
    found = Bundle.load(tmp_path / "b").collection
    assert found.column("flag").tolist() == [True] * 5 + [None]
    assert found.column("year").tolist()[-1] is not None
    with pytest.raises(ArgumentError, match="no column 'flag'"):
        Bundle.load(tmp_path / "b").upsert(table([9]), vectors="v")


def test_a_bundle_stays_as_it_was_loaded(tmp_path):
    first = built(range(5), "folder", tmp_path)
    second = Bundle.load(tmp_path / "b").add(table([7]), vectors="v")
    assert len(first.collection), len(second.collection) == (5, 6)
    assert first.search(X[7:8], 1).ids[0, 0] != 21
    assert first.snapshot().search(X[7:8], 1).ids[0, 0] == 21
    third = first.delete([0])  # based on the newest, not on what it was loaded as
    assert third.collection.ids.tolist() == [3, 6, 9, 12, 21]
    assert len(pickle.loads(pickle.dumps(first)).collection) == 5


def test_processes_add_to_one_folder(tmp_path):
    built(range(4), "folder", tmp_path)
    code = (
        "import sys, numpy as np; from fewbits.bundle import Bundle\n"
        "folder, first = sys.argv[1], int(sys.argv[2])\n"
        "for i in range(3):\n"
        "    b = Bundle.load(folder)\n"
        "    X = np.ones((1, 8), np.float32)\n"
        "    b.add(X, ids=[first + i], columns={'year': [0]})\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "b")]
    running = [subprocess.Popen([*command, str(1000 * n)]) for n in (1, 2, 3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    ids = Bundle.load(tmp_path / "b").collection.ids.tolist()
    assert ids[:4] == [0, 3, 6, 9]
    assert sorted(ids[4:]) == [1000 * n + i for n in (1, 2, 3) for i in range(3)]


def test_another_encoder_takes_over(tmp_path):
    old = built(range(9), "folder", tmp_path, keep_vectors="float32").delete([3])
    new = Bundle(LinearEncoder(-np.eye(8)[:, :5], np.zeros(5)))
    new.reencode(old).save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    assert loaded.collection.ids.tolist() == old.collection.ids.tolist()
    rows = [row for row in range(9) if row != 1]
    np.testing.assert_array_equal(loaded.collection.codes, new.encoder.encode(X[rows]))
    with pytest.raises(ArgumentError, match="load it again"):
        old.snapshot()
