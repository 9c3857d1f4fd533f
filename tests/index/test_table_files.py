"""Tables are read or made where they pay, and no bytes lead a search astray."""

import struct

import numpy as np
import pytest

from fewbits import _kernels
from fewbits.index import FlatIndex, MultiIndexHashing
from fewbits.index.table_files import (
    build_tables,
    bytes_to_keep,
    kept_tables,
    table_bytes,
    tables_from,
)

needs_compiled = pytest.mark.skipif(not _kernels.COMPILED, reason="all is scanned")
rng = np.random.default_rng(0)
#: Tables that hold the codes, too, would be too large for long codes of few rows.
SHAPES = {"inside": (10_000, 3), "outside": (300, 5)}
CUTS, HEADER = 64, "<16sQQQQ"


@pytest.fixture(params=SHAPES)
def codes(request):
    shape = SHAPES[request.param]
    codes = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert (build_tables(codes).entries is not None) == (request.param == "inside")
    return codes


@pytest.fixture
def content(codes):
    return b"".join(table_bytes(build_tables(codes)))


def test_tables_come_back_as_they_were(codes, content):
    loaded, tables = tables_from(content, codes), build_tables(codes)
    for name in ("codes", "cuts", "starts", "positions", "entries"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(tables, name))
    assert loaded.n_bytes == tables.n_bytes
    assert not loaded.positions.flags.writeable
    assert b"".join(bytes_to_keep(codes, None, always=True)) == content


def looking_up(codes, read):
    parts = [(codes, np.arange(len(codes)), None, kept_tables(codes, read))]
    return MultiIndexHashing.from_chunks(parts, use_scan=False)


@needs_compiled
def test_a_search_in_tables_that_were_kept(codes, content):
    read = []
    codes = np.frombuffer(codes.tobytes(), np.uint8).reshape(codes.shape)
    index = looking_up(codes, lambda: read.append(1) or content)
    for k in (1, 7):
        found, expected = (x.search(codes[:20], k) for x in (index, FlatIndex(codes)))
        np.testing.assert_array_equal(found.ids, expected.ids)
    assert read == [1]


@pytest.mark.parametrize("kept", [None, b"", b"nothing of the kind" * 9])
def test_what_was_not_kept_is_made(codes, kept):
    index = looking_up(codes, lambda: kept)
    for _ in range(2):
        found = index.search(codes[:9], 3)
        expected = FlatIndex(codes).search(codes[:9], 3)
        np.testing.assert_array_equal(found.ids, expected.ids)


@needs_compiled
def test_without_memory_there_are_none(codes):
    def read():
        raise MemoryError

    index, flat = looking_up(codes, read), FlatIndex(codes)
    for _ in range(2):
        found, expected = index.search(codes[:3], 2), flat.search(codes[:3], 2)
        np.testing.assert_array_equal(found.ids, expected.ids)


