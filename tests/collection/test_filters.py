"""Searches among some items, by conditions, ids or masks, against choosing by hand.

What conditions mean is tested in ``filters``.
"""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from fewbits import Collection
from fewbits.codes import unpack
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

N, N_BITS = 120, 12
_rng = np.random.default_rng(1)
X = _rng.normal(size=(N, N_BITS)).astype(np.float32)
X[N // 2 :] = X[: N // 2]  # ties, in the order of the rows
YEARS = _rng.integers(2015, 2025, N)
KINDS = _rng.choice(["x", "y", "z"], N)
GAPS = [None if year % 3 == 0 else int(year) for year in YEARS]
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
BITS = unpack(ENCODER.encode(X), N_BITS)
CONDITIONS = {
    "year >= 2020": YEARS >= 2020,
    "kind = 'x'": KINDS == "x",
    "kind in ('x', 'y') and year < 2018": np.isin(KINDS, ["x", "y"]) & (YEARS < 2018),
    "gaps > 2019": np.array([year is not None and year > 2019 for year in GAPS]),
    "gaps is null": np.array([year is None for year in GAPS]),
    "not (gaps > 2019)": np.array([year is not None and year <= 2019 for year in GAPS]),
    "bit(3) = 1": BITS[:, 3] == 1,
    "bit(0) = 0 and kind <> 'z'": (BITS[:, 0] == 0) & (KINDS != "z"),
    "year > 3000": np.zeros(N, np.bool_),
}


@pytest.fixture(
    scope="module", params=[(None, "int"), ("int8", "text"), ("float16", "text")]
)
def col(request, home):
    form, kind = request.param
    ids = [f"id-{N - row}" for row in range(N)] if kind == "text" else 3 * np.arange(N)
    columns = {"year": YEARS, "kind": KINDS.tolist(), "gaps": GAPS}
    return home(
        Collection.create(
            None, X, encoder=ENCODER, ids=ids, columns=columns, keep_vectors=form
        )
    )


def by_hand(mask, queries, k):
    """Return the rows that pass, ranked by (Hamming distance, row)."""
    distances = (unpack(ENCODER.encode(queries), N_BITS)[:, None] != BITS).sum(axis=2)
    rows = np.flatnonzero(mask)
    return [rows[np.argsort(line[rows], kind="stable")][:k] for line in distances]


@given(
    condition=st.sampled_from([None, *CONDITIONS]),
    allowed=st.none() | st.sets(st.integers(0, N - 1), max_size=30),
    as_mask=st.booleans(),
    k=st.integers(1, N + 5),
)
def test_a_filter_equals_filtering_by_hand(col, condition, allowed, as_mask, k):
    mask = np.ones(N, np.bool_) if condition is None else CONDITIONS[condition].copy()
    ids, options = col.ids, {"filter": condition, "allowed": None}
    if allowed is not None:
        chosen = np.zeros(N, np.bool_)
        chosen[sorted(allowed)] = True
        mask &= chosen
        options["allowed"] = chosen if as_mask else ids[chosen]
    expected = [ids[rows].tolist() for rows in by_hand(mask, X[:3], k)]
    hits = col.search(X[:3], k, rerank=False, **options)
    assert [[hit.id for hit in some] for some in hits] == expected
    assert hits.ids.shape == (3, min(k, N))
    again = col.search(X[:3], k, rerank=True, shortlist=N, **options)
    passing = set(ids[mask].tolist())
    for some in again:
        assert len(some) == min(k, len(passing))
        assert {hit.id for hit in some} <= passing
    within = col.search(X[:3], radius=4, **options)
    near = [
        [row for row in rows if (BITS[row] != BITS[query]).sum() <= 4]
        for query, rows in enumerate(by_hand(mask, X[:3], N))
    ]
    assert [[hit.id for hit in some] for some in within] == [
        ids[rows].tolist() for rows in near
    ]
    best = col.like(X[:2], n_random=50, k=k, **options)
    known = col.vector_dtype is not None  # then the examples themselves are known
    left_out = set(ids[[0, 1, N // 2, N // 2 + 1]].tolist()) if known else set()
    assert {hit.id for hit in best[0]} <= passing - left_out
    assert len(best[0]) == min(k, len(passing - left_out))
    whole = np.ones(N, np.bool_)
    got = tools.mask(col, **options)
    np.testing.assert_array_equal(whole if got is None else got, mask)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_meet_a_condition(col, condition):
    mask = CONDITIONS[condition]
    table = col.to_arrow(["year"], filter=condition)
    assert table[col.id_name].to_pylist() == col.ids[mask].tolist()
    assert table["year"].to_pylist() == YEARS[mask].tolist()
    parts = [part for part in col.batches([], filter=condition) if len(part)]
    assert [i for part in parts for i in part[0].to_pylist()] == col.ids[mask].tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"filter": "1 ="},
        {"filter": ""},
        {"filter": "row >"},
        {"filter": "nothing = 1"},
        {"filter": "1; drop table items"},
        {"filter": "_code = 1"},
        {"filter": [1]},
        {"filter": {0: 1}},
        {"filter": 5},
        {"filter": "bit(12) = 1"},
        {"allowed": "sku-1"},
        {"allowed": ["sku-1", "other"]},
        {"allowed": [1, 2]},
        {"allowed": np.ones(3, bool)},
        {"allowed": {"a": 1}},
        {"allowed": 3},
        {"allowed": [None]},
        {"allowed": [0, 1] * 60},
        {"allowed": np.ones(N, np.uint8)},
    ],
)
def test_mistakes_are_told_in_one_line(col, options):
    doors = (
        lambda: col.search(X[:1], **options),
        lambda: col.search(X[:1], radius=3, **options),
        lambda: col.like(X[:1], **options),
        lambda: col.duplicates(1, **options),
        lambda: tools.mask(col, **options),
    )
    for door in doors:
        for _ in range(2):  # what is wrong is told each time
            with pytest.raises(ArgumentError) as caught:
                door()
            assert "\n" not in str(caught.value)


def test_a_mask_of_other_rows_is_refused(col):
    frame = pd.DataFrame({"year": range(N)}).sort_values("year", ascending=False)
    with pytest.raises(ArgumentError, match="index of its own"):
        col.search(X[:1], allowed=frame["year"] < 3)
    in_order = frame.sort_index()["year"] < 3
    assert set(col.search(X[:1], 3, allowed=in_order).ids[0]) == set(col.ids[:3])


@pytest.mark.parametrize("make", [list, np.asarray, pa.array, pd.Series, tuple])
def test_ids_that_are_allowed_come_in_any_form(col, make):
    some = make(col.ids[[7, 3, 50]].tolist())
    hits = col.search(X[:1], allowed=some)
    assert {hit.id for hit in hits[0]} == set(col.ids[[7, 3, 50]].tolist())
    assert col.search(X[:1], allowed=make(col.ids[:0].tolist())).to_list() == [[]]


def test_ids_are_a_column_where_they_have_a_name():
    table = pa.table({"sku": ["a", "b"], "v": [[1.0, 2.0], [3.0, -4.0]]})
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    named = Collection.create(None, table, encoder=encoder, id="sku")
    assert named.search(np.eye(2), k=1, filter="sku = 'b'").ids.tolist() == [["b"]] * 2
    assert named.id_name == "sku"
    other = Collection.create(None, np.eye(2), encoder=named)
    with pytest.raises(ArgumentError, match="there is no column 'sku'"):
        other.search(np.eye(2), k=1, filter="sku = 1")


def test_changes_are_seen(home):
    def ids(condition):
        return sorted(hit.id for hit in col.search(X[:1], 99, filter=condition)[0])

    col = home(
        Collection.create(
            None, X[:8], encoder=ENCODER, columns={"n": np.arange(8)}, bits=None
        )
    )
    for condition in ("n > 5", pc.field("n") > 5):
        assert ids(condition) == [6, 7]
    col.delete([7])
    assert ids("n > 5") == [6]
    col.add(X[:1], columns={"n": [9]})
    assert ids("n > 5") == [6, 8]
    col.update(None, ids=[6, 0], columns={"n": [0, 6]})
    assert ids("n > 5") == [0, 8]
    other = pickle.loads(pickle.dumps(col))
    assert [hit.id for hit in other.search(X[:1], 9, filter="n > 5")[0]] == [0, 8]


def test_a_deleted_row_is_no_matter_to_a_filter(home):
    years = [2**63 - 1, 1, 2, 3]
    col = home(Collection.create(None, X[:4], encoder=ENCODER, columns={"year": years}))
    with pytest.raises(ArgumentError, match="overflow"):
        col.search(X[:1], filter="year + 1 > 2")
    col.delete([0])
    hits = col.search(X[:1], 4, filter="year + 1 > 2")
    assert sorted(hit.id for hit in hits[0]) == [2, 3]


# Columns of a CSV file are asked about as those of Parquet are.

DAYS = ["2019-12-31", "2020-01-01", None, "2021-06-30"]
FRAME = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, 4.0],
        "b": [4.0, 3.0, 2.0, 1.0],
        "category": ["x", None, "y", None],
        "published": DAYS,
        "at": [day and f"{day}T12:30:00" for day in DAYS],
        "seen": [day and f"{day}T12:30:00+01:00" for day in DAYS],
    }
)


