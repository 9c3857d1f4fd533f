"""Some rows: those of the whole column, and only where they lie anything is checked."""

import numpy as np
import pyarrow as pa
import pytest

from fewbits.errors import ArtefactError
from fewbits.store import Store, _blocks
from tests.store._sizes import NIGHTLY
from tests.store.test_formats import TYPES

N = 3000


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    for module in ("_blocks", "_some_rows", "_sums", "_snapshot"):
        monkeypatch.setattr(f"fewbits.store.{module}.BLOCK", 256)


def store_of(folder, kind, values):
    column = pa.array([values[i % 3] for i in range(N)], kind)
    schema = pa.schema({"_id": pa.int64(), "_code": pa.binary(1), "v": kind})
    store = Store.create(folder, schema, n_bits=8, fingerprint="")
    codes = pa.array([b"a"] * N, pa.binary(1))
    with store.writer() as writer:
        writer.append(pa.table({"_code": codes, "v": column}))
        writer.commit()
    return store


def rows_of(store, rows):
    return store.snapshot().parts[0].take(["v", "_id"], np.array(rows, np.int64))


@pytest.mark.parametrize(
    ("kind", "values"), TYPES, ids=[str(kind) for kind, _ in TYPES]
)
def test_rows_of_any_type(tmp_path, kind, values):
    store = store_of(tmp_path, kind, values)
    whole = store.snapshot().parts[0].table(["v"])
    rng = np.random.default_rng(0)
    for rows in ([], [0], [N - 1, 0, 0], [5, 4, 3], rng.integers(0, N, 50).tolist()):
        found = rows_of(store, rows)
        assert found["_id"].to_pylist() == rows
        assert found["v"].equals(whole["v"].take(pa.array(rows, pa.int64())))


def test_no_columns_have_a_length(tmp_path):
    store = store_of(tmp_path, *TYPES[1])
    assert store.snapshot().parts[0].take([], np.array([1, 1])).num_rows == 2


FLAT = [each for each in TYPES if str(each[0]) in {"bool", "string", "double"}]


@pytest.mark.parametrize(("kind", "values"), FLAT[1:], ids=["double", "string"])
def test_only_the_blocks_of_rows_are_checked(tmp_path, kind, values, monkeypatch):
    store = store_of(tmp_path, kind, values)
    checked = []
    damaged = _blocks.CheckedBytes.damaged

    def noted(self, blocks):
        checked.extend(blocks.tolist())
        return damaged(self, blocks)

    part = store.snapshot().parts[0]
    part.codes  # noqa: B018 - what opens the file
    monkeypatch.setattr(_blocks.CheckedBytes, "damaged", noted)
    part.take(["v"], np.array([7, 2000]))
    assert 1 <= len(checked) <= 8
    checked.clear()
    part.table(["v"])
    assert len(checked) >= 2


@pytest.mark.parametrize(("kind", "values"), FLAT, ids=[str(kind) for kind, _ in FLAT])
def test_damage_is_told_or_does_not_matter(tmp_path, kind, values):
    store = store_of(tmp_path, kind, values)
    (path,) = store.folder.glob("seg-*.arrow")
    content = path.read_bytes()
    rows = [3, 1500, 2999]
    wanted = rows_of(store, rows)
    told = 0
    step = 61 if NIGHTLY else 151
    for place in range(0, len(content), step):
        changed = bytearray(content)
        changed[place] ^= 16
        path.write_bytes(changed)
        try:
            assert rows_of(store, rows).equals(wanted)
        except ArtefactError:
            told += 1
    path.write_bytes(content)
    assert 0 < told < len(content) // step
