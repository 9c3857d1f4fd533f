"""Columns of any type come back; others read the files."""

import datetime
import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fewbits._frozen import is_frozen
from fewbits.errors import ArgumentError
from fewbits.store import Int8Parts, Store
from tests.store import _format
from tests.store._tables import SCHEMA, VECTORS, after, changed, content, rows

TYPES = [
    (pa.bool_(), [True, None, False]),
    (pa.int8(), [1, None, -3]),
    (pa.float16(), [np.float16(0.5), None, np.float16(2)]),
    (pa.float64(), [0.1, None, float("inf")]),
    (pa.string(), ["a", None, "\N{SNOWMAN}"]),
    (pa.large_binary(), [b"", None, b"\0"]),
    (pa.binary(2), [b"ab", None, b"cd"]),
    (pa.date32(), [datetime.date(2026, 1, 1), None, None]),
    (
        pa.timestamp("us", "UTC"),
        [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)] * 3,
    ),
    (pa.decimal128(9, 2), [decimal.Decimal("1.25"), None, decimal.Decimal("-3")]),
    (pa.list_(pa.string()), [["a", None], None, []]),
    (pa.large_list(pa.list_(pa.int32())), [[[1], []], None, [None]]),
    (pa.list_(pa.float32(), 2), [[1, 2], None, [3, None]]),
    (pa.struct({"a": pa.int64(), "b": pa.string()}), [{"a": 1, "b": None}, None, {}]),
    (pa.map_(pa.string(), pa.int64()), [[("k", 1)], None, []]),
    (pa.dictionary(pa.int8(), pa.string()), ["x", None, "x"]),
    (pa.null(), [None, None, None]),
]


def fixed(*codes):
    return pa.array(codes, pa.binary(1))


@pytest.mark.parametrize(
    ("kind", "values"), TYPES, ids=[str(kind) for kind, _ in TYPES]
)
def test_columns_of_any_type(tmp_path, kind, values):
    column = pa.array(values, kind)
    schema = pa.schema({"_id": pa.int64(), "_code": pa.binary(1), "v": kind})
    store = Store.create(tmp_path, schema, n_bits=8, fingerprint="")
    for ids in ([0, 1, 2], [3, 4, 5]):
        table = pa.table({"_id": ids, "_code": fixed(b"a", b"b", b"c"), "v": column})
        with store.writer() as writer:
            writer.append(table)
            writer.delete([1])
            writer.commit()
    with store.writer() as writer:
        writer.compact()
    (part,) = store.snapshot().segments
    wanted = [*(v for i, v in enumerate(column.to_pylist()) if i != 1)]
    assert part.table()["v"].to_pylist() == wanted + column.to_pylist()
    assert store.verify().is_intact


def test_others_read_a_segment(tmp_path):
    store = Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")
    table = rows(range(100))
    with store.writer() as writer:
        writer.append(table)
        writer.commit()
    (path,) = tmp_path.glob("seg-*.arrow")
    wanted = table["text"].to_pylist()
    frame = pl.read_ipc(path)
    assert frame["text"].to_list() == wanted
    assert frame["_code"].to_list() == table["_code"].to_pylist()
    assert "_row" not in frame.columns  # it counts on from the first
    read = pd.read_feather(path)
    assert read["n"].tolist() == table["n"].to_pylist()
    dataset = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    found = duckdb.query("select text from dataset where _id < 50 order by _id desc")
    assert [text for (text,) in found.fetchall()] == wanted[49::-1]
    assert dataset.schema.metadata[b"fewbits.n_bits"] == b"64"
    assert dataset.schema.metadata[b"fewbits.bit_order"] == b"msb"


def test_row_numbers_are_kept_where_some_are_gone(tmp_path):
    store = Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(100)))
        writer.commit()
        writer.delete([7])
        writer.compact()
    (path,) = tmp_path.glob("seg-*.arrow")
    numbers = [*range(7), *range(8, 100)]
    assert pl.read_ipc(path)["_row"].to_list() == numbers
    (part,) = store.snapshot().segments
    assert [*part.rows] == numbers
    assert part.rows_at(np.array([0, 7])).tolist() == [0, 8]
    made = _format.manifest((tmp_path / "manifest-000002.json").read_bytes())
    assert "implicit-rows" not in made["reader_features"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.large_string()])
