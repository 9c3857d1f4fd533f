"""One table is read alike by every method; columns left out are named."""

import datetime
import json
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.index import FlatIndex, MultiIndexHashing
from fewbits.inputs import read
from fewbits.learners import LSH
from fewbits.training import fit_bundle

X = np.round(np.random.default_rng(0).normal(size=(60, 8)), 2)
TABLE = pa.table({"v": X.tolist(), "year": range(60)})
BUNDLE = Bundle(LSH(16, random_state=0).fit(X).encoder_)
FULL = BUNDLE.with_items(X, keep_vectors="float32")
SKUS = [f"s{i}" for i in range(60)]

DOORS = {
    "learner": lambda items: LSH(16, random_state=0).fit(items).encode(X),
    "fit_bundle": lambda items: fit_bundle(items, method="lsh", n_bits=16).encode(X),
    "encoder": lambda items: BUNDLE.encoder.encode(items),
    "encode": lambda items: BUNDLE.encode(items),
    "with_items": lambda items: BUNDLE.with_items(items).collection.codes,
    "search": lambda items: FULL.search(items, 1).distances + BUNDLE.encode(X),
    "search_reranked": lambda items: (
        FULL.search_reranked(items, 1).distances + BUNDLE.encode(X)
    ),
    "search_records": lambda items: (
        [[hit["distance"] for hit in hits] for hits in FULL.search_records(items, 1)]
        + BUNDLE.encode(X)
    ),
}
SAME = {
    "table": lambda: TABLE,
    "reader": TABLE.to_reader,
    "dataset": lambda: ds.dataset(TABLE),
    "dict of columns": lambda: {"v": X, "year": np.arange(60)},
    "list of dicts": TABLE.to_pylist,
    "pandas": lambda: pd.DataFrame({"v": list(X), "year": range(60)}),
    "input": lambda: read(TABLE, column="v"),
}


@pytest.mark.filterwarnings("ignore:.*left out", "ignore:.*bits")
@pytest.mark.parametrize("form", SAME)
def test_one_table_is_the_same_at_every_door(form):
    for told, door in DOORS.items():
        np.testing.assert_array_equal(
            door(SAME[form]()), BUNDLE.encode(X), err_msg=told
        )


@pytest.mark.filterwarnings("ignore:.*left out")
def test_of_texts_and_vectors_a_bundle_takes_its_kind():
    table = TABLE.append_column("text", pa.array(["a b"] * 60))
    for told in ("encode", "with_items", "search", "search_reranked", "search_records"):
        np.testing.assert_array_equal(DOORS[told](table), BUNDLE.encode(X), told)
    for told in ("learner", "fit_bundle", "encoder"):
        with pytest.raises(FewbitsError, match=r"2 columns of texts or vectors"):
            pytest.fail(f"{told} gave {DOORS[told](table)}")


@pytest.mark.parametrize("form", ["float32", "int8"])
def test_a_shortlist_of_all_items_is_brute_force(form):
    bundle = BUNDLE.with_items(X, keep_vectors=form)
    stored = bundle.collection.some_vectors(np.arange(60)).astype(np.float64)
    queries = np.random.default_rng(1).normal(size=(20, 8))
    apart = ((queries[:, None] - stored) ** 2).sum(axis=2)
    found = bundle.search_reranked(queries, 3, shortlist=60).ids
    np.testing.assert_array_equal(found, np.argsort(apart, axis=1)[:, :3])
    few = bundle.search_reranked(queries, 3, shortlist=60, finalists=3).ids
    scored = BUNDLE.with_items(X).search_reranked(queries, 3, shortlist=60).ids
    np.testing.assert_array_equal(np.sort(few), np.sort(scored))


@pytest.mark.parametrize("kind", [FlatIndex, MultiIndexHashing])
def test_an_index_does_not_follow_its_arrays(kind):
    codes, ids = BUNDLE.encode(X), np.arange(60)
    index = kind(codes, ids)
    before = index.search(codes.copy(), 3)
    queries = codes.copy()
    codes[:], ids[:] = 0, 7
    np.testing.assert_array_equal(index.search(queries, 3).ids, before.ids)


def test_an_index_is_a_view_of_a_memory_map(tmp_path):
    np.save(tmp_path / "codes.npy", BUNDLE.encode(X))
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    assert np.shares_memory(FlatIndex(mapped).codes, mapped)


