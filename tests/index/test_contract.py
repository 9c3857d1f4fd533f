"""What every index must do, in one segment and in many."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError, CodeError
from fewbits.index import _costs, _multi_index, _pairs, _segments, _tables
from tests.index._indexes import INDEXES, LOOKED_UP, lazy_of

COPIES = [copy.copy, copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))]
every_index = pytest.mark.parametrize("kind", INDEXES)


@pytest.fixture(autouse=True, scope="module", params=[4, 1 << 16])
def _segments_of(request):
    """Segments grow to 4 rows or to many, and small ones are looked up in, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_segments, "_SMALL", request.param)
        patch.setattr(_multi_index, "_FEWEST", 1)
        patch.setattr(_costs, "_SCAN", {"portable": _costs.ScanPrices(*[10**9] * 5)})
        yield


class Case:
    """Codes with many ties, ids, and what of them may be found; all in plain arrays."""

    def __init__(self, seed, n, width, rising):
        self.rng = rng = np.random.default_rng(seed)
        self.codes = rng.integers(0, 4, (n, width), dtype=np.uint8) << 3
        self.ids = rng.choice(90, n, replace=False)
        if rising:
            self.ids.sort()
        self.queries = rng.integers(0, 4, (3, width), dtype=np.uint8) << 3

    def built(self, kind, cuts):
        """Return an index, some of it added later; with what is soon removed."""
        gone = np.zeros((2, self.codes.shape[1]), np.uint8)
        bounds = [0, *sorted(min(cut, len(self.ids)) for cut in cuts), len(self.ids)]
        index = kind(self.codes[: bounds[1]], self.ids[: bounds[1]])
        for start, stop in pairwise(bounds[1:]):
            index.add(self.codes[start:stop], self.ids[start:stop])
            index.add(gone, [1000 + start, 2000 + start])
            index.remove([1000 + start, 2000 + start])
        return index

    def without(self, index, gone):
        index.remove(self.rng.permutation(self.ids[gone]))
        self.codes, self.ids = self.codes[~gone], self.ids[~gone]

    def expected(self, query, mask):
        bits = np.unpackbits(self.codes ^ query, axis=1).sum(axis=1)
        pairs = zip(bits[mask].tolist(), self.ids[mask].tolist(), strict=True)
        return sorted(pairs)

    def expected_pairs(self, radius, mask):
        codes, ids = self.codes[mask], self.ids[mask]
        bits = np.unpackbits(codes[:, None] ^ codes[None], axis=2).sum(axis=2)
        near = np.argwhere(np.triu(bits <= radius, 1))
        return sorted(
            (*sorted((int(ids[i]), int(ids[j]))), int(bits[i, j])) for i, j in near
        )


cases = st.builds(
    Case,
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from([1, 2, 3, 8, 9, 16]),
    st.booleans(),
)
cuts = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def check(index, case, k, radius, mask, allowed):
    found = index.search(case.queries, k, allowed=allowed)
    ranges = index.range_search(case.queries, radius, allowed=allowed)
    assert (found.distances.dtype, found.ids.dtype) == (np.int32, np.int64)
    assert (ranges.distances.dtype, ranges.ids.dtype) == (np.int32, np.int64)
    for row, query in enumerate(case.queries):
        expected = case.expected(query, mask)
        padded = (expected + k * [(-1, -1)])[:k]
        assert list(zip(found.distances[row], found.ids[row], strict=True)) == padded
        span = slice(ranges.offsets[row], ranges.offsets[row + 1])
        near = [pair for pair in expected if pair[0] <= radius]
        answer = zip(ranges.distances[span], ranges.ids[span], strict=True)
        assert list(answer) == near


@every_index
@given(case=cases, cuts=cuts, k=st.integers(1, 50), radius=st.integers(0, 150))
def test_answers_are_those_of_brute_force(kind, case, cuts, k, radius):
    index = case.built(kind, cuts)
    case.without(index, case.rng.random(len(case.ids)) < 0.3)
    np.testing.assert_array_equal(index.codes, case.codes)
    np.testing.assert_array_equal(index.ids, case.ids)
    assert len(index) == len(case.ids)
    everything = np.ones(len(case.ids), np.bool_)
    check(index, case, k, radius % 12, everything, None)
    check(index, case, k, radius, everything, None)
    mask = case.rng.random(len(case.ids)) < 0.4
    check(index, case, k, radius, mask, mask)
    check(index, case, k, radius, mask, case.rng.permutation(case.ids[mask]))