def test_the_files_are_as_they_are_documented(tmp_path, kind):
    schema = VECTORS.set(0, pa.field("_id", kind)).with_metadata({"own": "note"})
    store = Store.create(tmp_path, schema, n_bits=64, fingerprint="of a test")
    ids = [9 * i % 9001 for i in range(9000)]
    ids = ids if kind == pa.int64() else [f"item {i}" for i in ids]
    content, table = b"derived" * 10_000, rows(ids, 0, schema)
    with store.writer() as writer:
        writer.append(table)
        writer.commit()
        writer.keep_derived(writer.segments[0], [content])
        writer.delete([ids[7]])
        writer.update(changed(ids[3:5], 1, schema))
        writer.commit()
        writer.delete(ids[::5])
        held = store.snapshot()
        writer.commit()
    names = {path.name for path in tmp_path.iterdir()}
    for number, n_deleted in ((2, 1), (3, 1801)):
        data = (tmp_path / f"manifest-{number:06d}.json").read_bytes()
        assert (tmp_path / f"copy-{number:06d}.json").read_bytes() == data
        made = _format.manifest(data)
        (entry,) = made.pop("segments")
        token = entry["token"]
        stored = _format.schema(made.pop("schema"))
        assert stored.equals(schema, check_metadata=True)
        about = {"format": 2, "number": number, "n_bits": 64, "bit_order": "msb"}
        features = ["implicit-rows", *["inline"] * (number == 2), "updates"]
        about |= {"reader_features": features, "writer_features": []}
        about |= {"fingerprint": "of a test", "next_row": 9000}
        numbers = kind == pa.int64()
        assert made == about | {"next_id": 9001 if numbers else 0}
        of_rows = {"token": token, "n_rows": 9000, "first": 0, "last": 8999}
        of_rows |= {"id_range": [0, 9000] if numbers else None, "ids_rise": False}
        of_rows |= {"has_rows": False}
        (update,) = entry.pop("updates")
        files = {"rows": entry["rows"], "vectors": entry["vectors"]}
        if number == 2:
            state = {"n_live": 9000 - n_deleted, "deletes": None, "deleted": [7]}
        else:
            state = {"n_live": 9000 - n_deleted, "deletes": number}
            deletes = (tmp_path / f"del-{token}-{number}.bin").read_bytes()
            places = sorted({7, *range(0, 9000, 5)})
            assert _format.deletes(deletes) == (token, 9000, places)
        assert entry == of_rows | state | files
    data = (tmp_path / f"upd-{update.pop('token')}.arrow").read_bytes()
    sums = _format.block_sums(data)
    file = {"n_bytes": len(data), "crc": _format.sum_of_sums(sums), "sums": sums}
    assert update == {"n_rows": 2, "columns": ["text"], "file": file}
    values = pa.ipc.open_file(data).read_all()
    assert values.schema.field("_position") == pa.field("_position", pa.uint32(), False)
    assert values.to_pydict() == {"_position": [3, 4], "text": [None, "1 then 1"]}
    facts, sums = _format.sums((tmp_path / f"sum-{token}.bin").read_bytes())
    assert facts == of_rows | files | {"n_live": 9000, "deletes": None, "number": 1}
    for name, part, known in (("seg", "rows", sums[0]), ("vec", "vectors", sums[1])):
        data = (tmp_path / f"{name}-{token}.arrow").read_bytes()
        numbers, head, tail, n_bytes = known
        assert _format.block_sums(data) == numbers
        assert (data[: len(head)], data[-len(tail) :]) == (head, tail)
        crc = _format.sum_of_sums(numbers)
        assert entry[part] == {"n_bytes": n_bytes, "crc": crc}
        assert n_bytes == len(data)
        batch = pa.ipc.open_file(data).read_all()
        wanted = {b"own": b"note", b"fewbits.n_bits": b"64"}
        wanted |= {b"fewbits.bit_order": b"msb", b"fewbits.fingerprint": b"of a test"}
        assert batch.schema.metadata == wanted
        columns = ["_id", "_code", "text", "n"] if part == "rows" else ["_vector"]
        assert batch.select(columns).equals(table.select(columns))
        assert batch.column_names == columns
    index = (tmp_path / f"ids-{token}.bin").read_bytes()
    if kind == pa.int64():
        wanted = sorted((key, row) for row, key in enumerate(ids))
        keys, places = _format.index(index, token, 9000, 8)
    else:
        wanted = sorted((_format.crc32c(i.encode()), row) for row, i in enumerate(ids))
        keys, places = _format.index(index, token, 9000, 4)
    assert [*zip(keys, places, strict=True)] == wanted
    derived = (tmp_path / f"mih-{token}.bin").read_bytes()
    assert _format.derived(derived, token, entry["rows"]) == content
    assert (tmp_path / "LOCK").read_bytes() == b""
    kinds = {name.partition("-")[0] for name in names} - {"LOCK"}
    assert kinds == {
        "manifest",
        "copy",
        "seg",
        "vec",
        "sum",
        "upd",
        "del",
        "ids",
        "mih",
    }
    held.close()


def test_codes_and_vectors_are_views_of_the_map(tmp_path):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(100), 0, VECTORS))
        writer.commit()
    (part,) = store.snapshot().segments
    assert is_frozen(part.codes)
    assert is_frozen(part.vectors)


def test_int8_vectors(tmp_path):
    schema = pa.schema(
        {
            "_id": pa.int64(),
            "_code": pa.binary(1),
            "_vector": pa.list_(pa.int8(), 40),
            "_blocks": pa.list_(pa.float32(), 4),
        }
    )
    rng = np.random.default_rng(0)
    values = rng.integers(-128, 128, (3, 40), dtype=np.int8)
    blocks = rng.normal(size=(3, 2, 2)).astype(np.float32)
    table = pa.table(
        {
            "_code": fixed(b"a", b"b", b"c"),
            "_vector": pa.FixedSizeListArray.from_arrays(values.ravel(), 40),
            "_blocks": pa.FixedSizeListArray.from_arrays(blocks.ravel(), 4),
        }
    )
    store = Store.create(tmp_path, schema, n_bits=8, fingerprint="")
    with store.writer() as writer:
        writer.append(table.slice(1))
        writer.commit()
    (part,) = store.snapshot().segments
    assert isinstance(part.vectors, Int8Parts)
    part.check_vectors([1])
    np.testing.assert_array_equal(part.vectors.values, values[1:])
    np.testing.assert_array_equal(part.vectors.blocks, blocks[1:])


