"""One answer in Python, JSON, Arrow and pandas; user's columns hide nothing."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fewbits import Collection, Hits
from fewbits.encoders import LinearEncoder

ENCODER = LinearEncoder(np.eye(4), np.zeros(4))
X = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1], [1, -1, -1, -1]], np.float32)
OWN = ["query", "rank", "id", "distance"]


@pytest.fixture(params=[None, list("wxyz")], ids=["numbers", "texts"])
def col(request, home):
    columns = {"name": ["a", None, "c", "d"], "n": np.arange(4, dtype=np.int8)}
    return home(
        Collection.create(None, X, encoder=ENCODER, ids=request.param, columns=columns)
    )


def test_hits_are_a_list_of_answers(col):
    hits = col.search(X[:3], 2)
    assert (len(hits), repr(hits)) == (3, "Hits(3 queries, k=2, hamming)")
    assert isinstance(hits, Hits)
    first = hits[0]
    assert [hit.rank for hit in first] == [1, 2]
    assert [hit.id for hit in first] == hits.ids[0].tolist() == col.ids[:2].tolist()
    assert [hit.distance for hit in first] == hits.distances[0].tolist() == [0, 1]
    assert [hit["name"] for hit in first] == ["a", None]
    assert first[0].columns == {"name": "a", "n": 0}
    assert first[0]["n"] == 0
    assert first[0][1] == first[0].id
    assert [hits[i] for i in range(3)] == [*hits] == hits[:] == hits[-3:]
    assert hits[-1] == hits[2]
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            hits[beyond]
    with pytest.raises(KeyError):
        _ = first[0]["colour"]
    assert hits.columns.num_rows == 6


def test_plain_values(col):
    hits = col.search(X[:2], 2)
    assert hits.to_list() == [
        [
            {
                "rank": rank,
                "id": col.ids.tolist()[row],
                "distance": distance,
                "columns": {"name": ["a", None, "c"][row], "n": row},
            }
            for rank, row, distance in line
        ]
        for line in ([(1, 0, 0), (2, 1, 1)], [(1, 1, 0), (2, 0, 1)])
    ]
    answer = hits.to_dict()
    assert answer == {
        "metric": "hamming",
        "rerank": False,
        "version": col.version,
        "hits": hits.to_list(),
    }
    assert json.loads(json.dumps(answer)) == answer


def test_answers_of_different_length(col):
    hits = col.search(X, radius=1)
    assert hits.ids.shape == (4, 3)
    assert [len(some) for some in hits] == [2, 3, 3, 2]
    assert hits.distances[0].tolist() == [0, 1, -1]
    assert hits.ids[0, 2] in (-1, None)
    table = hits.to_arrow()
    assert table["query"].to_pylist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert table["rank"].to_pylist() == [1, 2, 1, 2, 3, 1, 2, 3, 1, 2]
    assert hits[3] == [*hits][3]
    none = col.search(X, filter="n > 9")
    assert (none.to_list(), none.to_arrow().num_rows) == ([[]] * 4, 0)
    assert none.to_arrow().schema == table.schema
    queries = col.search(X[:0])
    assert (len(queries), queries.to_list()) == (0, [])
    assert queries.to_arrow().schema == table.schema


@pytest.mark.parametrize("form", [None, "float32"])
def test_a_table_has_a_row_for_each_hit(home, form):
    col = home(
        Collection.create(
            None, X, encoder=ENCODER, columns={"n": np.arange(4)}, keep_vectors=form
        )
    )
    hits = col.search(X[:2], 3)
    table = hits.to_arrow()
    assert table.column_names == [*OWN, "n"]
    assert table["id"].to_pylist() == hits.ids.ravel().tolist()
    assert table["distance"].to_pylist() == hits.distances.ravel().tolist()
    assert table["distance"].type == (pa.int32() if form is None else pa.float32())
    frame = hits.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("list") == table.to_pydict()


def test_columns_with_the_names_of_ours_hide_nothing(home):
    names = [*OWN, "metric", "version", "columns", "column.id", "_id2", "score"]
    columns = {name: [f"{name} {i}" for i in range(4)] for name in names}
    col = home(Collection.create(None, X, encoder=ENCODER, columns=columns))
    hits = col.search(X[:1], 2)
    (best, _) = hits[0]
    assert (best.rank, best.id, best.distance) == (1, 0, 0)
    assert best["id"] == "id 0"
    assert best.columns == {name: f"{name} 0" for name in names}
    assert hits.to_list()[0][0]["columns"] == best.columns
    table = hits.to_arrow()
    assert table["id"].to_pylist() == [0, 1]
    shown = [name for name in table.column_names if name not in OWN]
    assert len({*table.column_names}) == len(table.column_names) == 4 + len(names)
    values = [table[name][1].as_py() for name in shown]
    assert sorted(values) == sorted(f"{name} 1" for name in names)
    assert hits.to_pandas()["id"].tolist() == [0, 1]
    assert hits.to_pandas()["column.distance"].tolist() == ["distance 0", "distance 1"]


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
def test_values_are_shown_in_full_and_no_longer_than_they_are(home, name):
    scalar, expected = SHOWN[name]
    column = pa.array([scalar.as_py() if name == "day" else scalar] * 2, scalar.type)
    column = pa.concat_arrays([column, pa.nulls(1, scalar.type)])
    col = home(Collection.create(None, X[:3], encoder=ENCODER, columns={"x": column}))
    (hits,) = col.search(X[:1], 3)
    assert [hit["x"] for hit in hits] == [expected, expected, None]
    assert [row["x"] for row in col.get([0, 1, 2])] == [expected, expected, None]
    assert col.column("x").tolist() == [expected, expected, None]
    assert col.schema.field("x").type == scalar.type
    json.dumps(col.search(X[:1], 1).to_dict(), default=str)