@every_index
@given(case=cases, cuts=cuts, k=st.integers(1, 20), steps=st.integers(0, 2))
def test_reranking_is_that_of_one_segment(kind, case, cuts, k, steps):
    index = case.built(kind, cuts)
    case.without(index, case.rng.random(len(case.ids)) < 0.3)
    plain = INDEXES[0](case.codes, case.ids)
    n_bits = 8 * case.codes.shape[1]
    given = {"shortlist": 7}
    if steps != 1:
        given["scores"] = case.rng.normal(size=(3, n_bits))
    if steps != 0:
        given["vectors"] = case.rng.normal(size=(len(case.ids), 5))
        given["query_vectors"] = case.rng.normal(size=(3, 5))
    found = index.search_reranked(case.queries, k, **given)
    expected = plain.search_reranked(case.queries, k, **given)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.distances, expected.distances)


@every_index
@pytest.mark.parametrize("how", COPIES)
def test_copies_and_frozen_indexes(kind, how):
    case = Case(0, 30, 8, rising=True)
    index = case.built(kind, [3, 9, 20])
    index.remove(case.ids[4:6])
    before = index.ids.tolist(), index.search(case.queries, 9).ids.tolist()
    other = how(index)
    assert type(other) is type(index)
    other.add(case.codes[:1]).remove(case.ids[:3])
    assert len(other) == 26
    assert (index.ids.tolist(), index.search(case.queries, 9).ids.tolist()) == before
    frozen = copy.copy(index).freeze()
    for each in (frozen, how(frozen)):
        assert (each.ids.tolist(), each.search(case.queries, 9).ids.tolist()) == before
    for change in (lambda: frozen.remove([]), lambda: frozen.add(case.codes)):
        with pytest.raises(ArgumentError, match="does not change"):
            change()
    with pytest.raises(AttributeError, match="does not change"):
        frozen._segments = None
    copy.copy(frozen).add(case.codes[:1]).remove(case.ids[:1])
    assert frozen.ids.tolist() == before[0]