def test_an_array_may_change_after_it_was_given(tmp_path):
    store = Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")
    numbers = np.arange(5.0)
    table = rows(range(5)).set_column(3, "n", pa.array(numbers))
    with store.writer() as writer:
        writer.append(table)
        numbers[:] = 9
        writer.commit()
    assert store.snapshot().segments[0].table()["n"].to_pylist() == [0, 1, 2, 3, 4]


REFUSED = [
    {"n": ["a"]},
    {"_id": ["a"]},
    {"_code": [b"short"]},
    {"more": [1]},
    {"n": None},
]


@pytest.mark.parametrize("change", REFUSED)
def test_rows_that_do_not_fit(tmp_path, change):
    store = Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")
    table = rows([0])
    for name, values in change.items():
        if name in table.column_names:
            table = table.drop_columns(name)
        if values is not None:
            table = table.append_column(name, pa.array(values))
    with store.writer() as writer:
        with pytest.raises(ArgumentError, match=next(iter(change))):
            writer.append(table)
        assert writer.commit() == 0


def test_a_small_segment_is_as_it_is_documented(tmp_path):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(9), 0, VECTORS))
        writer.commit()
    made = _format.manifest((tmp_path / "manifest-000001.json").read_bytes())
    assert made["reader_features"] == ["implicit-rows", "inline"]
    (entry,) = made["segments"]
    for name, part in (("seg", "rows"), ("vec", "vectors")):
        data = (tmp_path / f"{name}-{entry['token']}.arrow").read_bytes()
        sums = _format.block_sums(data)
        file = {"n_bytes": len(data), "crc": _format.sum_of_sums(sums), "sums": sums}
        assert entry[part] == file
    assert not [*tmp_path.glob("sum-*")]


def test_a_column_is_added_and_another_changed(tmp_path):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer(segment_bytes=2000) as writer:
        writer.append(rows(range(100), 0, VECTORS))
        writer.delete([3, 50])
        writer.commit()
    before, files = store.snapshot(), {*tmp_path.glob("seg-*")}
    schema = VECTORS.append(pa.field("more", pa.string()))
    with store.writer(segment_bytes=2000) as writer:
        writer.retype(schema)
        writer.update(changed([7], 1, schema, "n"))
        writer.update(changed([2, 9, 7], 2, schema, "more"))
        writer.update(changed([2, 9, 7, 4], 2, schema, "more"))
        writer.commit()
    after_them = store.snapshot()
    assert {*tmp_path.glob("seg-*")} == files
    assert after_them.schema == schema
    ids = [i for part in after_them.segments for i in part.ids.to_pylist()]
    assert ids == [*range(100)]
    wanted = {i: {**row, "more": None} for i, row in content(before).items()}
    wanted = after(wanted, changed([7], 1, schema, "n"))
    wanted = after(wanted, changed([2, 9, 7, 4], 2, schema, "more"))
    assert content(after_them) == wanted
    assert before.schema == VECTORS
    rows_of = np.array([9, 9, 1, 7])
    (part, *_) = after_them.segments
    some = part.take(["more", "n", "_id"], rows_of)
    assert some.equals(part.whole().select(["more", "n", "_id"]).take(rows_of))
    with store.writer() as writer:
        writer.compact()
    assert not [*tmp_path.glob("upd-*")] or before.number < 2
    assert content(store.snapshot()) == wanted
    made = _format.manifest((tmp_path / "manifest-000003.json").read_bytes())
    assert "updates" not in made["reader_features"]


def test_files_of_changed_values_stay_few_and_small(tmp_path):
    store = Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")
    table = rows(range(9000))
    with store.writer() as writer:
        writer.append(table)
        writer.commit()
    (segment,) = tmp_path.glob("seg-*")
    wanted = content(store.snapshot())
    for seed, n in enumerate([1, 2, 800, 1, 1, 400, 1, 300, 1]):
        ids = np.random.default_rng(seed).permutation(9000)[:n].tolist()
        with store.writer() as writer:
            for column in ("text", "n"):
                new = changed(ids, seed, column=column)
                writer.update(new)
                wanted = after(wanted, new)
            writer.commit()
        assert content(store.snapshot()) == wanted
        assert len([*tmp_path.glob("upd-*")]) < 4
    assert segment.exists()
    more = changed([*range(3000)], 99)
    with store.writer() as writer:
        writer.update(more)  # of so many that all is written anew
        writer.commit()
    assert not segment.exists()
    assert not [*tmp_path.glob("upd-*")]
    assert content(store.snapshot()) == after(wanted, more)
