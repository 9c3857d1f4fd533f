"""Columns of every type come back from files and tables, and as JSON."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.encoders import LinearEncoder

X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], np.float32)
IDS = ["a", "b", "c"]
DAYS = [date(2020, 2, 28), date(2020, 2, 29), None]
NOON = [datetime(2020, 7, 1, 12), None, datetime(1969, 12, 31, 23, 59)]
CLOCK = [time(1, 2, 3), None, time(23, 59)]


class Case(NamedTuple):
    column: Any
    json: Any  # of the first row


KEPT = {
    "decimal": Case(
        pa.array([Decimal("1.10"), None, Decimal("-2.00")], pa.decimal128(10, 2)),
        "1.10",
    ),
    "wide decimal": Case(
        pa.array([Decimal(10) ** 50, None, None], pa.decimal256(60, 2)),
        "1" + "0" * 50 + ".00",
    ),
    "date": Case(pa.array(DAYS), "2020-02-28"),
    "date64": Case(pa.array(DAYS, pa.date64()), "2020-02-28"),
    "time of seconds": Case(pa.array(CLOCK, pa.time32("s")), "01:02:03"),
    "time": Case(pa.array(CLOCK, pa.time64("us")), "01:02:03"),
    "timestamp": Case(pa.array(NOON, pa.timestamp("ms")), "2020-07-01T12:00:00"),
    "with time zone": Case(
        pa.array(NOON, pa.timestamp("us", "Europe/Berlin")), "2020-07-01T14:00:00+02:00"
    ),
    "duration": Case(pa.array([timedelta(seconds=1), None, timedelta(1)]), "PT1S"),
    "category": Case(pa.array(["x", None, "y"]).dictionary_encode(), "x"),
    "ordinal": Case(
        pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None], pa.int8()), pa.array(["low", "high"]), ordered=True
        ),
        "high",
    ),
    "text": Case(pa.array(["ä", None, ""]), "ä"),
    "large text": Case(pa.array(["ä", None, ""], pa.large_string()), "ä"),
    "list": Case(pa.array([[1, None], [], None], pa.list_(pa.int16())), [1, None]),
    "large list": Case(pa.array([["a"], None, []], pa.large_list(pa.string())), ["a"]),
    "fixed list": Case(pa.array([[1, 2]] * 3, pa.list_(pa.int8(), 2)), [1, 2]),
    "struct": Case(
        pa.array([{"d": DAYS[0], "n": None}, None, {"d": None, "n": 1}]),
        {"d": "2020-02-28", "n": None},
    ),
    "bytes": Case(pa.array([b"\xff\x00", None, b""]), "/wA="),
    "large bytes": Case(pa.array([b"\xff", None, b""], pa.large_binary()), "/w=="),
    "fixed bytes": Case(pa.array([b"ab", None, b"cd"], pa.binary(2)), "YWI="),
    "truth": Case(pa.array([True, None, False]), True),
    "uint64": Case(pa.array([2**64 - 1, None, 0], pa.uint64()), 2**64 - 1),
    "half": Case(pa.array(np.array([0.5, 1, 2], np.float16)), 0.5),
}
#: Parquet has no days in milliseconds, and no times in seconds.
IN_PARQUET = {"date64": pa.date32(), "time of seconds": pa.time32("ms")}
VECTORS = pa.array(X.tolist(), pa.list_(pa.float32()))
TABLE = pa.table(
    {"v": VECTORS, "key": IDS, **{name: case.column for name, case in KEPT.items()}}
)


def written(kind, path):
    if kind == "parquet":
        pq.write_table(TABLE, path)
        return path
    new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with new(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return path


def on_the_command_line(*words):
    said = CliRunner().invoke(app, [str(word) for word in words])
    assert said.exit_code == 0, said.output
    return said.stdout


@pytest.fixture(scope="module", params=["table", "parquet", "arrow", "stream"])
def folder(request, tmp_path_factory):
    """Return the folder of a bundle with the table, from a file by the commands."""
    parts = tmp_path_factory.mktemp("kept")
    bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    if request.param == "table":
        built = bundle.with_items(TABLE, vectors="v", id="key", keep=[*KEPT])
        built.save(parts / "b")
        return parts / "b"
    bundle.save(parts / "b")
    suffix = request.param.replace("stream", "arrow")
    path = written(request.param, parts / f"t.{suffix}")
    keep = [word for name in KEPT for word in ("--keep", name)]
    columns = ("--column", "v", "--id", "key", *keep)
    on_the_command_line("build", parts / "b", path, *columns)
    return parts / "b"


@pytest.fixture(scope="module")
def loaded(folder):
    return Bundle.load(folder)


@pytest.fixture(scope="module")
def said(folder):
    np.save(folder.parent / "q.npy", X)
    asked = ("-i", folder.parent / "q.npy", "-k", 1, "--json")
    lines = on_the_command_line("search", folder, *asked).splitlines()
    hits = [json.loads(line, parse_constant=pytest.fail)["hits"][0] for line in lines]
    assert [hit["id"] for hit in hits] == IDS
    return [hit["columns"] for hit in hits]


@pytest.mark.parametrize("name", KEPT)
def test_a_column_comes_back(loaded, said, folder, name):
    wanted = KEPT[name].column
    kept = loaded.collection.table[name]
    of_parquet = (folder.parent / "t.parquet").exists()
    given = IN_PARQUET.get(name, wanted.type) if of_parquet else wanted.type
    if pa.types.is_dictionary(given):  # as wide as the values of all segments may need
        given = pa.dictionary(pa.int32(), given.value_type, given.ordered)
    assert kept.type == given
    assert kept.to_pylist() == wanted.to_pylist()
    found = [hits[0]["columns"][name] for hits in loaded.search_records(X, 1)]
    assert found == wanted.to_pylist()
    assert said[0][name] == KEPT[name].json
    missing = [place for place, value in enumerate(wanted.to_pylist()) if value is None]
    assert [said[place][name] for place in missing] == [None] * len(missing)
