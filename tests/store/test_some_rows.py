"""Some rows: those of the whole column, and only where they lie anything is checked."""

import numpy as np
import pyarrow as pa
import pytest

from fewbits.errors import ArtefactError
from fewbits.store import Store
from tests.store.test_formats import TYPES

N = 30_000  # rows of several blocks


def store_of(folder, kind, values, n=N):
    column = pa.array(values, kind).take(pa.array(np.arange(n) % 3))
    schema = pa.schema({"_id": pa.int64(), "_code": pa.binary(9), "v": kind})
    store = Store.create(folder, schema, n_bits=72, fingerprint="")
    codes = pa.array([b"a" * 9] * n, pa.binary(9))
    with store.writer() as writer:
        writer.append(pa.table({"_code": codes, "v": column}))
        writer.commit()
    return store


def rows_of(store, rows):
    return store.snapshot().segments[0].take(["v", "_id"], np.array(rows, np.int64))


@pytest.mark.parametrize(
    ("kind", "values"),
    [each for each in TYPES if "view" not in str(each[0])],
    ids=lambda each: str(each) if isinstance(each, pa.DataType) else "",
)
def test_rows_of_any_type(tmp_path, kind, values):
    store = store_of(tmp_path, kind, values)
    whole = store.snapshot().segments[0].table(["v"])
    rng = np.random.default_rng(0)
    for rows in ([], [0], [N - 1, 0, 0], [5, 4, 3], rng.integers(0, N, 50).tolist()):
        found = rows_of(store, rows)
        assert found["_id"].to_pylist() == rows
        assert found["v"].equals(whole["v"].take(pa.array(rows, pa.int64())))


def test_no_columns_have_a_length(tmp_path):
    store = store_of(tmp_path, *TYPES[1], 9)
    assert store.snapshot().segments[0].take([], np.array([1, 1])).num_rows == 2


FLAT = [each for each in TYPES if str(each[0]) in {"bool", "string", "double"}]


@pytest.mark.parametrize(("kind", "values"), FLAT, ids=[str(kind) for kind, _ in FLAT])
def test_damage_is_told_or_does_not_matter(tmp_path, kind, values):
    n = 10 * N if kind == pa.bool_() else N
    store = store_of(tmp_path, kind, values, n)
    (path,) = store.folder.glob("seg-*.arrow")
    content = path.read_bytes()
    rows = [3, 15, n - 1]
    wanted = rows_of(store, rows)
    told, places = 0, range(40_000, len(content), 65_536)
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 16
        path.write_bytes(changed)
        try:
            assert rows_of(store, rows).equals(wanted)
        except ArtefactError:
            told += 1
    assert 0 < told < len(places)
    path.write_bytes(content)
    assert rows_of(store, rows).equals(wanted)
