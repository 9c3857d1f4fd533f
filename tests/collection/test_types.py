"""Values that come to a column of another type: the same meaning, or one line."""

import json
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from fewbits import Collection
from fewbits.cli import app
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

X = np.array([[1.0, 1.0], [-1.0, 1.0]])
ENCODER = LinearEncoder(np.eye(2), np.zeros(2))
BERLIN = ZoneInfo("Europe/Berlin")
TEN = datetime(2021, 3, 5, 10, 30)
ZONED = datetime(2021, 3, 5, 10, 30, tzinfo=BERLIN)
DAY = date(2021, 3, 5)

#: A value of each type, as the first build has it.
STORED = {
    "zoned": pa.array([ZONED], pa.timestamp("ms", "Europe/Berlin")),
    "naive": pa.array([TEN], pa.timestamp("us")),
    "fine": pa.array([1234567890123456789], pa.timestamp("ns")),
    "day": pa.array([DAY]),
    "clock": pa.array([time(10, 30)], pa.time32("s")),
    "span": pa.array([timedelta(seconds=90)], pa.duration("ms")),
    "price": pa.array([Decimal("12345678901234567890.10")], pa.decimal128(38, 2)),
    "half": pa.array([0.4], pa.float32()),
    "whole": pa.array([3]),
    "small": pa.array([3], pa.uint8()),
    "raw": pa.array([b"\xff\x00a"]),
    "uid": pa.array([uuid.UUID(int=7)]),
    "flag": pa.array([True]),
    "word": pa.array(["a"]),
    "list": pa.array([[ZONED]], pa.list_(pa.timestamp("us", "UTC"))),
    "pair": pa.array([[1.5, 2.5]], pa.list_(pa.float32(), 2)),
    "record": pa.array([{"at": TEN, "n": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "words": pa.array([[("a", "b")]], pa.map_(pa.string(), pa.string())),
    "days": pa.array([[("a", DAY)]], pa.map_(pa.string(), pa.date32())),
}


def made(kind):
    """Return a collection of one item with a column of this kind."""
    return Collection.create(None, X[:1], encoder=ENCODER, columns={kind: STORED[kind]})


def added(kind, value):
    """Return the value that a column has after it was added, as Arrow's own."""
    col = made(kind)
    values = value if isinstance(value, pa.Array) else [value]
    col.add(X[1:], columns={kind: values})
    return col.to_arrow([kind])[kind][1].as_py()


SAME = [
    ("zoned", TEN.replace(tzinfo=UTC), TEN.replace(tzinfo=UTC)),
    ("zoned", "2021-03-05T10:30:00+01:00", ZONED),
    ("zoned", "2021-03-05T09:30Z", ZONED),
    ("zoned", pa.array([0], pa.timestamp("s", "Asia/Tokyo")), datetime(1970, 1, 1, 1)),
    ("naive", "2021-03-05T10:30:00", TEN),
    ("naive", DAY, datetime(2021, 3, 5)),
    ("naive", np.datetime64("2021-03-05T10:30", "s"), TEN),
    ("day", datetime(2021, 3, 5), DAY),
    ("day", "2021-03-05", DAY),
    ("clock", "10:30:00", time(10, 30)),
    ("clock", pa.array([time(1)], pa.time64("ns")), time(1)),
    ("span", "PT90S", timedelta(seconds=90)),
    ("span", "-PT0.5S", timedelta(seconds=-0.5)),
    ("price", "-0.10", Decimal("-0.10")),
    ("price", "99999999999999999999.99", Decimal("99999999999999999999.99")),
    ("price", 0.1, Decimal("0.10")),
    ("price", 2, Decimal(2)),
    ("half", 0.7, np.float32(0.7)),
    ("half", Decimal("0.7"), np.float32(0.7)),
    ("whole", 4.0, 4),
    ("small", 255, 255),
    ("raw", "/wBh", b"\xff\x00a"),
    ("uid", str(uuid.UUID(int=9)), uuid.UUID(int=9)),
    ("list", ["2021-03-05T09:30:00Z"], [ZONED]),
    ("list", [], []),
    ("pair", [1, 2], [1.0, 2.0]),
    ("record", {"n": 2}, {"at": None, "n": 2}),
    ("map", [["b", 2.0], ("c", None)], [("b", 2), ("c", None)]),
    ("map", [], []),
    ("words", [["b", "c"]], [("b", "c")]),
    ("days", [["b", "2021-03-05"]], [("b", DAY)]),
    ("record", {"n": 2.0, "at": "2021-03-05T10:30:00"}, {"at": TEN, "n": 2}),
]


@pytest.mark.parametrize(("kind", "value", "expected"), SAME)
def test_a_value_of_the_same_meaning_is_added(kind, value, expected):
    result = added(kind, value)
    if isinstance(expected, datetime) and expected.tzinfo is None and kind == "zoned":
        expected = expected.replace(tzinfo=BERLIN)
    assert result == expected


REFUSED = [
    ("zoned", TEN, "no zone"),
    ("zoned", DAY, "no zone"),
    ("zoned", "2021-03-05T10:30:00", "with a zone"),
    ("zoned", 1614936600, "unit"),
    ("zoned", 1614936600000.0, "unit"),
    ("zoned", TEN.replace(tzinfo=UTC, microsecond=1), "'zoned'"),
    ("naive", ZONED, "no zone"),
    ("naive", "2021-03-05T10:30:00Z", "without a zone"),
    ("naive", 1614936600, "unit"),
    ("naive", pa.array([1], pa.timestamp("ns")), "'naive'"),
    ("naive", time(10), "'naive'"),
    ("day", TEN, "2021-03-05 10:30"),
    ("day", ZONED, "two days"),
    ("day", 18691, "unit"),
    ("clock", TEN, "'clock'"),
    ("clock", 37800, "unit"),
    ("clock", "10:30:00.5", "'clock'"),
    ("span", 90, "unit"),
    ("span", timedelta(microseconds=1), "'span'"),
    ("price", 0.125, "0.125"),
    ("price", 12345678901234567890.1, "'price'"),
    ("price", "1.125", "1.125"),
    ("price", "NaN", "NaN"),
    ("half", 0.123456789012, "0.1234"),
    ("half", 1e300, "'half'"),
    ("whole", 1.5, r"1\.5 of number"),
    ("whole", 9007199254740993.0, "give integers"),
    ("map", {"a": 1}, "pairs"),
    ("map", [["a", 1.5]], "1.5"),
    ("map", [["a"]], "pairs"),
    ("whole", "01234", "'01234' of text"),
    ("whole", True, "True"),
    ("whole", float("nan"), "nan"),
    ("small", -1, "-1"),
    ("raw", "no bytes!", "'no bytes!'"),
    ("uid", "no uuid", "'no uuid'"),
    ("flag", 1, "true/false"),
    ("word", 1, "must be text"),
    ("word", b"a", "must be text"),
    ("word", DAY, "must be text"),
    ("list", [TEN], "no zone"),
    ("list", [1], "unit"),
    ("pair", [1.0], "2 members"),
    ("record", {"at": ZONED, "n": 1}, "no zone"),
    ("record", {"n": 1, "more": 2}, "no field 'more'"),
    ("record", [1], "'record'"),
]


@pytest.mark.parametrize(("kind", "value", "words"), REFUSED)
def test_a_value_of_another_meaning_is_refused_in_a_line(kind, value, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        added(kind, value)
    assert f"{kind!r} must be" in str(caught.value)
    assert "types=" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_value_that_does_not_fit_is_shown():
    values = [float(i) for i in range(1000)]
    values[613] = 0.5
    col = made("whole")
    with pytest.raises(ArgumentError, match=r"got 0\.5 of"):
        col.add(np.repeat(X, 500, axis=0), columns={"whole": values})
    assert len(col) == 1


FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "arrow": lambda columns: pa.table(columns),
    "dicts": lambda columns: [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ],
}


@pytest.mark.parametrize("frame", FRAMES)
def test_times_are_told_apart_in_every_frame(frame):
    first = {"x": [1.0, 2.0], "y": [0.5, 1.0], "at": [ZONED, ZONED]}
    col = Collection.create(None, first, column=["x", "y"], encoder=ENCODER)
    later = {"x": [1.0], "y": [2.0]}
    for wrong in (TEN, 1614936600):
        table = FRAMES[frame]({**later, "at": [wrong]})
        for change in (col.add, col.upsert):
            with pytest.raises(ArgumentError, match=r"'at'|ids"):
                change(table, column=["x", "y"])
    elsewhere = ZONED.astimezone(timezone(timedelta(hours=-7)))
    col.add(FRAMES[frame]({**later, "at": [elsewhere]}), column=["x", "y"])
    assert col.column("at").tolist() == [ZONED] * 3


def test_update_keeps_to_the_same_rules():
    col = made("naive")
    with pytest.raises(ArgumentError, match="no zone"):
        col.update(None, ids=[0], columns={"naive": [ZONED]})
    col.update(None, ids=[0], columns={"naive": ["2000-01-02T03:04:05"]})
    assert col.column("naive").tolist() == [datetime(2000, 1, 2, 3, 4, 5)]


@pytest.mark.parametrize("kind", STORED)
def test_json_is_taken_back(kind, tmp_path):
    col = made(kind)
    col.save(tmp_path / "c")
    told = CliRunner().invoke(app, ["get", str(tmp_path / "c"), "0", "--json"])
    row = json.loads(told.stdout)["columns"]
    col.add([{"x": 1.0, "y": 1.0, kind: row[kind]}], column=["x", "y"])
    first, again = col.to_arrow([kind])[kind].to_pylist()
    assert repr(first) == repr(again)


MIXED = {
    "zones": [TEN, ZONED],
    "zones after": [ZONED, TEN],
    "zones of pandas": [pd.Timestamp(TEN), pd.Timestamp(ZONED)],
    "days": [DAY, TEN],
    "days after": [TEN, DAY],
    "epoch": [TEN, 3],
    "spans": [timedelta(1), 3],
    "bytes": ["a", b"\xff"],
    "texts": [b"a", "b"],
    "truth": [1.5, True],
    "numbers": [1, "a"],
    "within lists": [[TEN], [ZONED]],
    "within arrays": [np.array([1.5]), [True]],
    "within dicts": [{"at": TEN}, {"at": ZONED}],
    "deep": [{"a": [{"b": 1.5}]}, {"a": [{"b": True}]}],
    "clock with zone": [time(1, tzinfo=UTC)] * 2,
    "nanoseconds": [pd.Timestamp(1, unit="ns")] * 2,
    "anything": [object(), object()],
}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("door", ["list", "frame", "pandas", "rows"])
def test_values_of_several_kinds_are_refused_at_the_first_build(door, name):
    values = MIXED[name]
    columns = {"c": values}
    if door == "pandas":
        columns = {"c": pd.Series(values, dtype=object)}
    data, more = X, {"columns": columns}
    if door == "frame":
        data, more = {"v": X.tolist(), "c": values}, {}
    if door == "rows":
        rows = zip(X.tolist(), values, strict=True)
        data, more = [{"v": v, "c": value} for v, value in rows], {}
    with pytest.raises(ArgumentError) as caught:
        Collection.create(None, data, encoder=ENCODER, **more)
    assert "\n" not in str(caught.value)


#: Python's objects, and what a column keeps of them.
OBJECTS = {
    "uuid": (uuid.UUID(int=3), uuid.UUID(int=3)),
    "path": (PurePosixPath("a/b"), "a/b"),
    "decimal": (Decimal("1.10"), Decimal("1.10")),
    "bytes": (b"\xff\x00", b"\xff\x00"),
    "text": ("ä", "ä"),
    "dict": ({"a": 1}, {"a": 1}),
    "zoned": (ZONED, ZONED),
    "whole": (2**60 + 1, 2**60 + 1),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_in_frames_are_their_values(library, name):
    value, expected = OBJECTS[name]
    if library == "pandas":
        frame = pd.DataFrame({"v": X.tolist()})
        frame["c"] = pd.Series([value, None], dtype=object)
    else:
        objects = pl.Series([value, None], dtype=pl.Object)
        frame = pl.DataFrame({"v": X.tolist(), "c": objects})
    col = Collection.create(None, frame, encoder=ENCODER)
    beside = Collection.create(None, X, encoder=ENCODER, columns={"c": frame["c"]})
    for made in (col, beside):
        assert made.to_arrow(["c"])["c"].to_pylist() == [expected, None]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_objects_that_are_no_values_are_refused_where_they_are_asked_for(library):
    things = [object(), object()]
    if library == "pandas":
        frame = pd.DataFrame({"v": X.tolist(), "c": things})
    else:
        frame = pl.DataFrame({"v": X.tolist(), "c": pl.Series(things, dtype=pl.Object)})
    with pytest.raises(ArgumentError, match="'c'"):
        Collection.create(None, frame, encoder=ENCODER)
    with pytest.warns(UserWarning, match="'c'"):
        col = Collection.create(None, frame, encoder=ENCODER, columns=[])
    assert len(col) == 2


# Types that the user says.

TABLE = "x,y,zip,price,n,seen,empty\n1,2,10115,1.10,1,2021-03-05T10:30:00Z,\n"
MORE = "x,y,zip,price,n,seen,empty\n2,1,01234,99999999999999999999.01,1.5,{},4\n"
TYPES = {
    "zip": "string",
    "price": "decimal(40, 2)",
    "n": "float64",
    "seen": "timestamp[us, tz=Europe/Berlin]",
}


def test_types_are_said_at_the_first_build(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.csv").write_text(MORE.format("2021-03-05T10:30:00+05:00"))
    options = {"column": ["x", "y"], "encoder": ENCODER}
    for types in (TYPES, pa.schema([("zip", pa.string())])):
        col = Collection.create(None, tmp_path / "a.csv", types=types, **options)
        assert col.schema.field("zip").type == pa.string()
    col = Collection.create(None, tmp_path / "a.csv", types=TYPES, **options)
    col.add(tmp_path / "b.csv", column=["x", "y"])
    rows = col.get([0, 1])
    assert [row["zip"] for row in rows] == ["10115", "01234"]
    assert rows[1]["price"] == Decimal("99999999999999999999.01")
    assert [row["n"] for row in rows] == [1.0, 1.5]
    assert rows[1]["seen"] == datetime(2021, 3, 5, 5, 30, tzinfo=UTC)
    assert [row["empty"] for row in rows] == [None, 4]


def test_without_types_what_does_not_fit_is_said(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.csv").write_text(MORE.format("2021-03-05T10:30:00+05:00"))
    col = Collection.create(
        None, tmp_path / "a.csv", column=["x", "y"], encoder=ENCODER
    )
    with pytest.raises(ArgumentError, match=r"'zip' .* '01234'.*--types"):
        col.add(tmp_path / "b.csv", column=["x", "y"])


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ({"nope": "string"}, "no column 'nope'"),
        ({"zip": "strin"}, "names of Arrow"),
        ({"zip": "timestamp[s]"}, "'10115'.*no timestamp"),
        ({"price": "int64"}, "1.1.*no int64"),
        ("string", "mapping"),
    ],
)
def test_types_that_do_not_fit_are_refused(types, words, tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    with pytest.raises(ArgumentError, match=words):
        Collection.create(
            None,
            tmp_path / "a.csv",
            column=["x", "y"],
            encoder=ENCODER,
            types=types,
        )


def test_ids_have_a_type_too(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\n007,1,2\n10,2,1\n")
    (tmp_path / "b.csv").write_text("id,x,y\n12,1,2\n")
    for types, ids in ((None, ["007", "10"]), ({"id": "string"}, ["12"])):
        name = "a.csv" if types is None else "b.csv"
        col = Collection.create(
            None,
            tmp_path / name,
            column=["x", "y"],
            id="id",
            encoder=ENCODER,
            types=types,
        )
        assert col.ids.tolist() == ids


def test_types_on_the_command_line(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE + TABLE.splitlines()[1].replace("1", "2", 1))
    build = ["build", str(tmp_path / "c"), str(tmp_path / "a.csv")]
    build += ["--column", "x", "--column", "y", "--bits", "2"]
    types = ["--types", "zip=string,price=decimal(9, 3)", "--types", "n=float64"]
    help = CliRunner().invoke(app, ["build", "--help"], env={"COLUMNS": "300"}).output
    assert "timestamp[us, tz=UTC]" in help
    result = CliRunner().invoke(app, [*build, *types])
    assert result.exit_code == 0, result.output
    schema = Collection.open(tmp_path / "c").schema
    assert schema.field("price").type == pa.decimal128(9, 3)
    assert schema.field("n").type == pa.float64()
    again = CliRunner().invoke(app, [*build, *types])
    assert again.exit_code != 0


def test_times_over_http():
    from fastapi.testclient import TestClient

    from fewbits.server import Settings, create_app

    columns = {"at": [ZONED, ZONED], "price": pa.array([Decimal("1.10")] * 2)}
    col = Collection.create(None, X, encoder=ENCODER, columns=columns)
    app = create_app(col, Settings(writable=True))
    with TestClient(app, base_url="http://localhost") as client:

        def add(**row):
            rows = [{"v": [1.0, 1.0], **row}]
            return client.post("/v1/add", json={"rows": rows, "column": "v"})

        body = {"vectors": [[1.0, 1.0]], "k": 1}
        row = client.post("/v1/search", json=body).json()["hits"][0][0]["columns"]
        assert add(**row).status_code == 200
        assert add(at="2021-03-05T03:30:00-06:00", price="1.10").status_code == 200
        for at in ("2021-03-05T10:30:00", 1614936600, "soon"):
            answer = add(at=at, price="1.10")
            assert answer.status_code == 422
            assert "'at' must be" in answer.text
    assert client.app is app
    assert set(col.column("at").tolist()) == {ZONED}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_times_in_files(suffix, tmp_path):
    columns = {"x": [1.0, 2.0], "y": [2.0, 1.0], "at": [ZONED, ZONED]}
    col = Collection.create(None, columns, column=["x", "y"], encoder=ENCODER)

    def add(at):
        frame = pd.DataFrame({"x": [1.0], "y": [1.0], "at": [at]})
        path = tmp_path / f"more.{suffix}"
        if suffix == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=suffix == "jsonl")
        return col.add(path, column=["x", "y"])

    for at in ("2021-03-05T10:30:00+01:00", "2021-03-05T09:30:00Z"):
        assert add(at) == 1
    for at in ("2021-03-05T10:30:00", "2021-03-05", 1614936600, 1614936600.5):
        with pytest.raises(ArgumentError, match="'at' must be"):
            add(at)
    assert col.column("at").tolist() == [ZONED] * 4


EMPTY = {"tags": [], "s": {"a": None}, "e": {}, "deep": [{"x": []}], "n": None}
FULL = {"tags": ["x"], "s": {"a": 1.5}, "e": {"k": "q"}, "deep": [{"x": [3]}], "n": 1}


@pytest.mark.parametrize("home", ["memory", "folder"])
def test_values_that_were_empty_at_first_get_their_types(home, tmp_path):
    path = tmp_path / "c" if home == "folder" else None
    rows = [{"v": [1.0, -1.0], **EMPTY}, {"v": [-1.0, 1.0], **dict.fromkeys(EMPTY)}]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    col = Collection.create(path, file, column="v", encoder=ENCODER)
    before = col.get([0, 1])
    file.write_text(json.dumps({"v": [1.0, 1.0], **FULL}))
    col.add(file, column="v")
    assert col[2] == FULL
    assert col.get([0, 1]) == [{**before[0], "e": {"k": None}}, before[1]]
    assert col.update([{"id": 1, "tags": ["y"]}]) == 1
    assert col[1] == {**before[1], "tags": ["y"]}
    with pytest.raises(ArgumentError, match="tags"):
        col.update([{"id": 1, "tags": [7]}])


def test_types_of_structs_are_said():
    kind = "struct<a: double, b: list<decimal(4, 2)>>"
    col = Collection.create(
        None, X, columns={"s": [{"a": 1}, None]}, encoder=ENCODER, types={"s": kind}
    )
    pairs = [("a", pa.float64()), ("b", pa.list_(pa.decimal128(4, 2)))]
    assert col.schema.field("s").type == pa.struct(pairs)


def test_the_text_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,v\n1,2,1\n2,1,x\n")
    with pytest.raises(ArgumentError, match="'x'"):
        Collection.create(
            None, path, column=["a", "b"], encoder=ENCODER, types={"v": "int64"}
        )


def test_cells_as_1e5_are_numbers_where_the_column_is_of_such(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y,v\n7,1,2,1e5\n8,2,3,2e3\n")
    col = Collection.create(None, X, columns={"v": [0.5, 1.5]}, encoder=ENCODER)
    col.add(path, column=["x", "y"])
    assert col.get([7, 8]) == [{"v": 100_000.0}, {"v": 2000.0}]
    path.write_text("id,v\n7,3e7\n")
    col.update(path)
    assert col[7] == {"v": 3e7}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-05-06", "NaT"], [date(2024, 5, 6), None]),
        (["2024-05-06T07", "NaT"], [datetime(2024, 5, 6, 7), None]),
        (["2024-05-06T07:08:09.123456789"] * 2, ["2024-05-06T07:08:09.123456789"] * 2),
    ],
)
def test_a_list_of_numpys_times_is_what_an_array_is(texts, expected):
    times = [*map(np.datetime64, texts)]
    col = Collection.create(None, X, columns={"t": times}, encoder=ENCODER)
    assert [row["t"] for row in col.get([0, 1])] == expected
    nested = {"t": [[time] for time in times]}
    col = Collection.create(None, X, columns=nested, encoder=ENCODER)
    assert [row["t"] for row in col.get([0, 1])] == [[x] for x in expected]


def test_a_series_beside_the_items_is_a_column():
    series = pd.Series([1, 2], name="a")
    col = Collection.create(None, X, columns=series, encoder=ENCODER)
    assert col.get([0, 1]) == [{"a": 1}, {"a": 2}]
    with pytest.raises(ArgumentError, match="without a name"):
        Collection.create(None, X, columns=pd.Series([1, 2]), encoder=ENCODER)
