"""Rows that come, go and change, in memory and in a folder, against a dictionary."""

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewbits
from fewbits import Collection, backbones
from fewbits.backbones import Backbone
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, LockedError
from fewbits.inputs import read
from fewbits.store import Store
from tests.store._sizes import NIGHTLY, small_segments

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

N = 60
ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
X = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)
FORMS = [None, "float16", "float32", "int8"]


def table(rows, kind="texts"):
    """Return rows of vectors; all columns follow from the number of the vector."""
    rows = np.asarray(rows, np.int64)
    ids = 3 * rows if kind == "numbers" else [f"item-{row}" for row in rows]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[rows].ravel()), 8)
    return pa.table(
        {
            "sku": pa.array(ids, pa.int64() if kind == "numbers" else pa.string()),
            "v": vectors,
            "year": rows,
            "group": pa.array([f"g{row % 5}" for row in rows], pa.string()),
            "label": (X[rows, 0] > 0).astype(np.int64),
        }
    )


def made(rows, form="float32", kind="texts", path=None):
    return Collection.create(
        path,
        table(rows, kind),
        column="v",
        id="sku",
        encoder=ENCODER,
        keep_vectors=form,
    )


def name_of(row, kind):
    return 3 * row if kind == "numbers" else f"item-{row}"


def check(col, rows, kind):
    """Compare a collection with the numbers of its vectors, in order."""
    n, ids = len(rows), [name_of(row, kind) for row in rows]
    assert (len(col), [*col], col.ids.tolist()) == (n, ids, ids)
    assert col.column("year").tolist() == rows
    np.testing.assert_array_equal(col.codes, ENCODER.encode(X[rows]).reshape(n, 1))
    np.testing.assert_array_equal(col.vectors, X[rows].reshape(n, 8))
    assert tools.positions_of(col, ids).tolist() == [*range(n)]
    assert all(id in col for id in ids)
    apart = ((X[rows] > 0) != (X[:1] > 0)).sum(axis=1)
    order = np.argsort(apart, kind="stable")
    hits = col.search(X[:1], max(n, 1), rerank=False)
    assert [hit.id for hit in hits[0]] == [ids[i] for i in order]
    assert [hit.distance for hit in hits[0]] == apart[order].tolist()
    if n:
        assert col.search(X[rows[:1]], 1).distances[0, 0] == 0
        assert col[ids[-1]]["year"] == rows[-1]
    between = ((X[rows][:, None] > 0) != (X[rows] > 0)).sum(axis=2)
    pairs = [[ids[i], ids[j]] for i, j in np.argwhere(np.triu(between <= 1, 1))]
    assert [pair["ids"] for pair in col.duplicates(1).to_list()] == pairs


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "upsert", "delete", "filter", "compact", "open"]),
        st.lists(st.integers(0, N - 1), unique=True, max_size=9),
    ),
    max_size=9,
)


@pytest.mark.parametrize("kind", ["numbers", "texts"])
@settings(max_examples=100 if NIGHTLY else 12)
@given(steps=STEPS, small=st.booleans())
def test_any_changes(home, kind, steps, small):
    with pytest.MonkeyPatch.context() as monkeypatch:
        if small:
            small_segments(monkeypatch)
        col, rows = home(made([0, 1, 2], kind=kind)), [0, 1, 2]
        for step, some in steps:
            there = [row for row in some if row in rows]
            new = [row for row in some if row not in rows]
            before = col.version
            if step == "add" and new:
                assert col.add(table(new, kind)) == len(new)
                rows += new
            elif step == "upsert" and some:
                assert col.upsert(table(some, kind)) == len(some)
                rows = [row for row in rows if row not in some] + some
            elif step == "delete":
                names = [name_of(row, kind) for row in there]
                assert col.delete(names) == len(there)
                rows = [row for row in rows if row not in there]
            elif step == "filter":
                limit = some[0] if some else 0
                n_deleted = sum(row < limit for row in rows)
                assert col.delete(filter=f"year < {limit}") == n_deleted
                rows = [row for row in rows if row >= limit]
            elif step == "compact":
                col.compact()
            elif step == "open" and col.path is not None:
                col = Collection.open(col.path)
            assert col.version >= before
            check(col, rows, kind)


# Everything that answers from rows, after changes, against a collection made anew.


