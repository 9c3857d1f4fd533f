"""Tables come back from a file as they were, or not at all."""

import struct
from zlib import crc32

import numpy as np
import pytest

from fewbits.index import FlatIndex, MultiIndexHashing, _costs, _multi_index, _tables
from fewbits.index._segments import Segments
from fewbits.index._table_files import load_tables, save_tables
from fewbits.index._tables import build_tables

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, (300, 5), dtype=np.uint8)


@pytest.fixture(params=[True, False], ids=["inside", "outside"])
def tables(request, monkeypatch):
    monkeypatch.setattr(_tables, "_MOST", 1000 if request.param else 0)
    made = build_tables(CODES)
    assert (made.entries is not None) == request.param
    return made


@pytest.fixture
def path(tables, tmp_path):
    save_tables(tmp_path / "mih-0.bin", tables)
    return tmp_path / "mih-0.bin"


def test_tables_come_back_as_they_were(tables, path):
    loaded = load_tables(path, CODES)
    for name in ("codes", "cuts", "starts", "rows", "entries"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(tables, name))
    assert loaded.n_bytes == tables.n_bytes
    assert not loaded.rows.flags.writeable


def test_a_search_in_mapped_tables(path, monkeypatch):
    monkeypatch.setattr(_multi_index, "_FEWEST", 1)
    monkeypatch.setattr(_costs, "_SCAN", {"portable": (10**9, 10**9)})
    index, plain = MultiIndexHashing(CODES), FlatIndex(CODES)
    (segment,) = index._segments.parts
    loaded = load_tables(path, segment.codes)
    segment.keep(loaded, build_tables, None)
    found, expected = (each.search(CODES[:20], 7) for each in (index, plain))
    np.testing.assert_array_equal(found.ids, expected.ids)
    assert segment.derived(build_tables, None) is loaded


def test_files_that_are_not_there_or_no_files(tmp_path):
    assert load_tables(tmp_path / "mih-0.bin", CODES) is None
    assert load_tables(tmp_path, CODES) is None
    (tmp_path / "mih-1.bin").touch()
    assert load_tables(tmp_path / "mih-1.bin", CODES) is None


def test_other_codes_have_other_tables(path):
    other = CODES.copy()
    other[7, 2] ^= 1
    for codes in (other, CODES[:-1], CODES[:, :-1].copy(), CODES.reshape(-1, 10)):
        assert load_tables(path, codes) is None


def test_truncated_and_extended_files(path):
    content = path.read_bytes()
    for length in [*range(0, 200), *range(200, len(content), 997), len(content) - 1]:
        path.write_bytes(content[:length])
        assert load_tables(path, CODES) is None
    path.write_bytes(content + b"\0")
    assert load_tables(path, CODES) is None


def test_bits_that_flip(path):
    content = path.read_bytes()
    places = {*range(108), *rng.integers(0, len(content), 300).tolist()}
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert load_tables(path, CODES) is None, place


def resealed(content):
    """Return what a hostile writer makes: with checksums that fit."""
    fields = bytearray(content[:60])
    fields[56:60] = crc32(content[64:]).to_bytes(4, "little")
    return bytes(fields) + crc32(fields).to_bytes(4, "little") + content[64:]


@pytest.mark.parametrize("value", [0, 299, 300, 2**31, 2**32 - 1])
def test_numbers_that_would_lead_a_search_astray(path, value):
    content = path.read_bytes()
    assert load_tables(path, CODES) is not None
    path.write_bytes(resealed(content))
    assert load_tables(path, CODES) is not None
    cuts, n_starts = 64, sum(2**n + 1 for n in np.diff(build_tables(CODES).cuts))
    starts = cuts + 64
    rows = starts + -(-4 * n_starts // 64) * 64
    for place in (starts, starts + 4 * 40, rows - 64, rows, rows + 4 * 700):
        changed = bytearray(content)
        struct.pack_into("<I", changed, place, value)
        path.write_bytes(resealed(bytes(changed)))
        loaded = load_tables(path, CODES)
        if loaded is not None:  # wrong, but no reading where nothing is
            assert loaded.rows.max() < 300
            first = 0
            for length in np.diff(loaded.cuts):
                own = loaded.starts[first : first + 2**length + 1].astype(np.int64)
                assert own[0] == 0
                assert own[-1] == 300
                assert (np.diff(own) >= 0).all()
                first += len(own)


@pytest.mark.parametrize("cut", [-1, 0, 40, 41, 2**40])
def test_cuts_that_cannot_be(path, cut):
    changed = bytearray(path.read_bytes())
    struct.pack_into("<q", changed, 64 + 8, cut)
    path.write_bytes(resealed(bytes(changed)))
    assert load_tables(path, CODES) is None


@pytest.mark.parametrize("field", range(8))
@pytest.mark.parametrize("value", [0, 1, 2**31, 2**32 - 1])
def test_headers_that_lie(path, field, value):
    content = path.read_bytes()
    fields = list(struct.unpack("<16sIIQQQQI", content[:60]))
    if field == 0:
        fields[0] = bytes([value % 256]) * 16
    elif fields[field] == value:
        return
    else:
        fields[field] = value
    packed = struct.pack("<16sIIQQQQI", *fields)
    path.write_bytes(packed + crc32(packed).to_bytes(4, "little") + content[64:])
    assert load_tables(path, CODES) is None


def test_tables_of_no_codes(tmp_path):
    save_tables(tmp_path / "mih-0.bin", build_tables(CODES[:0]))
    assert load_tables(tmp_path / "mih-0.bin", CODES[:0]).rows.shape[1] == 0
    assert Segments.of(CODES[:0], np.arange(0)).parts[0].codes.shape == (0, 5)
