"""Ids are found wherever they are, among any others."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store import Store
from fewbits.store._disk import Disk
from fewbits.store._given_ids import check_once
from fewbits.store._ids import IdIndex, keys_of

TOKEN = "0123456789abcdef"
NUMBERS = st.one_of(st.integers(0, 30), st.integers(0, 2**63 - 1))


def stored(index, n, width):
    data = b"".join(
        bytes(memoryview(piece).cast("B")) for piece in index.to_bytes(TOKEN)
    )
    return IdIndex.from_bytes(data, n, width, TOKEN, "name")


@given(st.lists(NUMBERS, unique=True), st.lists(NUMBERS))
def test_numbers(ids, wanted):
    ids, asked = np.array(ids, np.int64), np.array(wanted, np.int64)
    index = IdIndex.of(ids)
    expected = [ids.tolist().index(i) if i in ids else -1 for i in wanted]
    assert index.find(asked, None).tolist() == expected
    if len(ids):
        assert stored(index, len(ids), 8).find(asked, None).tolist() == expected


@pytest.mark.parametrize("spread", [1, 3, 5, 1 << 20, 1 << 40, (1 << 63) // 1001])
def test_ids_that_lie_close_and_far(spread):
    places = np.random.default_rng(0).permutation(1000)
    ids = np.append(places * spread, 1000 * spread - np.arange(2 * (spread > 4)))
    index = IdIndex.of(ids)
    assert index.find(ids, None).tolist() == list(range(len(ids)))
    assert index.find(ids - 1, None).tolist() == [
        int(np.flatnonzero(ids == i)[0]) if i in ids else -1 for i in ids - 1
    ]
    check_once(pa.array(ids))
    with pytest.raises(ArgumentError, match=f"id {ids[7]} is given 2 times"):
        check_once(pa.array([*ids, ids[7]]))


def test_equal_keys_of_texts():
    texts = np.array([f"item {i}" for i in range(200)])
    keys = keys_of(pa.array(texts, pa.large_string())) % np.uint32(3)
    index = stored(IdIndex.of(keys), 200, 4)
    order = np.random.default_rng(0).permutation(200)

    def same(rows, wanted):
        return texts[rows] == texts[order[wanted]]

    assert index.find(keys[order], same).tolist() == order.tolist()
    none = index.find(keys[order], lambda rows, wanted: np.zeros(len(rows), np.bool_))
    assert set(none.tolist()) == {-1}


@pytest.mark.parametrize("n", [1, 8191, 8192, 8193, 40_000])
@pytest.mark.parametrize("spread", [1, 10**12])
def test_edges_of_blocks(n, spread):
    ids = np.random.default_rng(0).permutation(n) * spread
    index = stored(IdIndex.of(ids), n, 8)
    asked = np.concatenate([ids, ids + spread, [-1]])
    rows = np.full(n + 2, -1)
    rows[ids // spread] = np.arange(n)
    assert index.find(asked, None).tolist() == [
        *range(n),
        *rows[ids // spread + 1].tolist(),
        -1,
    ]


def test_another_segment():
    data = b"".join(map(bytes, IdIndex.of(np.arange(5)).to_bytes("f" * 16)))
    with pytest.raises(ArtefactError, match="another segment"):
        IdIndex.from_bytes(data, 5, 8, TOKEN, "name")
    with pytest.raises(ArtefactError, match="not the index of 6"):
        IdIndex.from_bytes(data, 6, 8, "f" * 16, "name")


def one_segment(folder, ids):
    schema = pa.schema({"_id": pa.int64(), "_code": pa.binary(1)})
    store = Store.create(folder, schema, n_bits=8, fingerprint="of a test")
    codes = pa.array([b"c"] * len(ids), pa.binary(1))
    with store.writer() as writer:
        writer.append(pa.table({"_id": ids, "_code": codes}))
        writer.commit()
    return store


def test_few_ids_that_rise_read_few_blocks(tmp_path):
    ids = 5 + 3 * np.arange(600_000)
    (part,) = one_segment(tmp_path, ids).snapshot().parts
    asked = [ids[0], ids[1], ids[77_777], ids[-1], ids[99] + 1, ids[-2] + 2, 4, 1 << 60]
    assert part.find(pa.array(asked)).tolist() == [0, 1, 77_777, 599_999, *[-1] * 4]
    checked = part._segment.rows.checked._good
    assert checked.sum() < len(checked) / 3
    assert part.find(pa.array(ids)).tolist() == list(range(len(ids)))


def test_ids_of_4096_rows_are_found_without_reading_rows(tmp_path, monkeypatch):
    ids = np.random.default_rng(0).permutation(4096)
    (part,) = one_segment(tmp_path, ids).snapshot().parts
    read, real = [], Disk.map
    monkeypatch.setattr(
        Disk, "map", lambda disk, name: read.append(name[:4]) or real(disk, name)
    )
    assert part.find(pa.array([ids[9], 4095])).tolist() == [9, ids.tolist().index(4095)]
    assert read == ["ids-"]