def answers(col, allowed):
    """Return what a collection answers, as plain values."""
    Q, ids = X[-3:], col.ids
    chosen, first = ids[allowed], [ids[0], ids[-1]]
    hits = [
        col.search(Q, 4, **options)
        for options in (
            {"filter": "label = 1"},
            {"filter": "bit(2) = 1 and \"group\" <> 'g1'"},
            {"filter": "sku <> 'item-3'", "rerank": False},
            {"allowed": allowed},
            {"allowed": chosen, "rerank": True},
            {"allowed": allowed, "filter": "label = 0", "rerank": False},
            {"group_by": "group"},
            {"group_by": "label", "rerank": True, "allowed": allowed},
            {"group_by": "group", "rerank": False},
            {"radius": 3, "allowed": allowed},
        )
    ]
    hits += [
        col.search(ids=first, k=4),
        col.search(ids=first, radius=2),
        col.like(good_ids=first, k=5, n_random=20),
        col.like(X[:1] + 9, bad_ids=first[:1], k=5, n_random=20, allowed=allowed),
        col.prefix(5).search(Q, 4),
    ]
    groups = col.duplicates(1, allowed=allowed).groups()
    others = [
        groups.ids.tolist(),
        groups.offsets.tolist(),
        groups.positions.tolist(),
        [*groups.records()],
        col.duplicates(2).to_list(),
        col.classify(Q, label="label", k=3).to_list(),
        col.classify(ids=first, label="label", k=3).to_list(),
        col.classify(Q, label="label", linear=True).to_list(),
        col.to_arrow(filter="label = 1").to_pylist(),
        col.get(first),
        tools.take(col, np.array([1, 0, 1]), codes=True).to_pylist(),
        col.labels("label").tolist(),
    ]
    return [{**some.to_dict(), "version": None} for some in hits], others


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20 if NIGHTLY else 2)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["upsert", "delete"]),
            st.lists(st.integers(0, N - 1), unique=True, min_size=1, max_size=15),
        ),
        min_size=3,
        max_size=6,
    ),
    seed=st.integers(0, 99),
)
def test_as_a_collection_made_anew(home, form, steps, seed):
    with pytest.MonkeyPatch.context() as monkeypatch:
        small_segments(monkeypatch)
        col, rows = home(made(range(20), form)), [*range(20)]
        for kind, chosen in steps:
            if kind == "upsert":
                col.upsert(table(chosen))
                rows = [row for row in rows if row not in chosen] + chosen
            elif set(chosen) < set(rows):
                col.delete([f"item-{row}" for row in chosen])
                rows = [row for row in rows if row not in chosen]
        allowed = np.random.default_rng(seed).random(len(rows)) < 0.6
        allowed[0] = True
        expected = answers(made(rows, form), allowed)
        assert answers(col, allowed) == expected
        copy = home(col)
        assert answers(copy, allowed) == expected
        col.compact()
        assert answers(col, allowed) == expected


# Adding.


def test_numbered_rows_count_on(home):
    col = home(Collection.create(None, X[:4], encoder=ENCODER))
    assert (col.add(X[4:6]), col.add(X[6:7])) == (2, 1)
    assert col.ids.tolist() == [0, 1, 2, 3, 4, 5, 6]
    col.delete([1, 6])
    col.add(X[:1])
    assert col.ids.tolist() == [0, 2, 3, 4, 5, 7]
    full = home(Collection.create(None, X[:2], encoder=ENCODER, ids=[0, 2**63 - 1]))
    with pytest.raises(ArgumentError, match="row ids are exhausted"):
        full.add(X[2:3])


def test_a_number_is_given_once(home, tmp_path):
    col = home(Collection.create(None, X[:4], encoder=ENCODER, keep_vectors="float32"))
    col.delete([2, 3])
    col.add(X[4:5])
    assert col.ids.tolist() == [0, 1, 4]
    col.delete([4])
    col.compact()
    col.update(None, ids=[0, 1], columns={"new": [1, 2]})
    shorter = col.prefix(4)
    col.reencode(ENCODER)
    col.save(tmp_path / "c")
    saved = Collection.open(tmp_path / "c")
    for some in (col, saved, pickle.loads(pickle.dumps(col)), shorter):
        some.add(X[5:6], columns={"new": [3]})
        assert some.ids.tolist()[:3] == [0, 1, 5]
    saved.delete([0, 1, 5])
    saved.save(tmp_path / "d")
    again = Collection.open(tmp_path / "d")
    again.add(X[5:6], columns={"new": [3]})
    assert again.ids.tolist() == [6]


FILES = ["dict", "dicts", "pandas", "csv", "reader", "input"]