@every_index
def test_memory_maps_stay_where_they_are(kind, tmp_path):
    case = Case(1, 30, 8, rising=True)
    np.save(tmp_path / "codes.npy", case.codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    index = kind(mapped, case.ids).freeze()
    assert np.shares_memory(index.codes, mapped)
    check(index, case, 5, 9, np.ones(30, np.bool_), None)


@every_index
def test_no_codes_no_queries_and_no_ids_left(kind):
    codes = np.zeros((3, 8), np.uint8)
    index = kind(codes[:0])
    assert index.search(codes[:1], 2).ids.tolist() == [[-1, -1]]
    assert index.range_search(codes[:1], 3).offsets.tolist() == [0, 0]
    index.add(codes)
    assert index.search(codes[:0], 2).ids.shape == (0, 2)
    assert index.range_search(codes[:0], 2).offsets.tolist() == [0]
    assert index.search(codes[:1], 1, allowed=[]).ids.tolist() == [[-1]]
    index.remove([2]).add(codes[:1]).remove([0, 1, 2])
    assert (len(index), index.ids.tolist(), index.codes.shape) == (0, [], (0, 8))
    assert index.add(codes[:2]).ids.tolist() == [0, 1]


@every_index
def test_mistakes_have_one_clear_line(kind):
    codes = np.zeros((3, 8), np.uint8)
    index = kind(codes, [4, 2, 8]).remove([2])
    with pytest.raises(CodeError, match="queries have 7 bytes per code, the index has"):
        index.search(codes[:, 1:], 1)
    with pytest.raises(ArgumentError, match="k must be at least 1"):
        index.search(codes, 0)
    with pytest.raises(ArgumentError, match="radius must be 0 or more"):
        index.range_search(codes, -1)
    for call in (index.remove, lambda ids: index.search(codes, 1, allowed=ids)):
        with pytest.raises(ArgumentError, match="must be ids of the index, 1 are not"):
            call([2, 4])
    with pytest.raises(ArgumentError, match="ids must be new, the index holds 8"):
        index.add(codes[:1], [8])
    assert index.add(codes[:1], [2]).ids.tolist() == [4, 8, 2]


def joined(pairs):
    """Return the ids that pairs connect, by moving them from set to set."""
    groups = {each: {each} for pair in pairs for each in pair[:2]}
    for first, second, _ in pairs:
        whole = groups[first] | groups[second]
        groups |= dict.fromkeys(whole, whole)
    return sorted(map(list, {tuple(sorted(each)) for each in groups.values()}))


@every_index
@pytest.mark.parametrize("planned", [True, False])
@given(case=cases, cuts=cuts, radius=st.integers(0, 20))
def test_pairs_are_those_of_brute_force(kind, planned, case, cuts, radius):
    index = case.built(kind, cuts)
    case.without(index, case.rng.random(len(case.ids)) < 0.3)
    mask = case.rng.random(len(case.ids)) < 0.7
    everything = np.ones(len(case.ids), np.bool_)
    with pytest.MonkeyPatch.context() as patch:
        if not planned:
            patch.setattr(_pairs, "best_plan", lambda *_: None)
        for allowed, chosen in ((None, everything), (mask, mask)):
            blocks = list(index.pairs_within(radius, allowed=allowed))
            found = [
                (*ids, distance)
                for block in blocks
                for ids, distance in zip(
                    block.ids.tolist(), block.distances.tolist(), strict=True
                )
            ]
            expected = case.expected_pairs(radius, chosen)
            assert sorted(found) == expected
            groups = index.groups_within(radius, allowed=allowed)
            assert [each.tolist() for each in groups] == joined(expected)
            assert groups.n_pairs == len(expected)


def test_a_radius_of_pairs_is_checked_at_once():
    index = INDEXES[0](np.zeros((3, 8), np.uint8))
    with pytest.raises(ArgumentError, match="radius must be 0 or more"):
        index.pairs_within(-1)


def test_many_small_additions_make_few_segments(monkeypatch):
    monkeypatch.setattr(_segments, "_SMALL", 4)
    index = INDEXES[0](np.zeros((100, 1), np.uint8))
    for value in range(500):
        index.add(np.full((1, 1), value % 256, np.uint8))
    sizes = [len(part) for part in index._segments.parts]
    assert sum(sizes) == 600
    assert 2 <= len(sizes) <= 8


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("scan", [1, 20_000, 200_000, 10**9])  # ps a code
def test_what_costs_more_than_a_scan_is_scanned(monkeypatch, scan, inside):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (3000, 4), dtype=np.uint8)
    queries = codes[:200].copy()
    queries[100:] ^= rng.integers(0, 256, (100, 4), dtype=np.uint8)
    monkeypatch.setattr(_costs, "_SCAN", {"portable": _costs.ScanPrices(*[scan] * 5)})
    monkeypatch.setattr(_tables, "_MOST", 1000 if inside else 0)
    plain, index = (
        kind(codes) for kind in (INDEXES[0], _multi_index.MultiIndexHashing)
    )
    for k in (1, 10):
        for found, expected in zip(
            index.search(queries, k), plain.search(queries, k), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    for radius in (0, 6, 32):
        for found, expected in zip(
            index.range_search(queries, radius),
            plain.range_search(queries, radius),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)


def test_what_is_added_leaves_the_tables_of_what_was_there(monkeypatch):
    monkeypatch.setattr(_segments, "_SMALL", 4)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (3000, 8), dtype=np.uint8)
    index = LOOKED_UP(codes[:2000])
    index.range_search(codes[:1], 1)
    first = lazy_of(index)
    tables = first.get(0)
    assert tables is not None
    index.add(codes[2000:2900]).remove([5, 7])
    index.range_search(codes[:1], 1)
    kept = lazy_of(index)
    assert kept is first
    assert kept.get(0) is tables


@pytest.mark.parametrize("number", [2, 65, 0, 2.5])
def test_numbers_of_substrings_that_cannot_be(number):
    with pytest.raises(ArgumentError, match="n_substrings must"):
        _multi_index.MultiIndexHashing(np.zeros((2, 8), np.uint8), n_substrings=number)