def test_codes_of_other_shapes_have_other_tables(codes, content):
    for other in (codes[:-1], codes[:, :-1].copy(), codes.reshape(len(codes) // 2, -1)):
        assert tables_from(content, other) is None


def test_truncated_and_extended_bytes(codes, content):
    for length in [*range(0, 200), *range(200, len(content), 997), len(content) - 1]:
        assert tables_from(content[:length], codes) is None
    assert tables_from(content + b"\0", codes) is None


@pytest.mark.parametrize("value", [0, 299, 300, 9999, 10_000, 2**31, 2**32 - 1])
def test_numbers_that_would_lead_a_search_astray(codes, content, value):
    n_starts = sum(2**n + 1 for n in np.diff(build_tables(codes).cuts))
    starts = CUTS + 64
    rows = starts + -(-4 * n_starts // 64) * 64
    for place in (starts, starts + 4 * 40, rows - 64, rows, rows + 4 * 700):
        changed = bytearray(content)
        struct.pack_into("<I", changed, place, value)
        loaded = tables_from(bytes(changed), codes)
        if loaded is not None:  # wrong, but no reading where nothing is
            assert loaded.positions.max() < len(codes)
            first = 0
            for length in np.diff(loaded.cuts):
                own = loaded.starts[first : first + 2**length + 1].astype(np.int64)
                assert own[0] == 0
                assert own[-1] == len(codes)
                assert (np.diff(own) >= 0).all()
                first += len(own)


@pytest.mark.parametrize("cut", [-1, 0, 24, 40, 41, 2**40])
def test_cuts_that_cannot_be(codes, content, cut):
    changed = bytearray(content)
    struct.pack_into("<q", changed, CUTS + 8, cut)
    assert tables_from(bytes(changed), codes) is None


@pytest.mark.parametrize("field", range(5))
@pytest.mark.parametrize("value", [0, 1, 2**31, 2**63])
def test_headers_that_lie(codes, content, field, value):
    fields = list(struct.unpack_from(HEADER, content))
    if fields[field] == value:
        return
    fields[field] = value if field else bytes([value % 256]) * 16
    changed = bytearray(content)
    struct.pack_into(HEADER, changed, 0, *fields)
    assert tables_from(bytes(changed), codes) is None


def test_tables_of_no_codes():
    codes = np.zeros((0, 5), np.uint8)
    content = b"".join(table_bytes(build_tables(codes)))
    assert tables_from(content, codes).positions.shape[1] == 0


def clustered(n, n_bytes, flipped):
    """Return codes near 500 centres."""
    centres = rng.integers(0, 256, (500, n_bytes), dtype=np.uint8)
    noise = np.packbits(rng.random((n, 8 * n_bytes)) < flipped, axis=1)
    return centres[rng.integers(0, 500, n)] ^ noise


NEAR = clustered(70_000, 8, 0.01)


@needs_compiled
@pytest.mark.parametrize("live", [None, rng.random(70_000) < 0.7])
def test_tables_are_kept_of_many_near_codes_only(live):
    assert bytes_to_keep(NEAR, live) is not None
    assert bytes_to_keep(rng.integers(0, 256, (70_000, 16), np.uint8), live) is None
    assert bytes_to_keep(NEAR[:60_000], live if live is None else live[:60_000]) is None


class Reads:
    """Tables that count how often they are read."""

    def __init__(self, codes):
        self.content, self.n = b"".join(table_bytes(build_tables(codes))), 0
        self.chunks = [(codes, np.arange(len(codes)), None, kept_tables(codes, self))]

    def __call__(self):
        self.n += 1
        return self.content


@needs_compiled
@pytest.mark.parametrize("chosen", [None, rng.random(70_000) < 0.3])
def test_tables_are_used_once_they_would_have_paid(chosen):
    reads = Reads(NEAR)
    index, flat = MultiIndexHashing.from_chunks(reads.chunks), FlatIndex(NEAR)
    index.search(NEAR[:1], 10, allowed=chosen)
    assert reads.n == 0
    far = rng.integers(0, 256, (300, 8), np.uint8)
    for queries in (NEAR[:1000], NEAR[::900], np.vstack([NEAR[:50], far]), NEAR[:1]):
        for k in (10, 1000):
            found, expected = (
                each.search(queries, k, allowed=chosen) for each in (index, flat)
            )
            np.testing.assert_array_equal(found.distances, expected.distances)
            np.testing.assert_array_equal(found.ids, expected.ids)
        for radius in (5, 30):
            found, expected = (
                each.range_search(queries[::9], radius, allowed=chosen)
                for each in (index, flat)
            )
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert reads.n == 1


@needs_compiled
def test_tables_that_spare_nothing_are_not_read():
    codes = rng.integers(0, 256, (70_000, 32), dtype=np.uint8)
    reads = Reads(codes)
    index = MultiIndexHashing.from_chunks(reads.chunks)
    index.search(np.repeat(codes[:70], 50, axis=0), 10)
    assert reads.n == 0


@needs_compiled
def test_what_is_added_or_removed_leaves_the_tables_of_what_was_there():
    reads = Reads(NEAR)
    index = MultiIndexHashing.from_chunks(reads.chunks, use_scan=False)
    index.range_search(NEAR[:1], 1)
    index.add(NEAR[:900]).remove([5, 7])
    found = index.range_search(NEAR[:1], 1)
    assert set(found.ids.tolist()) >= {0, 70_000}
    assert reads.n == 1