@pytest.mark.parametrize("form", FILES)
def test_later_rows_come_in_any_form(home, tmp_path, form):
    """Names of columns are those that the collection has; CSV keeps texts as such."""
    rows = {"sku": ["7", "08"], "v": [[1.0] * 8, [-1.0] * 8], "zip": ["01234", "999"]}
    first = {"sku": ["a"], "v": [[0.5] * 8], "zip": ["x"]}
    col = home(Collection.create(None, first, column="v", id="sku", encoder=ENCODER))
    frame = pd.DataFrame(rows)
    if form == "csv":
        frame["v"] = frame["v"].map(str)
        frame.to_csv(tmp_path / "t.csv", index=False)
    data = {
        "dict": rows,
        "dicts": frame.to_dict("records"),
        "pandas": frame,
        "csv": tmp_path / "t.csv",
        "reader": pa.table(rows).to_reader(),
        "input": None if form == "csv" else read(frame, column="v", id="sku"),
    }[form]
    for change in (col.add, col.upsert):
        data = pa.table(rows).to_reader() if form == "reader" else data
        assert change(data) == 2
        assert col.ids.tolist() == ["a", "7", "08"]
        assert col.column("zip").tolist() == ["x", "01234", "999"]


@pytest.mark.parametrize("change", ["add", "upsert"])
def test_mistakes_lose_nothing(home, change):
    col = home(made(range(5), kind="numbers"))
    before, version = col.to_arrow(), col.version
    one = {"year": [1], "group": ["g"], "label": [0]}
    texts = table([9]).set_column(2, "year", pa.array(["1999"]))
    nan = np.full((1, 8), np.nan)
    wrong = [
        (lambda: col.upsert(X[:1], ids=[99]), "no columns 'year', 'group', 'label'"),
        (
            lambda: col.add(table([9], "texts")),
            "ids must be|ids of this collection are",
        ),
        (lambda: col.upsert(X[:1], columns=one), "give the ids"),
        (lambda: col.add(X[:1], columns=one), "give the ids"),
        (lambda: col.add(X[:1], columns=one, ids=["a"]), "ids"),
        (lambda: col.add(X[:1, :3], columns=one, ids=[99]), "features"),
        (lambda: col.add(nan, columns=one, ids=[99]), "finite|NaN"),
        (lambda: col.add(X[:2], columns=one, ids=[98, 99]), "2 items, but 1 entries"),
        (lambda: col.add(X[:2], ids=[99, 99]), "holds 99 in 2 rows"),
        (lambda: col.add(X[:1], ids=[99], columns=one, timeout=-1), "timeout must be"),
        (lambda: col.add(["a text"], ids=[99], columns=one), "."),
        (lambda: col.add(table([9], "numbers"), column="w"), "no column 'w'"),
        (lambda: col.add("none.csv"), "none.csv"),
        (lambda: col.add(texts, id="label"), "sku|year|ids"),
        (lambda: col.delete([1]), "no item with id 1"),
        (lambda: col.delete([0, 1]), "no item with id 1"),
        (lambda: col.delete(["a"]), "are whole numbers"),
        (lambda: col.delete(), "needs ids or a filter"),
        (lambda: col.delete(filter="day = 1"), "day"),
        (lambda: col.delete(0), "list of whole numbers"),
    ]
    if change == "add":
        wrong.append((lambda: col.add(table([1], "numbers")), "id 3 already"))
    for call, message in wrong:
        with pytest.raises((FewbitsError, FileNotFoundError), match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert (col.version, col.to_arrow()) == (version, before)
    assert home(col).to_arrow() == before


def test_columns_that_rows_lack_or_have_beside(home):
    col = home(made(range(5)))
    with pytest.warns(UserWarning, match="left out 'more'"):
        col.add(table([9]).append_column("more", pa.array([1])))
    with pytest.warns(UserWarning, match="no column 'group': they get null there"):
        col.add(table([10]).drop_columns("group"))
    assert col.column("group").tolist()[-2:] == ["g4", None]
    assert col.columns == ["year", "group", "label"]
    with pytest.raises(ArgumentError, match=r"no column .*whole rows"):
        col.upsert(table([9]).drop_columns("group"))
    with pytest.raises(ArgumentError, match=r"no columns .*whole rows"):
        col.upsert(table([9]).drop_columns(["group", "year"]))


CASTS = [
    ([1, 2], [None, None], [None, None]),
    ([1.0, 2.0], np.array([np.nan, 1], np.float32), [np.nan, 1.0]),
    ([1.0, 2.0], [3, 4], [3.0, 4.0]),
    (["a", "b"], pd.Series(["c", None], dtype="category"), ["c", None]),
    (pd.Series(["a", "b"], dtype="category"), ["c", "a"], ["c", "a"]),
    (pd.Series(["a", "b"], dtype="category"), [None, None], [None, None]),
    ([[1], []], [None, [2, None]], [None, [2, None]]),
]
REFUSED = [
    ([1, 2], [True, False]),
    ([True, False], [1, 0]),
    ([1, 2], [1.5, 2.0]),
    (["1", "2"], [1, 2]),
    ([1, 2], ["1", "2"]),
    (pa.array([1, 2], pa.int8()), [1, 300]),
]


@pytest.mark.parametrize(("first", "then", "expected"), CASTS)
def test_columns_become_those_of_the_collection(home, first, then, expected):
    col = home(Collection.create(None, X[:2], encoder=ENCODER, columns={"c": first}))
    col.add(X[2:4], columns={"c": then})
    assert repr(col.column("c")[2:].tolist()) == repr(expected)  # NaN, too
    col.update(None, ids=[0, 1], columns={"c": then})
    assert repr(col.column("c")[:2].tolist()) == repr(expected)


@pytest.mark.parametrize(("first", "then"), REFUSED)
def test_values_never_become_others(home, first, then):
    col = home(Collection.create(None, X[:2], encoder=ENCODER, columns={"c": first}))
    for change in (
        lambda: col.add(X[2:4], columns={"c": then}),
        lambda: col.upsert(X[2:4], ids=[0, 1], columns={"c": then}),
        lambda: col.update(None, ids=[0, 1], columns={"c": then}),
    ):
        with pytest.raises(ArgumentError, match="column 'c' must be"):
            change()
    assert len(col) == 2


def test_more_categories_than_a_byte_holds(home):
    def names(n):
        return pd.Series([f"{n}-{i}" for i in range(N)], dtype="category")

    col = home(Collection.create(None, X, encoder=ENCODER, columns={"c": names(0)}))
    for n in range(1, 5):
        col.add(X, columns={"c": names(n)})
    col.compact()
    hits = col.search(X[:1], 5, group_by="c")
    assert [hit["c"] for hit in hits[0]] == [f"{n}-0" for n in range(5)]


def test_a_column_of_nulls_takes_the_type_of_its_first_values(home):
    columns = {"note": [None] * 3, "n": [None] * 3}
    col = home(Collection.create(None, X[:3], encoder=ENCODER, columns=columns))
    col.add(X[3:4], columns={"note": [None], "n": [None]})
    col.add(X[4:5], columns={"note": ["a"], "n": [None]})
    assert col.schema.field("note").type == pa.string()
    with pytest.raises(ArgumentError, match="'note' must be text"):
        col.add(X[5:6], columns={"note": [1], "n": [None]})
    col.update(None, ids=[1], columns={"n": [7]})
    col.upsert(X[:1], ids=[2], columns={"note": ["b"], "n": [8]})
    assert col.column("note").tolist() == [None, None, None, "a", "b"]
    assert col.column("n").tolist() == [None, 7, None, None, 8]


# Deleting.


def test_the_count_is_that_of_one_call(home):
    col = home(made(range(5)))
    assert col.delete(filter="year <= 2") == 3
    assert col.delete(["item-4", "item-4"]) == 1
    assert col.delete(filter="year < 0") == 0
    assert len(col) == 1


def test_ids_and_a_condition_together(home):
    for kind in ("texts", "numbers"):
        col = home(made(range(8), kind=kind))
        ids = [name_of(row, kind) for row in (1, 2, 5, 6)]
        assert col.delete(ids, filter="year < 5") == 2
        assert col.column("year").tolist() == [0, 3, 4, 5, 6, 7]
        unknown = [name_of(50, kind), name_of(6, kind)]
        with pytest.raises(ArgumentError, match="no item with id"):
            col.delete(unknown, filter="year > 0")
        assert col.delete(unknown, filter="year > 0", missing_ok=True) == 1
        assert col.delete(unknown, missing_ok=True) == 0
        assert col.delete([], filter="year > 0") == 0
        assert col.delete([]) == 0
        assert len(col) == 5


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_go_and_others_come(home, form):
    col = home(made(range(4), form))
    col.delete(list(col))
    assert len(col) == 0
    for options in ({}, {"group_by": "group"}, {"radius": 3}, {"filter": "year > 1"}):
        assert col.search(X[:1], **options).to_list() == [[]]
    assert col.duplicates(8).to_list() == []
    assert len(col.duplicates(8).groups()) == 0
    assert col.to_arrow().num_rows == 0
    assert col.column("year").tolist() == []
    with pytest.raises(ArgumentError, match="no item with id 'item-1'"):
        col.delete(["item-1"])
    assert col.upsert(table([5, 1])) == 2
    assert col.add(table([6])) == 1
    hits = col.search(X[[1, 5]], 1, rerank=True)
    assert hits.ids.tolist() == [["item-1"], ["item-5"]]
    assert home(col).ids.tolist() == ["item-5", "item-1", "item-6"]


# Changing columns.


def test_columns_change_and_codes_and_order_stay(home):
    for kind in ("texts", "numbers"):
        col = home(made(range(9), kind=kind))
        col.delete([name_of(4, kind)])
        codes, ids = col.codes.copy(), col.ids.tolist()
        some = [name_of(row, kind) for row in (7, 0)]
        frame = {"sku": some, "year": [70, 0], "group": [None, "new"]}
        assert col.update(frame) == 2
        assert col.column("year").tolist() == [0, 1, 2, 3, 5, 6, 70, 8]
        assert col.column("group").tolist()[6] is None
        assert col.update(None, ids=some[:1], columns={"flag": [True]}) == 1
        assert col.column("flag").tolist() == [None] * 6 + [True, None]
        assert col.columns[-1] == "flag"
        assert col.update(pa.table(frame), columns=["year"]) == 2
        np.testing.assert_array_equal(col.codes, codes)
        assert col.ids.tolist() == ids
        np.testing.assert_array_equal(col.vectors, X[[0, 1, 2, 3, 5, 6, 7, 8]])
        hits = col.search(X[7:8], 1, filter="flag")
        assert [hit.id for hit in hits[0]] == some[:1]
        more = table([30], kind)
        with pytest.warns(UserWarning, match="no column 'flag'"):
            col.add(more)
        assert col.column("flag").tolist()[-1] is None
        assert home(col).to_arrow() == col.to_arrow()


def test_mistakes_of_updates_lose_nothing(home):
    col = home(made(range(5)))
    before = col.to_arrow()
    wrong = [
        (
            lambda: col.update({"sku": ["other"], "year": [1]}),
            "no item with id 'other'",
        ),
        (lambda: col.update({"sku": ["item-1"] * 2, "year": [1, 2]}), "in 2 rows"),
        (lambda: col.update({"sku": ["item-1"], "year": ["x"]}), "'year' must be"),
        (lambda: col.update({"year": [1]}), "no column 'sku'"),
        (lambda: col.update({"sku": ["item-1"], "year": [1]}, columns=["x"]), "'x'"),
        (lambda: col.update(None, ids=["item-1"]), "mapping"),
        (lambda: col.update(None, columns={"year": [1]}), "ids="),
        (lambda: col.update(X[:1]), "takes a table"),
        (lambda: col.update("none.csv"), "none.csv"),
        (
            lambda: col.update(None, ids=["item-1"], columns={"year": []}),
            "1 ids, but 0",
        ),
        (lambda: col.update(None, ids=["item-1"], columns={"year": 1}), "list.*got 1"),
        (lambda: col.update(None, ids=["item-1"], columns={"year": "x"}), "got 'x'"),
        (lambda: col.add(x for x in X), "not a generator"),
        (lambda: col.update(None, ids=[3], columns={"year": [1]}), "are texts, got 3"),
        (lambda: col.update(None, ids=["item-1"], columns={"sku": ["x"]}), "ids stay"),
        (
            lambda: col.update(None, ids=["item-1"], columns={"_id": ["x"]}),
            "ids stay|_id",
        ),
        (lambda: col.update(None, ids=["item-1"], columns={"_code": ["x"]}), "_code"),
        (lambda: col.update(None, ids=["item-1"], columns={"": [1]}), "name"),
        (lambda: col.update(None, ids=["item-1"], columns={3: [1]}), "name"),
    ]
    for call, message in wrong:
        with pytest.raises((ArgumentError, FileNotFoundError), match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert col.to_arrow() == before


def test_changes_of_columns_come_from_a_file(home, tmp_path):
    rows = {"sku": ["7", "08"], "v": [[1.0] * 8, [-1.0] * 8], "zip": ["a", "b"]}
    col = home(Collection.create(None, rows, column="v", id="sku", encoder=ENCODER))
    (tmp_path / "t.csv").write_text("sku,zip,year\n08,01234,2020\n7,9,2021\n")
    assert col.update(tmp_path / "t.csv") == 2
    assert col.to_arrow().to_pylist() == [
        {"sku": "7", "zip": "9", "year": 2021},
        {"sku": "08", "zip": "01234", "year": 2020},
    ]


def test_what_codes_were_made_of_is_not_changed_alone():
    pytest.importorskip("wordllama")
    col = Collection.create(None, ["a cat", "a dog"], bits=16)
    with pytest.raises(ArgumentError, match="'text' is what the codes were made of"):
        col.update(None, ids=[0], columns={"text": ["a horse"]})
    assert col.upsert(["a horse"], ids=[0]) == 1
    assert col[0] == {"text": "a horse"}


# Another encoder.


@pytest.mark.parametrize("form", FORMS)
def test_another_encoder_takes_over(home, form):
    col = home(made(range(9), form))
    col.delete(["item-3"])
    other = LinearEncoder(-np.eye(8)[:, :5], np.zeros(5))
    if form is None:
        with pytest.raises(ArgumentError, match="keeps no vectors to encode"):
            col.reencode(other)
        return
    before, vectors, done = col.to_arrow(), col.vectors, []
    version = col.version
    col.reencode(other, progress=lambda *so_far: done.append(so_far))
    assert done == [(8, 8)]
    assert col.version > version
    assert col.to_arrow() == before
    np.testing.assert_array_equal(col.vectors, vectors)
    np.testing.assert_array_equal(col.codes, other.encode(vectors))
    assert col.search(X[:1], 1).ids.tolist() == [["item-0"]]
    assert col.path is None or tools.unused_files(col.path) == {}
    assert col.upsert(table([3, 0])) == 2
    assert home(col).ids.tolist()[-2:] == ["item-3", "item-0"]


def test_an_empty_collection_is_encoded_anew(home):
    col = home(made(range(2)))
    col.delete(list(col))
    col.reencode(LinearEncoder(-np.eye(8)[:, :5], np.zeros(5)))
    assert (len(col), col.encoder.n_bits) == (0, 5)
    assert col.add(table([1])) == 1


class Lengths(Backbone):
    """Numbers of letters, "e" and words, times a factor that the fingerprint tells."""

    kind = "texts"
    n_features = 3

    def __init__(self, factor=1):
        self.id, self.factor = f"lengths-{factor}", factor

    @property
    def fingerprint(self):
        return f"counted {self.factor} times"

    def extract(self, items, *, progress=None):
        counts = [(len(text), text.count("e"), len(text.split())) for text in items]
        return self.factor * np.array(counts, np.float32)


TEXTS = ["a", "an owl", "one more", "letters without end"]


@pytest.fixture
def known(monkeypatch):
    """Backbones of this machine by name."""
    names = {"lengths": Lengths(), "renamed": Lengths(), "other": Lengths(-1)}
    monkeypatch.setattr(backbones, "load", names.__getitem__)
    return names


@pytest.fixture
def by_lengths(known, tmp_path):
    encoder = LinearEncoder(np.eye(3), np.array([-2.5, -1.5, -2.5]))
    return Collection.create(
        tmp_path / "c",
        TEXTS,
        ids=[5, 3, 9, 1],
        encoder=encoder,
        backbone="lengths",
        keep_vectors="float32",
    )


def test_a_swapped_backbone_is_refused(by_lengths, known):
    known["lengths"] = Lengths(-1)
    col = Collection.open(by_lengths.path)
    for call in (
        lambda: col.add(["an eel"], ids=[7]),
        lambda: col.upsert(["an eel"], ids=[5]),
        lambda: col.encode(["an eel"]),
        lambda: col.features(["an eel"]),
        lambda: col.search(["an eel"]),
        lambda: col.like(["an eel"]),
        lambda: col.classify(["an eel"], label="text"),
    ):
        with pytest.raises(ArtefactError, match="another version of lengths: finger"):
            call()
    assert Collection.open(by_lengths.path).ids.tolist() == [5, 3, 9, 1]


def test_vectors_are_encoded_for_the_backbone_that_made_them(by_lengths, known):
    better = LinearEncoder(-np.eye(3)[:, :2], np.zeros(2))
    for name in ("other", None):
        schema = pa.schema([])
        other = Collection.create(None, schema=schema, encoder=better, backbone=name)
        told = r"lengths \(counted 1 ti\); the encoder takes those of"
        with pytest.raises(ArgumentError, match=told):
            by_lengths.reencode(other)
    renamed = Collection.create(
        None, schema=pa.schema([]), encoder=better, backbone="renamed"
    )
    by_lengths.reencode(renamed)  # by another name, but the same one
    assert (by_lengths.backbone, by_lengths.ids.tolist()) == ("renamed", [5, 3, 9, 1])
    np.testing.assert_array_equal(
        by_lengths.codes, better.encode(Lengths().extract(TEXTS))
    )
    assert by_lengths.search(TEXTS, 1).ids.ravel().tolist() == [5, 3, 9, 1]


# Other handles, threads and processes.


@pytest.fixture
def folder(tmp_path):
    return made(range(5), path=tmp_path / "c").path


def add_one(folder):
    Collection.open(folder).add(table([50]))


CHANGES = {
    "add": lambda col: col.add(table([7])),
    "upsert": lambda col: col.upsert(table([0, 8])),
    "delete": lambda col: col.delete(["item-1"]),
    "filter": lambda col: col.delete(filter="year = 4"),
    "update": lambda col: col.update(None, ids=["item-0"], columns={"year": [9]}),
    "column": lambda col: col.update(None, ids=["item-0"], columns={"more": [9]}),
    "compact": lambda col: col.compact(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_made_to_the_newest_version(folder, change):
    col = Collection.open(folder)
    add_one(folder)
    CHANGES[change](col)
    expected = made([0, 1, 2, 3, 4, 50])
    CHANGES[change](expected)
    for one in (col, Collection.open(folder)):
        assert one.to_arrow() == expected.to_arrow()
        assert "item-50" in one


@pytest.mark.parametrize("change", [*CHANGES, "reencode"])
def test_no_change_reaches_rows_that_were_replaced(folder, change):
    col = Collection.open(folder)
    change_of = CHANGES.get(change, lambda col: col.reencode(ENCODER))
    Collection.open(folder).reencode(LinearEncoder(-np.eye(8), np.zeros(8)))
    with pytest.raises(ArgumentError, match=r"refresh\(\)"):
        change_of(col)
    assert col.search(X[:1], 1).ids.tolist() == [["item-0"]]  # it still answers
    assert col.refresh()
    assert not col.refresh()
    change_of(col)


def test_reencode_loses_nothing_that_others_wrote(folder):
    col = Collection.open(folder)
    add_one(folder)
    with pytest.raises(ArgumentError, match=r"changed by others"):
        col.reencode(LinearEncoder(-np.eye(8), np.zeros(8)))
    col.refresh()
    col.reencode(LinearEncoder(-np.eye(8), np.zeros(8)))
    assert Collection.open(folder).ids.tolist()[-1] == "item-50"


def test_two_are_first_to_add(tmp_path):
    fewbits.fit(X, learner="lsh", bits=8).save(tmp_path / "c")
    one, other = Collection.open(tmp_path / "c"), Collection.open(tmp_path / "c")
    assert (one.add(X[:2]), other.add(X[2:5])) == (2, 3)
    for col in (other, Collection.open(tmp_path / "c")):
        assert col.ids.tolist() == [0, 1, 2, 3, 4]
    assert one.refresh()
    assert len(one) == 5


def test_another_working_directory(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    col = Collection.open("c")
    monkeypatch.chdir(os.sep)
    assert col.search(X[3:4], 1).ids.tolist() == [["item-3"]]
    assert col.delete(["item-3"]) == 1
    assert col.refresh() is False
    col.reencode(LinearEncoder(-np.eye(8), np.zeros(8)))
    assert len(Collection.open(folder)) == 4


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


@pytest.mark.parametrize("shared", [False, True])
def test_eight_add_at_the_same_time(home, shared):
    col = home(made(range(5)))

    def adds(row):
        one = col if shared or col.path is None else Collection.open(col.path)
        one.add(table([row]))

    assert not in_threads([lambda row=row: adds(row) for row in range(20, 28)])
    col.refresh()
    assert sorted(col.column("year")) == [*range(5), *range(20, 28)]


def test_saves_and_opens_at_the_same_time(folder):
    def saves(seed):
        for n in range(4):
            encoder = LinearEncoder((seed + n) * np.eye(8), np.zeros(8))
            col = Collection.create(None, X[:9], encoder=encoder)
            col.save(folder, overwrite=True)

    def opens():
        for _ in range(20):
            Collection.open(folder).search(X[:1], 1)

    # A lock belongs to an open file: threads wait as processes do.
    assert not in_threads([lambda: saves(10), lambda: saves(20), opens, opens])
    assert Collection.verify_folder(folder).n_rows == 9
    Collection.open(folder).compact()  # removes what was read meanwhile
    assert sum(path.is_dir() for path in folder.iterdir()) == 1
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


ADDS = """
import sys
import numpy as np
from fewbits import Collection
folder, first = sys.argv[1], int(sys.argv[2])
for i in range(3):
    col = Collection.open(folder)
    columns = {"year": [0], "group": ["g"], "label": [1]}
    col.add(np.ones((1, 8), np.float32), ids=[f"n{first + i}"], columns=columns)
    col.delete([f"item-{first // 1000}"], missing_ok=True)
"""


def test_processes_change_one_folder(folder):
    command = [sys.executable, "-c", ADDS, str(folder)]
    running = [subprocess.Popen([*command, str(1000 * n)]) for n in (1, 2)]
    assert [process.wait() for process in running] == [0, 0]
    ids = Collection.open(folder).ids.tolist()
    assert ids[:3] == ["item-0", "item-3", "item-4"]
    assert sorted(ids[3:]) == [f"n{1000 * n + i}" for n in (1, 2) for i in range(3)]
    assert Collection.verify_folder(folder).is_intact


def test_who_does_not_wait_is_told(folder):
    col = Collection.open(folder)
    (rows,) = folder.glob("rows-*")
    with Store(rows).writer():
        for change in (
            lambda: col.delete(["item-1"], timeout=0),
            lambda: col.add(table([9]), timeout=0.01),
            lambda: col.update({"sku": ["item-1"], "year": [1]}, timeout=0),
            lambda: col.compact(timeout=0),
        ):
            with pytest.raises(LockedError, match=f"process {os.getpid()}"):
                change()
        assert col.search(X[1:2], 1).ids.tolist() == [["item-1"]]
    for wrong in (-1, float("nan"), "1", True):
        for change, arguments in (
            (col.delete, [["item-1"]]),
            (col.add, [table([9])]),
            (col.update, [{"sku": ["item-1"], "year": [1]}]),
            (col.compact, []),
        ):
            with pytest.raises(ArgumentError, match="timeout must be a number"):
                change(*arguments, timeout=wrong)
    assert len(col) == 5


# The disk stays small.


def test_deleted_rows_leave_the_disk(tmp_path):
    n, left = 20_000, 2_000
    rows = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    sizes = []
    for name, some in (("all", rows), ("few", rows[-left:])):
        col = Collection.create(
            tmp_path / name,
            some,
            columns={"year": np.arange(n)[-len(some) :]},
            encoder=ENCODER,
            keep_vectors="float32",
        )
        assert col.delete(filter=f"year < {n - left}") == len(some) - left
        sizes.append(tools.disk_bytes(col))
    assert sizes[0] <= 2 * sizes[1]


def test_many_small_upserts_make_few_files(folder):
    col = Collection.open(folder)
    for n in range(60):
        col.upsert(table([n % 20]))
    assert len(col) == 20
    assert len([path for path in Path(folder).rglob("*") if path.is_file()]) <= 70
    assert col.column("year").tolist() == [*range(20)]


def test_stored_codes_find_themselves(tmp_path):
    rows = np.random.default_rng(0).normal(size=(100_000, 64)).astype(np.float32)
    encoder = LinearEncoder(np.eye(64), np.zeros(64))
    col = Collection.create(tmp_path / "c", rows[:60_000], encoder=encoder)
    col.add(rows[60_000:])
    some = np.arange(0, len(rows), 50)
    hits = Collection.open(tmp_path / "c").search(rows[some], 1)
    assert not hits.distances.any()
    np.testing.assert_array_equal(hits.ids[:, 0], some)


def test_a_collection_that_came_meanwhile_is_not_replaced(tmp_path):
    texts = ["a cat", "two dogs", "my bank", "an arm", "one red hat"]
    path = tmp_path / "c"

    def others_first(done, total):
        if not path.exists():
            Collection.create(path, X[:20], bits=4)

    with pytest.raises(ArtefactError, match="holds a collection already"):
        Collection.create(path, texts, bits=4, progress=others_first)
    assert len(Collection.open(path)) == 20


def test_others_may_add_a_column_first(home):
    here = home(Collection.create(None, X[:9], bits=8))
    other = here if here.path is None else Collection.open(here.path)
    other.update(None, ids=[3], columns={"new": ["x"]})
    with pytest.warns(UserWarning, match="they get null there"):
        here.add(X[9:11])
    assert here.columns == ["new"]
    assert len(here) == 11


def test_versions_are_those_with_rows(home):
    col = home(Collection.create(None, X[:30], bits=8, keep_vectors="float32"))
    first = col.version
    assert col.versions() == [first]
    col.reencode(Collection.create(None, X, bits=16))
    assert first not in col.versions()
    with pytest.raises(ArgumentError, match="is gone"):
        col.at(first)


def test_others_wait_while_rows_are_replaced(tmp_path):
    X, n_calls = np.eye(4, dtype=np.float32), 0
    encoder, another = (LinearEncoder(x * np.eye(4), np.zeros(4)) for x in (1, -1))
    path = tmp_path / "c"
    col = Collection.create(path, X, encoder=encoder, keep_vectors="float32")
    other = Collection.open(path)

    def meanwhile(*_):
        nonlocal n_calls
        n_calls += 1
        for change in (
            lambda: other.delete([0], timeout=0),
            lambda: other.add(X[:1], timeout=0),
        ):
            with pytest.raises(LockedError):
                change()

    col.reencode(another, progress=meanwhile)
    assert n_calls > 0
    assert other.refresh()
    assert other.delete([0]) == 1
    assert col.refresh()
    assert col.ids.tolist() == [1, 2, 3]
