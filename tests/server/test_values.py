"""What answers say of a value can be sent again, and is the same value."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import fewbits
from fewbits import Collection
from fewbits.server import Settings
from tests.server._running import ENCODER, served, vectors

NS = 1_580_472_000_123_456_789
OLD = -5_364_662_400  # 1800, when zones had offsets with seconds
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def times():
    """Yield a name and a column of five values, one of them null, for each type."""
    for unit, size in UNITS.items():
        count = [0, -1, NS // size, OLD * 10**9 // size + (unit == "ns"), None]
        for zone in (None, "UTC", "Europe/Berlin", "-03:30"):
            kind = pa.timestamp(unit, zone)
            yield f"at_{unit}_{zone}", pa.array(count, kind)
        yield f"for_{unit}", pa.array([0, 1, -90_061_001, 59, None], pa.duration(unit))
    yield "day", pa.array([0, -50_000, 18_000, 1, None], pa.date32())
    yield "day64", pa.array([dt.date(2020, 1, 31), None] * 2 + [None], pa.date64())
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield f"time_{kind}", pa.array([0, 1, 59_999, 86_399, None], kind)


def values():
    yield from times()
    cents = [
        Decimal("1.50"),
        Decimal("-0.01"),
        Decimal("12345678901234.56"),
        Decimal(0),
    ]
    yield "cents", pa.array([*cents, None], pa.decimal128(20, 2))
    yield "large_cents", pa.array([*cents, None], pa.decimal256(50, 3))
    raw = [b"", b"\x00\xff", b"ab", b"\n", None]
    yield "raw", pa.array(raw, pa.binary())
    yield "large_raw", pa.array(raw, pa.large_binary())
    yield "key", pa.array([b"ab", b"\x00\x01", b"  ", b"==", None], pa.binary(2))
    numbers = [0.4, -1e-8, 3.0, 1 / 3, None]
    for kind in (pa.float32(), pa.float64()):
        yield str(kind), pa.array(numbers, kind)
    yield "half", pa.array(np.float16([0.4, 1, 2, 3, 4]))
    yield "bytes", pa.array([0, 1, 255, 3, None], pa.uint8())
    yield "unsigned", pa.array([0, 2**63 + 1, 1, 2, None], pa.uint64())
    yield "signed", pa.array([-(2**63), 2**63 - 1, 2**53 + 1, 0, None])
    yield "flag", pa.array([True, False, True, False, None])
    yield "text", pa.array(["", " ", "é\u2028", "2020-01-31", None])
    yield "kind", pa.array([*"abab", None]).dictionary_encode()


def nested():
    """Yield lists and structs of values, and lists of structs."""
    for name, column in values():
        kind = column.type
        if pa.types.is_dictionary(kind) or kind == pa.uint64():
            continue  # which are columns of their own
        if getattr(kind, "unit", "us") in ("s", "ms"):
            continue
        ends = pa.array([0, 2, 2, None, 4, 5], pa.int32())
        yield f"list_{name}", pa.ListArray.from_arrays(ends, column)
        pairs = [column, pa.array(range(5))]
        gaps = pa.array([False, True, False, False, False])
        record = pa.StructArray.from_arrays(pairs, ["x", "n"], mask=gaps)
        yield f"struct_{name}", record
        yield f"records_{name}", pa.ListArray.from_arrays(ends, record)
    for name in ("at_ns_Europe/Berlin", "for_ns", "raw"):
        column = dict(values())[name]
        fixed = pa.FixedSizeListArray.from_arrays(pa.concat_arrays([column] * 2), 2)
        yield f"pair_{name}", fixed


def maps():
    """Yield maps, which JSON has as lists of pairs."""
    keys, ends = pa.array([*"abcde"]), pa.array([0, 2, 2, 4, 4, 5], pa.int32())
    for name, column in values():
        if pa.types.is_dictionary(column.type):
            continue
        yield f"map_{name}", pa.MapArray.from_arrays(ends, keys, column)


def collection_of(columns):
    return Collection.create(None, vectors(5), encoder=ENCODER, columns=columns)


def post(client, path, **body):
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def plain(collection):
    """Return the columns, by what they hold: categories are values."""
    columns = {}
    for name in collection.columns:
        column = collection.to_arrow()[name].combine_chunks()
        columns[name] = (
            column.to_pylist() if "dictionary" in str(column.type) else column
        )
    return columns


@pytest.mark.parametrize("way", ["items", "search"])
@pytest.mark.parametrize("columns", [values, nested])
def test_json_takes_back_what_it_gave(client_of, columns, way):
    collection = collection_of(dict(columns()))
    before = plain(collection)
    client = client_of(collection, writable=True)
    if way == "items":
        items = post(client, "items", ids=[*range(5)])["items"]
    else:
        hits = post(client, "search", vectors=vectors(1).tolist(), k=5)["hits"][0]
        items = sorted(hits, key=lambda hit: hit["id"])
    rows = [{"id": item["id"], **item["columns"]} for item in items]
    assert post(client, "update", rows=rows)["n_changed"] == 5
    assert plain(collection) == before
    more = [{**row, "id": row["id"] + 10, "_vector": [1.0] * 32} for row in rows]
    more = [{"_id": row.pop("id"), **row} for row in more]
    assert post(client, "add", rows=more) | {"snapshot": ""} == {
        "n_changed": 5,
        "n_items": 10,
        "snapshot": "",
    }
    assert post(client, "upsert", rows=more[::-1])["n_changed"] == 5
    added = [x["columns"] for x in post(client, "items", ids=[*range(10, 15)])["items"]]
    assert added == [item["columns"] for item in items]


@pytest.mark.parametrize("columns", [values, nested, maps])
def test_an_upload_keeps_types(columns):
    source, columns = collection_of(dict(columns())), dict(columns())
    empty = {name: pa.nulls(5, column.type) for name, column in columns.items()}
    target = collection_of(empty)
    with (
        served(target, Settings(writable=True)) as url,
        fewbits.open(url) as remote,
    ):
        assert remote.update(source.to_arrow()) == 5
        assert plain(target) == plain(source)
        assert remote.get([0, 4]) == source.get([0, 4])
        new = {name: column.slice(0, 2) for name, column in columns.items()}
        assert remote.add(vectors(2), ids=[10, 11], columns=new) == 2
        assert remote.get([10, 11]) == source.get([0, 1])
        table = source.to_arrow().slice(0, 1)
        table = table.append_column("v", pa.array([*vectors(1)]))
        assert remote.upsert(table, id="id", column="v") == 1
        assert remote.get([0]) == source.get([0])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.timestamp("us"), "2020-01-31T10:00:00+01:00"),
        (pa.timestamp("us", "UTC"), "2020-01-31T10:00:00"),
        (pa.timestamp("s"), "2020-01-31T10:00:00.5"),
        (pa.timestamp("s"), 5),
        (pa.timestamp("us"), "31/01/2020"),
        (pa.date32(), "2020-02-30"),
        (pa.time32("s"), "25:00:00"),
        (pa.duration("s"), "PT0.5S"),
        (pa.duration("s"), "P1M"),
        (pa.duration("s"), 5),
        (pa.decimal128(5, 1), "1.55"),
        (pa.decimal128(38, 20), 0.12345678901234567),
        (pa.binary(), "not base64!"),
        (pa.binary(3), "YWI="),
        (pa.float32(), 0.123456789),
        (pa.int64(), "5"),
        (pa.int64(), True),
        (pa.int8(), 128),
        (pa.string(), 5),
        (pa.list_(pa.date32()), "2020-01-31"),
        (pa.list_(pa.date32()), [5]),
        (pa.struct([("a", pa.date32())]), {"b": "2020-01-31"}),
        (pa.struct([("a", pa.date32())]), {"a": "x"}),
    ],
)
def test_what_is_no_value_of_a_column_is_refused_in_a_line(client_of, kind, value):
    client = client_of(collection_of({"c": pa.nulls(5, kind)}), writable=True)
    for path, row in (
        ("update", {"id": 1}),
        ("add", {"_id": 10, "_vector": [1.0] * 32}),
    ):
        answer = client.post(f"/v1/{path}", json={"rows": [{**row, "c": value}]})
        assert answer.status_code == 422, answer.text
        message = answer.json()["error"]["message"]
        assert message.startswith("column 'c' must be ")
        assert "\n" not in message


def test_floats_that_json_has_no_numbers_for_are_words_and_come_back(client_of):
    nan, inf = float("nan"), float("inf")
    columns = {
        "double": pa.array([nan, None, inf, -inf, 0.5]),
        "float": pa.array([nan, None, inf, -inf, 0.5], pa.float32()),
        "list": pa.array([[nan, 1.0], None, [inf], [], [-inf, None]]),
        "words": pa.array([[nan], None, [nan], [], [None]]),
        "struct": pa.array([{"x": nan, "text": "NaN"}] * 3 + [None] * 2),
        "map": pa.array(
            [[("a", nan), ("b", 1.0)], [], None, [], []],
            pa.map_(pa.string(), pa.float64()),
        ),
        "text": pa.array(["NaN", "Infinity", None, "", "x"]),
    }
    collection = collection_of(columns)
    before = str(collection.to_arrow().to_pylist())
    client = client_of(collection, writable=True)
    items = post(client, "items", ids=[*range(5)])["items"]
    assert [x["columns"]["double"] for x in items] == [
        *("NaN", None, "Infinity", "-Infinity", 0.5)
    ]
    rows = [{"id": item["id"], **item["columns"]} for item in items]
    post(client, "update", rows=[{**row, "double": 1.0, "list": []} for row in rows])
    post(client, "update", rows=rows)
    assert str(collection.to_arrow().to_pylist()) == before
    answer = client.post("/v1/update", json={"rows": [{"id": 0, "double": "nan"}]})
    assert answer.status_code == 422