@pytest.fixture(scope="module")
def of_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    FRAME.to_csv(folder / "x.csv", index=False)
    times = {
        "published": pa.array(pd.to_datetime(FRAME["published"]).dt.date, pa.date32()),
        "at": pa.array(pd.to_datetime(FRAME["at"]), pa.timestamp("us")),
        "seen": pa.array(pd.to_datetime(FRAME["seen"]), pa.timestamp("us", "UTC")),
    }
    table = pa.Table.from_pandas(FRAME.drop(columns=[*times]), preserve_index=False)
    for name, column in times.items():
        table = table.append_column(name, column)
    parquet.write_table(table, folder / "x.parquet")
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    return [
        Collection.create(None, folder / name, encoder=encoder, column=["a", "b"])
        for name in ("x.csv", "x.parquet")
    ]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("category IS NULL", [1, 3]),
        ("category IS NOT NULL", [0, 2]),
        ("published >= DATE '2020-01-01'", [1, 3]),
        ("published >= '2020-01-01'", [1, 3]),
        ("published BETWEEN '2019-01-01' AND '2020-01-01'", [0, 1]),
        ("published IS NULL", [2]),
        ("at < '2020-01-01'", [0]),
        ("at = '2020-01-01 12:30:00'", [1]),
        ("at > DATE '2020-01-01'", [1, 3]),
        ("seen = '2020-01-01 11:30:00+00:00'", [1]),
        ("seen >= '2020-01-01T12:30:00+01:00'", [1, 3]),
    ],
)
def test_times_of_csv_and_parquet(of_files, condition, ids):
    for col in of_files:
        hits = col.search([[1.0, 1.0]], k=4, filter=condition)
        assert sorted(hit.id for hit in hits[0]) == ids


def test_columns_of_csv_and_parquet(of_files):
    ours, theirs = (col.to_arrow() for col in of_files)
    assert ours.to_pylist() == theirs.select(ours.column_names).to_pylist()
