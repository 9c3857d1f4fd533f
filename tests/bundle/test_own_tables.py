"""The user's own table comes back: ids, columns and their types, and what passes."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.codes import unpack
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FewbitsError

N = 6
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
BUNDLE = Bundle(LinearEncoder(np.eye(4), np.zeros(4)))
KEYS = [f"k{row}" for row in range(N)]
KEPT = {
    "distance": pa.array([1.5, None, 3, 4, 5, 6]),
    "score": pa.array(list("abcdef")),
    "id": pa.array(range(N)),
    "code": pa.array([b"\xff"] * N),
    "vector": pa.array([[1, 2]] * N),
    "date": pa.array([date(2020, 1, 1 + row) for row in range(N)]),
    "timestamp": pa.array([datetime(2020, 1, 1)] * N, pa.timestamp("ns", "UTC")),
    "time": pa.array([time(1, row) for row in range(N)]),
    "duration": pa.array([timedelta(row) for row in range(N)]),
    "decimal": pa.array([Decimal("1.10")] * 5 + [None], pa.decimal128(10, 2)),
    "lists": pa.array([["a"], [], None, ["b", "c"], ["d"], [None]]),
    "struct": pa.array([{"a": 1, "b": "x"}] * 5 + [None]),
    "bool": pa.array([True, False, None] * 2),
    "dictionary": pa.array(["x", "y", None] * 2).dictionary_encode(),
    "nulls": pa.nulls(N),
    "int8": pa.array(range(N), pa.int8()),
    "uint64": pa.array([2**64 - 1] * N, pa.uint64()),
    "float16": pa.array(np.arange(N).astype("f2")),
    "map": pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int32())),
    "infinity": pa.array([float("inf")] * N),
}
TABLE = pa.table({"embedding": X.tolist(), "key": KEYS, **KEPT})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "bundle"
    BUNDLE.with_items(TABLE, vectors="embedding", id="key").save(folder)
    return folder


def test_columns_keep_their_types_in_files(folder):
    kept = Bundle.load(folder).collection.table
    for name, column in KEPT.items():
        assert kept[name].type == column.type, name
        assert kept[name].to_pylist() == column.to_pylist(), name


def test_columns_given_by_themselves_keep_their_types():
    kept = BUNDLE.with_items(X, columns=KEPT).collection.table
    assert {name: kept[name].type for name in KEPT} == {
        name: column.type for name, column in KEPT.items()
    }


@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", "?", "M8[ns]", "m8[s]"])
def test_arrays_as_columns_keep_their_types(dtype):
    column = np.arange(N).astype(dtype)
    kept = BUNDLE.with_items(X, columns={"c": column}).collection.table["c"]
    assert kept.type == pa.array(column).type
    np.testing.assert_array_equal(kept.to_numpy(), column)


@pytest.mark.parametrize("views", [pl.Categorical, pl.String, pl.Enum(list("ab"))])
def test_columns_of_polars_come_back(views):
    table = pl.DataFrame({"v": X.tolist(), "c": pl.Series(list("ababab"), dtype=views)})
    found = BUNDLE.with_items(table, vectors="v")
    assert found.collection.column("c").tolist() == list("ababab")
    assert found.search(X, 6, filter="c = 'b'").ids.max(axis=1).tolist() == [5] * N


def test_hits_keep_the_users_columns_apart(folder):
    loaded = Bundle.load(folder)
    for (hit,) in loaded.search_records(X, 1):
        assert set(hit) == {"id", "distance", "columns"}
        row = KEYS.index(hit["id"])
        assert hit["columns"] == TABLE.select([*KEPT]).slice(row, 1).to_pylist()[0]
        assert hit["distance"] == 0


def test_hits_are_valid_json_on_the_command_line(folder, tmp_path):
    np.save(tmp_path / "q.npy", X[:2])
    asked = ["search", str(folder), "--input", str(tmp_path / "q.npy"), "--json"]
    said = CliRunner().invoke(app, asked)
    assert said.exit_code == 0
    for line in said.stdout.splitlines():
        found = json.loads(line, parse_constant=pytest.fail)
        assert set(found["hits"][0]) == {"id", "distance", "columns"}
        assert found["hits"][0]["columns"]["uint64"] == 2**64 - 1


@pytest.mark.parametrize("keep", [["date"], ["score", "id"], []])
def test_only_named_columns_are_kept(keep):
    found = BUNDLE.with_items(TABLE, vectors="embedding", id="key", keep=keep)
    assert found.collection.columns == keep
    assert found.collection.ids.tolist() == KEYS


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        pl.DataFrame({"embedding": X.tolist(), "key": KEYS}),
        pd.DataFrame({"embedding": list(X), "key": KEYS}),
    ],
    ids=["arrow", "polars", "pandas"],
)
def test_tables_of_every_library(table):
    found = BUNDLE.with_items(table, vectors="embedding", id="key")
    assert found.search(X, 1).ids.ravel().tolist() == KEYS


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"id": "nope"}, "no column 'nope'"),
        ({"id": "lists"}, "no value in row 2"),
        ({"id": "decimal"}, "no value in row 5"),
        ({"id": "code"}, "ids are whole numbers or texts"),
        ({"id": "timestamp"}, "ids are whole numbers or texts"),
        ({"id": "key", "ids": KEYS}, "brings its own ids"),
        ({"keep": ["nope"]}, "no column 'nope'"),
        ({"vectors": "score"}, "holds texts|takes vectors"),
    ],
)
def test_mistakes_in_names(options, said):
    with pytest.raises(FewbitsError, match=said) as caught:
        BUNDLE.with_items(TABLE, **{"vectors": "embedding", **options})
    assert "\n" not in str(caught.value)


def test_an_id_that_repeats_is_told():
    table = pa.table({"v": X.tolist(), "key": ["a", "b", "c", "d", "b", "f"]})
    with pytest.raises(ArgumentError, match="'key' of the data frame holds 'b' in 2"):
        BUNDLE.with_items(table, vectors="v", id="key")


# ---- filters -------------------------------------------------------------------------

M = 120
_rng = np.random.default_rng(1)
MANY = _rng.normal(size=(M, 12)).astype(np.float32)
MANY[M // 2 :] = MANY[: M // 2]  # ties, in the order of the rows
YEARS = _rng.integers(2015, 2025, M)
KINDS = _rng.choice(["x", "y", "z"], M)
GAPS = [None if year % 3 == 0 else int(year) for year in YEARS]
WIDE = Bundle(LinearEncoder(np.eye(12), np.zeros(12)))


@pytest.fixture(
    scope="module", params=[(None, "int"), ("int8", "text"), ("float16", "text")]
)
def filtered(request):
    form, ids = request.param
    own = [f"id-{M - row}" for row in range(M)] if ids == "text" else 3 * np.arange(M)
    return WIDE.with_items(
        MANY,
        ids=own,
        columns={"year": YEARS, "kind": KINDS.tolist(), "gaps": GAPS},
        keep_vectors=form,
    )


BITS = unpack(WIDE.encode(MANY), 12)
CONDITIONS = {
    "year >= 2020": YEARS >= 2020,
    "kind = 'x'": KINDS == "x",
    "kind in ('x', 'y') and year < 2018": np.isin(KINDS, ["x", "y"]) & (YEARS < 2018),
    "gaps > 2019": np.array([year is not None and year > 2019 for year in GAPS]),
    "gaps is null": np.array([year is None for year in GAPS]),
    "not (gaps > 2019)": np.array([year is not None and year <= 2019 for year in GAPS]),
    "bit(3) = 1": BITS[:, 3] == 1,
    "bit(0) = 0 and kind <> 'z'": (BITS[:, 0] == 0) & (KINDS != "z"),
    "year > 3000": np.zeros(M, np.bool_),
}


def by_hand(mask, queries, k):
    """Rank the rows that pass by (Hamming distance, row)."""
    distances = (unpack(WIDE.encode(queries), 12)[:, None] != BITS).sum(axis=2)
    rows = np.flatnonzero(mask)
    found = np.full((len(queries), k), -1)
    for i, row in enumerate(distances):
        best = rows[np.argsort(row[rows], kind="stable")][:k]
        found[i, : len(best)] = best
    return found


@given(
    condition=st.sampled_from([None, *CONDITIONS]),
    allowed=st.none() | st.sets(st.integers(0, M - 1), max_size=30),
    as_mask=st.booleans(),
    k=st.integers(1, M + 5),
)
@settings(max_examples=60)
def test_a_filter_equals_filtering_by_hand(filtered, condition, allowed, as_mask, k):
    mask = np.ones(M, np.bool_) if condition is None else CONDITIONS[condition].copy()
    own = filtered.collection.ids
    options = {"filter": condition, "allowed": None}
    if allowed is not None:
        chosen = np.zeros(M, np.bool_)
        chosen[sorted(allowed)] = True
        mask &= chosen
        options["allowed"] = chosen if as_mask else own[chosen]
        if not as_mask and not chosen.any():
            options["allowed"] = []
    expected = by_hand(mask, MANY[:3], k)
    missing = None if own.dtype == object else -1
    named = [[missing if r < 0 else own[r] for r in row] for row in expected.tolist()]
    assert filtered.search(MANY[:3], k, **options).ids.tolist() == named
    hits = filtered.search_records(MANY[:3], k, rerank=False, **options)
    assert [[hit["id"] for hit in row] for row in hits] == [
        [each for each in row if each != missing] for row in named
    ]
    again = filtered.search_reranked(MANY[:3], k, shortlist=M, **options).ids
    for found, wanted in zip(again.tolist(), named, strict=True):
        assert set(found) == set(by_hand_ids(own, mask, k, found, wanted))
    members = filtered.search_by_example(MANY[:2], n_random=50, k=k, **options)
    known = filtered.collection.vectors is not None
    passing = {own[r] for r in np.flatnonzero(mask)}
    left_out = {own[r] for r in (0, 1, M // 2, M // 2 + 1)} if known else set()
    assert set(members.ids.tolist()) <= passing - left_out
    assert len(members.ids) == min(k, len(passing - left_out))


def by_hand_ids(own, mask, k, found, wanted):
    """Re-ranking orders all that pass another way: as many, and each one passes."""
    passing = {own[r] for r in np.flatnonzero(mask)}
    missing = set(wanted) - passing
    assert len([each for each in found if each in passing]) == min(k, len(passing))
    return set(found) & passing | missing


def test_names_of_columns_are_those_of_the_collection():
    table = pa.table({"sku": ["a", "b"], "v": [[1.0, 2.0], [3.0, -4.0]]})
    plain = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    named = plain.with_items(table, vectors="v", id="sku")
    again = named.with_items(np.eye(2))
    with pytest.raises(ArgumentError, match="there is no column 'sku'"):
        again.search(np.eye(2), k=1, filter="sku = 1")
    other = plain.with_collection_of(named)
    assert other.search(np.eye(2), k=1, filter="sku = 'b'").ids.tolist() == [["b"]] * 2
