"""Columns of every type come back: from tables and files, after changes, in hits."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], np.float32)
IDS = ["a", "b", "c"]
ENCODER = LinearEncoder(np.eye(2), np.zeros(2))
DAYS = [date(2020, 2, 28), date(2020, 2, 29), None]
NOON = [datetime(2020, 7, 1, 12), None, datetime(1969, 12, 31, 23, 59)]
CLOCK = [time(1, 2, 3), None, time(23, 59)]
ORDINAL = pa.DictionaryArray.from_arrays(
    pa.array([1, 0, None], pa.int8()), pa.array(["low", "high"]), ordered=True
)
COLUMNS = {
    "decimal": pa.array([Decimal("1.10"), None, Decimal("-2")], pa.decimal128(10, 2)),
    "wide decimal": pa.array([Decimal(10) ** 50, None, None], pa.decimal256(60, 2)),
    "date": pa.array(DAYS),
    "date64": pa.array(DAYS, pa.date64()),
    "time of seconds": pa.array(CLOCK, pa.time32("s")),
    "time": pa.array(CLOCK, pa.time64("us")),
    "timestamp": pa.array(NOON, pa.timestamp("ms")),
    "with time zone": pa.array(NOON, pa.timestamp("us", "Europe/Berlin")),
    "nanoseconds": pa.array([1, None, 2**62], pa.timestamp("ns")),
    "duration": pa.array([timedelta(seconds=1), None, timedelta(1)]),
    "category": pa.array(["x", None, "y"]).dictionary_encode(),
    "ordinal": ORDINAL,
    "text": pa.array(["ä", None, ""]),
    "large text": pa.array(["ä", None, ""], pa.large_string()),
    "list": pa.array([[1, None], [], None], pa.list_(pa.int16())),
    "large list": pa.array([["a"], None, []], pa.large_list(pa.string())),
    "fixed list": pa.array([[1, 2]] * 3, pa.list_(pa.int8(), 2)),
    "struct": pa.array([{"d": DAYS[0], "n": None}, None, {"d": None, "n": 1}]),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
    "bytes": pa.array([b"\xff\x00", None, b""]),
    "large bytes": pa.array([b"\xff", None, b""], pa.large_binary()),
    "fixed bytes": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "truth": pa.array([True, None, False]),
    "int8": pa.array([1, None, -128], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "half": pa.array(np.array([0.5, 1, 2], np.float16)),
    "infinity": pa.array([float("inf"), -0.0, 1e-320]),
    "nulls": pa.nulls(3),
    # Names of fields of hits, and of what others keep.
    "distance": pa.array([1.5, None, 3]),
    "id": pa.array([7, 7, 7]),
    "score": pa.array(list("abc")),
    "code": pa.array([b"\xff"] * 3),
    "vector": pa.array([[1, 2]] * 3),
}
#: Parquet has no days in milliseconds, and no times in seconds.
OF_PARQUET = {"date64": pa.date32(), "time of seconds": pa.time32("ms")}
TABLE = pa.table({"embedding": pa.array(X.tolist()), "key": IDS, **COLUMNS})


def written(kind, path):
    if kind == "parquet":
        pq.write_table(TABLE, path)
        return path
    new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with new(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return path


@pytest.fixture(
    scope="module", params=["table", "beside", "parquet", "arrow", "stream"]
)
def source(request, tmp_path_factory):
    """Return the kind of data, and the options that make a collection of it."""
    if request.param == "beside":
        return request.param, {"data": X, "ids": IDS, "columns": COLUMNS}
    data = TABLE
    if request.param != "table":
        suffix = request.param.replace("stream", "arrow")
        data = written(request.param, tmp_path_factory.mktemp("t") / f"t.{suffix}")
    names = {"column": "embedding", "id": "key", "columns": [*COLUMNS]}
    return request.param, {"data": data, **names}


@pytest.fixture(scope="module")
def col(source, home):
    return home(Collection.create(None, encoder=ENCODER, **source[1]))


@pytest.fixture(scope="module")
def grown(source, home):
    """Return a collection after rows came twice, and the first ones went."""
    col = home(Collection.create(None, encoder=ENCODER, **source[1]))
    col.delete(["b"])
    col.upsert(**source[1])
    col.compact()
    return col


def same_as(values):
    """Return values that compare equal where they are the same, NaN and -0.0 too."""
    return [repr(value) for value in values]


def check_column(col, name, kind):
    expected = COLUMNS[name].to_pylist()
    column = col.to_arrow([name])[name]
    assert col.schema.field(name).type == column.type == kind, name
    assert same_as(column.to_pylist()) == same_as(expected), name
    hits = col.search(X, 1, columns=[name])
    shown = same_as(col.column(name).tolist())
    assert same_as(some[0][name] for some in hits) == shown, name
    assert same_as(row[name] for row in col.get(IDS)) == shown, name
    taken = tools.take(col, np.arange(3))[name].to_pylist()
    assert same_as(taken) == same_as(expected), name


def test_columns_come_back(col, grown, source):
    for name, column in COLUMNS.items():
        kind = column.type
        if source[0] == "parquet":
            kind = OF_PARQUET.get(name, kind)
        if pa.types.is_dictionary(kind):  # as wide as the values of all rows may need
            kind = pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
        for one in (col, grown):
            check_column(one, name, kind)


def test_hits_keep_the_users_columns_apart(col):
    for key, (hit,) in zip(IDS, col.search(X, 1), strict=True):
        assert (hit.id, hit.distance, hit.rank) == (key, 0, 1)
        assert hit["id"] == 7
        assert [*hit.columns] == [*COLUMNS]


@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", "?", "M8[ns]", "m8[s]"])
def test_arrays_as_columns_keep_their_types(home, dtype):
    column = np.arange(3).astype(dtype)
    col = home(Collection.create(None, X, encoder=ENCODER, columns={"c": column}))
    kept = col.to_arrow()["c"]
    assert kept.type == pa.array(column).type
    np.testing.assert_array_equal(kept.to_numpy(), column)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_type_come_later(home, name):
    """They are null where they are not given, and take the place of one of nulls."""
    values = COLUMNS[name]
    columns = {"c": pa.nulls(3)}
    col = home(Collection.create(None, X, ids=IDS, encoder=ENCODER, columns=columns))
    column = values.take(pa.array([2, 0]))
    col.update(None, ids=["c", "a"], columns={"c": column, "new": column})
    new = {"c": values.slice(1, 1), "new": values.slice(1, 1)}
    col.upsert(X[1:2], ids=["b"], columns=new)
    col.compact()
    for later in ("c", "new"):
        assert same_as(col.get(IDS, [later])) == same_as(
            {later: value}
            for value in Collection.create(
                None, X, ids=IDS, encoder=ENCODER, columns={"c": values}
            )
            .column("c")
            .tolist()
        )


@pytest.mark.parametrize("kind", [pl.Categorical, pl.String, pl.Enum(list("ab"))])
def test_columns_of_polars_come_back(home, kind):
    table = pl.DataFrame({"v": X.tolist(), "c": pl.Series(list("aba"), dtype=kind)})
    col = home(Collection.create(None, table, encoder=ENCODER, column="v"))
    assert col.column("c").tolist() == list("aba")
    hits = col.search(X, filter="c = 'b'")
    assert [[hit.id for hit in some] for some in hits] == [[1]] * 3


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        (pa.string_view(), pa.large_string()),
        (pa.list_view(pa.int64()), pa.large_list(pa.int64())),
        (pa.list_(pa.string_view()), pa.list_(pa.large_string())),
        (pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_layouts_of_memory_are_not_kept(kind, kept):
    """Views, and how wide the numbers of categories are, say nothing of the values."""
    values = [["a", "b", None], [[1], [], None], [["a", None], [], None]]
    rows = (
        values[0] if "list" not in str(kind) else values[2 if "str" in str(kind) else 1]
    )
    column = pa.array(rows, kind)
    col = Collection.create(None, X, encoder=ENCODER, columns={"c": column})
    col.add(X, columns={"c": column})
    col.update(None, ids=[0], columns={"c": column[1:2], "new": column[:1]})
    assert col.schema.field("c").type == kept
    assert col.schema.field("new").type == kept
    assert col.column("c").tolist() == [rows[1], *rows[1:], *rows]


def test_a_kept_column_of_vectors_may_be_missing_later():
    X = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 8)
    table = pa.table({"v": vectors, "n": range(20)})
    col = Collection.create(None, table, column="v", columns=["v", "n"], bits=8)
    with pytest.warns(UserWarning, match="no column 'v'"):
        col.add(X[:1], columns={"n": [20]})
    (row,) = col.get([20])
    assert (row["v"], row["n"]) == (None, 20)


def test_null_is_no_category_and_others_stay():
    X = np.random.default_rng(0).normal(size=(3, 8))
    column = pa.DictionaryArray.from_arrays([0, 1, 0], pa.array(["x", None]))
    col = Collection.create(
        None, X, columns={"c": column}, encoder=LinearEncoder(np.eye(8), np.zeros(8))
    )
    assert pa.types.is_dictionary(col.to_arrow().schema.field("c").type)
    assert col.column("c").tolist() == ["x", None, "x"]


def test_what_is_no_list_of_ids_is_named_by_its_kind():
    col = Collection.create(
        None, np.eye(8), encoder=LinearEncoder(np.eye(8), np.zeros(8))
    )
    with pytest.raises(ArgumentError, match="got set") as refused:
        col.get(set(range(1000)))
    assert len(str(refused.value)) < 100
    with pytest.raises(ArgumentError, match="given as ids="):
        Collection.create(None, np.eye(8), id=list(range(8)))


def test_rows_at_the_ends_of_segments_have_their_values():
    numbers = np.arange(5000)
    codes = (numbers[:, None] % 256).astype(np.uint8)
    col = Collection.create(None, codes=codes, columns={"n": numbers})
    col.add(codes=codes[:2], columns={"n": [5000, 5001]})
    ids = [0, 4999, 5000, 5001]
    assert [row["n"] for row in col.get(ids)] == ids
