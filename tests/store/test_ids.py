"""Ids are found wherever they are, among any others."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArtefactError
from fewbits.store import Store
from tests.store import _format
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import small_segments
from tests.store._tables import SCHEMA, rows

NUMBERS = st.one_of(st.integers(0, 30), st.integers(0, 2**63 - 1))
#: Texts of which two have the same CRC-32C, by which they are sorted.
EQUAL_KEYS = [
    *("337da80f96", "322af095dc", "5a142a5546", "5f9e54009d", "27c20a93c8"),
    *("e37a232b5c", "652b0039ba", "7a3105cd9c", "df0254d460", "d8c06f3b36"),
    *("c5c5c49476", "46fc129cb7", "2625e71721", "aa8cc917a1", "f3303407ec"),
    *("07d8c9bf88", "36be7d66b0", "a5432fd371", "d3a9231859", "a79eb41cc5"),
]


def one_segment(folder, ids, kind=None):
    kind = kind or pa.int64()
    schema = pa.schema({"_id": kind, "_code": pa.binary(1)})
    store = Store.create(folder, schema, n_bits=8, fingerprint="of a test")
    codes = pa.array([b"c"] * len(ids), pa.binary(1))
    with store.writer() as writer:
        writer.append(pa.table({"_id": pa.array(ids, kind), "_code": codes}))
        writer.commit()
    (part,) = store.snapshot().segments
    return part


@given(st.lists(NUMBERS, unique=True, min_size=1), st.lists(NUMBERS))
def test_numbers(ids, wanted):
    """Of rows that are not written yet, and of an index in a file."""
    expected = [ids.index(i) if i in ids else -1 for i in wanted]
    with pytest.MonkeyPatch.context() as monkeypatch:
        small_segments(monkeypatch)
        store = simulated_store(SimulatedDisk(), SCHEMA)
        with store.writer() as writer:
            writer.append(rows(ids))
            known = [i for i in dict.fromkeys(wanted) if i in ids]
            assert writer.delete(wanted) == len(known)
            writer.append(rows(known))
            writer.commit()
            writer.upsert(rows(ids))
            writer.commit()
            writer.compact()
        (part,) = store.snapshot().segments
        assert part.find(pa.array(wanted, pa.int64())).tolist() == expected


@pytest.mark.parametrize("spread", [1, 3, 5, 1 << 20, 1 << 40, (1 << 63) // 6001])
def test_ids_that_lie_close_and_far(tmp_path, spread):
    places = np.random.default_rng(0).permutation(6000)
    ids = np.append(places * spread, 6000 * spread - np.arange(2 * (spread > 4)))
    part = one_segment(tmp_path, ids)
    assert part.find(pa.array(ids)).tolist() == list(range(len(ids)))
    at = {int(i): place for place, i in enumerate(ids)}
    before = part.find(pa.array(ids - 1)).tolist()
    assert before == [at.get(int(i), -1) for i in ids - 1]


def test_texts_of_equal_keys(tmp_path):
    texts = [*EQUAL_KEYS[::2], *(f"item {i}" for i in range(5000)), *EQUAL_KEYS[1::2]]
    part = one_segment(tmp_path, texts, pa.large_string())
    assert list(tmp_path.glob("ids-*"))
    order = np.random.default_rng(0).permutation(len(texts))
    found = part.find(pa.array([texts[i] for i in order], pa.large_string()))
    assert found.tolist() == order.tolist()
    one = one_segment(tmp_path / "one", texts[:5010], pa.large_string())
    others = pa.array(EQUAL_KEYS[1::2], pa.large_string())
    assert set(one.find(others).tolist()) == {-1}


@pytest.mark.parametrize("n", [1, 8191, 8192, 8193, 40_000])
@pytest.mark.parametrize("spread", [1, 10**12])
def test_edges_of_blocks(tmp_path, n, spread):
    ids = np.random.default_rng(0).permutation(n) * spread
    part = one_segment(tmp_path, ids)
    rows_of = np.full(n + 2, -1)
    rows_of[ids // spread] = np.arange(n)
    assert part.find(pa.array([*ids, *(ids + spread), -1])).tolist() == [
        *range(n),
        *rows_of[ids // spread + 1].tolist(),
        -1,
    ]


def test_few_ids_that_rise_read_few_blocks(tmp_path):
    ids = 5 + 3 * np.arange(600_000)
    part = one_segment(tmp_path, ids)
    wanted = [ids[0], ids[1], ids[77_777], ids[-1], ids[99] + 1, ids[-2] + 2, 4]
    (path,) = tmp_path.glob("seg-*")
    data = bytearray(path.read_bytes())
    data[data.index(ids[400_000:].tobytes())] ^= 1
    path.write_bytes(data)
    found = part.find(pa.array([*wanted, 1 << 60]))
    assert found.tolist() == [0, 1, 77_777, 599_999, *[-1] * 4]
    with pytest.raises(ArtefactError, match="damaged"):
        part.find(pa.array(ids))


def test_ids_of_4096_rows_are_found_without_reading_rows(tmp_path):
    ids = np.random.default_rng(0).permutation(4096)
    part = one_segment(tmp_path, ids)
    for kind in ("seg-*", "sum-*"):
        for path in tmp_path.glob(kind):
            path.unlink()
    assert part.find(pa.array([ids[9], 4095])).tolist() == [9, ids.tolist().index(4095)]


@pytest.mark.parametrize(
    ("field", "value", "wrong"),
    [("ids_rise", True, "order of ids"), ("id_range", [0, 5], "largest id")],
)
def test_verify_compares_what_the_manifest_says(tmp_path, field, value, wrong):
    one_segment(tmp_path, [2, 0, 1])
    store = Store(tmp_path)
    name = f"manifest-{store.newest():06d}.json"
    content = _format.manifest((tmp_path / name).read_bytes())
    content["segments"][0][field] = value
    for path in (tmp_path / name, tmp_path / name.replace("manifest", "copy")):
        path.write_bytes(_format.manifest_bytes(content))
    (damage,) = Store(tmp_path).verify().damages
    assert wrong in damage.reason
