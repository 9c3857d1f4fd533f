"""Streamed range search: equal to brute force, and monotone in the radius."""

import itertools

import numpy as np
import pytest

from fewbits.index import FlatIndex, stream_range_search
from tests.index._indexes import INDEXES, of_chunks

rng = np.random.default_rng(0)
CENTRES = rng.integers(0, 256, (12, 8), dtype=np.uint8)
CODES = CENTRES[rng.integers(0, 12, 400)] ^ (1 << rng.integers(0, 16, (400, 8)) & 255)
CODES = CODES.astype(np.uint8)
IDS = np.sort(rng.permutation(900)[:400])  # rising, so that additions begin chunks
QUERIES = CODES[::9] ^ (rng.random((45, 8)) < 0.2).astype(np.uint8)
apart = np.bitwise_count(QUERIES[:, None] ^ CODES[None]).sum(axis=2, dtype=int)


def whole(kind):
    return kind(CODES, IDS)


def in_chunks(kind):
    """Return an index of the same codes in parts, with holes."""
    codes, ids = np.vstack([CODES, CODES[:3]]), np.append(IDS, [1000, 1001, 1002])
    bounds, live = [0, 300, 380, 403], np.arange(403) < 400
    return of_chunks(
        kind, [(codes[a:b], ids[a:b], live[a:b]) for a, b in itertools.pairwise(bounds)]
    )


def hits(index, radius, **options):
    """Return the set of (query, id, distance); blocks come in the queries' order."""
    found, end = set(), 0
    for span, block in stream_range_search(index, QUERIES, radius, **options):
        assert span.start == end
        end = span.stop
        assert len(block.offsets) == span.stop - span.start + 1
        rows = np.repeat(np.arange(span.start, end), np.diff(block.offsets))
        columns = rows, block.ids, block.distances
        listed = [*zip(*(each.tolist() for each in columns), strict=True)]
        assert len(found | set(listed)) == len(found) + len(listed)
        found.update(listed)
    assert end == len(QUERIES)
    return found


def by_hand(radius, mask):
    near = np.argwhere((apart <= radius) & mask)
    return {(q, int(IDS[row]), int(apart[q, row])) for q, row in near.tolist()}


@pytest.mark.parametrize("build", [whole, in_chunks])
@pytest.mark.parametrize("kind", INDEXES)
def test_a_tighter_radius_loses_no_hit(kind, build):
    index, mask = build(kind), np.arange(400) % 4 > 0
    for allowed, chosen in ((None, np.ones(400, bool)), (IDS[mask], mask)):
        wider = by_hand(30, chosen)
        for radius in (17, 9, 4, 0):
            found = hits(index, radius, allowed=allowed)
            assert found == {hit for hit in wider if hit[2] <= radius}
            wider = found
    assert 0 < len(wider) < 400


def test_a_stream_is_searched_only_as_far_as_it_is_read(monkeypatch):
    index, asked = FlatIndex(CODES, IDS), []
    search = FlatIndex.range_search

    def counted(self, queries, *rest, **options):
        asked.append(len(queries))
        return search(self, queries, *rest, **options)

    monkeypatch.setattr(FlatIndex, "range_search", counted)
    queries = np.tile(QUERIES, (9, 1))
    stream = stream_range_search(index, queries, 9)
    assert asked == []
    first = list(itertools.islice(stream, 2))
    stream.close()
    assert sum(asked) == first[-1][0].stop < len(queries)
    assert hits(index, 9) == by_hand(9, np.ones(400, bool))