def test_a_mask_of_other_rows_is_refused():
    frame = pd.DataFrame({"year": range(60)}).sort_values("year", ascending=False)
    with pytest.raises(ArgumentError, match="index of its own"):
        FULL.search(X[:1], allowed=frame["year"] < 3)
    in_order = frame.sort_index()["year"] < 3
    assert set(FULL.search(X[:1], 3, allowed=in_order).ids[0]) == {0, 1, 2}


def test_the_index_of_pandas_gives_ids_or_a_column_or_is_told():
    frame = pd.DataFrame({"sku": SKUS, "v": list(X)}).set_index("sku")
    assert BUNDLE.with_items(frame, vectors="v", id="sku").collection.ids[0] == "s0"
    kept = BUNDLE.with_items(frame, vectors="v").collection
    assert kept.column("sku").tolist() == SKUS
    with pytest.warns(UserWarning, match="left out: 'sku'"):
        read(frame, columns=())
    numbers = pd.DataFrame(X, columns=[*"abcdefgh"])
    for other in (numbers.set_index(pd.Index(SKUS, name="sku")), numbers[::-1]):
        with pytest.warns(UserWarning, match="index of the data frame is left out"):
            BUNDLE.with_items(other)


@pytest.mark.filterwarnings("error")
def test_a_column_that_is_not_asked_for_does_no_harm():
    months = pd.period_range("2020-01", periods=60, freq="M")
    odd = pd.DataFrame({"v": list(X), "sku": SKUS, "month": months})
    odd["object"] = [object()] * 60
    found = BUNDLE.with_items(odd, vectors="v", id="sku", keep=[])
    np.testing.assert_array_equal(found.collection.codes, BUNDLE.encode(X))
    for name in ("month", "object"):
        with pytest.raises(ArgumentError, match=f"column '{name}'"):
            BUNDLE.with_items(odd, vectors="v", keep=[name])


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_blank_ids_are_refused_at_every_door(blank):
    ids = [blank, *SKUS[1:]]
    table = TABLE.append_column("sku", pa.array(ids))
    doors = (
        lambda: BUNDLE.with_items(X, ids=ids),
        lambda: BUNDLE.with_codes(BUNDLE.encode(X), ids=ids),
        lambda: BUNDLE.with_items(table, vectors="v", id="sku"),
        lambda: BUNDLE.with_items(X[1:], ids=SKUS[1:]).add(X[:1], ids=[blank]),
        lambda: BUNDLE.with_items(X[1:], ids=SKUS[1:]).upsert(X[:1], ids=[blank]),
    )
    for door in doors:
        with pytest.raises(ArgumentError, match="blank id in row 0"):
            door()


def test_uuids_are_their_texts():
    ids = [uuid.UUID(int=i) for i in range(60)]
    assert BUNDLE.with_items(X, ids=ids).collection.ids.tolist() == [*map(str, ids)]


NANO = 1_600_000_000_123_456_789
SHOWN = {
    "nanoseconds": (
        pa.scalar(NANO, pa.timestamp("ns")),
        "2020-09-13T12:26:40.123456789",
    ),
    "whole": (
        pa.scalar(NANO // 1000 * 1000, pa.timestamp("ns")),
        datetime.datetime(2020, 9, 13, 12, 26, 40, 123456),
    ),
    "zone": (
        pa.scalar(NANO, pa.timestamp("ns", "UTC")),
        "2020-09-13T12:26:40.123456789Z",
    ),
    "late day": (pa.scalar(3_000_000, pa.date32()), str(np.datetime64(3_000_000, "D"))),
    "day": (pa.scalar(0, pa.date32()), datetime.date(1970, 1, 1)),
    "time of day": (pa.scalar(1, pa.time64("ns")), "00:00:00.000000001"),
    "float32": (pa.scalar(0.4, pa.float32()), 0.4),
    "float16": (pa.scalar(np.float16(0.1), pa.float16()), 0.1),
}


@pytest.mark.parametrize("name", SHOWN)
def test_kept_values_are_shown_in_full_and_no_longer_than_they_are(name):
    scalar, expected = SHOWN[name]
    column = pa.array([scalar.as_py() if name == "day" else scalar] * 2, scalar.type)
    column = pa.concat_arrays([column, pa.nulls(1, scalar.type)])
    bundle = BUNDLE.with_items(X[:3], columns={"x": column})
    found = bundle.collection.records(np.arange(3))
    assert [row["x"] for row in found] == [expected, expected, None]
    assert bundle.collection.table["x"].type == scalar.type
    json.dumps(bundle.search_records(X[:1], 1)[0][0]["columns"], default=str)
