"""Tables come back from bytes as they were; no bytes lead a search astray."""

import struct

import numpy as np
import pytest

from fewbits.index import FlatIndex, MultiIndexHashing, _tables
from fewbits.index._tables import build_tables
from fewbits.index.table_files import cached_tables, table_bytes, tables_from

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, (300, 5), dtype=np.uint8)
CUTS, HEADER = 64, "<16sQQQQ"


@pytest.fixture(params=[True, False], ids=["inside", "outside"])
def tables(request, monkeypatch):
    monkeypatch.setattr(_tables, "_MOST", 1000 if request.param else 0)
    made = build_tables(CODES)
    assert (made.entries is not None) == request.param
    return made


@pytest.fixture
def content(tables):
    return b"".join(table_bytes(tables))


def test_tables_come_back_as_they_were(tables, content):
    loaded = tables_from(content, CODES)
    for name in ("codes", "cuts", "starts", "rows", "entries"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(tables, name))
    assert loaded.n_bytes == tables.n_bytes
    assert not loaded.rows.flags.writeable


def test_a_search_in_tables_that_were_kept(content):
    read = []
    cache = cached_tables(lambda: read.append(1) or content)
    codes = np.frombuffer(CODES.tobytes(), np.uint8).reshape(CODES.shape)
    parts = [(codes, np.arange(300), None, cache)]
    index = MultiIndexHashing.from_segments(parts, use_scan=False).freeze()
    for k in (1, 7):
        found, expected = (x.search(CODES[:20], k) for x in (index, FlatIndex(CODES)))
        np.testing.assert_array_equal(found.ids, expected.ids)
    assert read == [1]


@pytest.mark.parametrize("kept", [None, b"", b"nothing of the kind" * 9])
def test_what_was_not_kept_is_made(kept):
    parts = [(CODES, np.arange(300), None, cached_tables(lambda: kept))]
    index = MultiIndexHashing.from_segments(parts, use_scan=False)
    found = index.search(CODES[:9], 3)
    np.testing.assert_array_equal(found.ids, FlatIndex(CODES).search(CODES[:9], 3).ids)
    assert index._segments.parts[0].tables.of(CODES, None).get(0) is not None


def test_codes_of_other_shapes_have_other_tables(content):
    for codes in (CODES[:-1], CODES[:, :-1].copy(), CODES.reshape(-1, 10)):
        assert tables_from(content, codes) is None


def test_truncated_and_extended_bytes(content):
    for length in [*range(0, 200), *range(200, len(content), 997), len(content) - 1]:
        assert tables_from(content[:length], CODES) is None
    assert tables_from(content + b"\0", CODES) is None


@pytest.mark.parametrize("value", [0, 299, 300, 2**31, 2**32 - 1])
def test_numbers_that_would_lead_a_search_astray(content, value):
    n_starts = sum(2**n + 1 for n in np.diff(build_tables(CODES).cuts))
    starts = CUTS + 64
    rows = starts + -(-4 * n_starts // 64) * 64
    for place in (starts, starts + 4 * 40, rows - 64, rows, rows + 4 * 700):
        changed = bytearray(content)
        struct.pack_into("<I", changed, place, value)
        loaded = tables_from(bytes(changed), CODES)
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
def test_cuts_that_cannot_be(content, cut):
    changed = bytearray(content)
    struct.pack_into("<q", changed, CUTS + 8, cut)
    assert tables_from(bytes(changed), CODES) is None


@pytest.mark.parametrize("field", range(5))
@pytest.mark.parametrize("value", [0, 1, 2**31, 2**63])
def test_headers_that_lie(content, field, value):
    fields = list(struct.unpack_from(HEADER, content))
    if fields[field] == value:
        return
    fields[field] = value if field else bytes([value % 256]) * 16
    changed = bytearray(content)
    struct.pack_into(HEADER, changed, 0, *fields)
    assert tables_from(bytes(changed), CODES) is None


def test_tables_of_no_codes():
    content = b"".join(table_bytes(build_tables(CODES[:0])))
    assert tables_from(content, CODES[:0]).rows.shape[1] == 0
