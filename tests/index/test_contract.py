"""What every index must do, in one chunk and in many."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError, CodeError
from fewbits.index import FlatIndex
from tests.index._indexes import INDEXES, LOOKED_UP, of_chunks

COPIES = [copy.copy, copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))]
every_index = pytest.mark.parametrize("kind", INDEXES)
scanned_or_looked_up = pytest.mark.parametrize("kind", [FlatIndex, LOOKED_UP])
in_any_way = pytest.mark.parametrize("made", ["built", "in_chunks"])


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
        """Return an index in one chunk, added to; with what is soon removed."""
        gone = np.zeros((2, self.codes.shape[1]), np.uint8)
        bounds = [0, *sorted(min(cut, len(self.ids)) for cut in cuts), len(self.ids)]
        index = kind(self.codes[: bounds[1]], self.ids[: bounds[1]])
        for start, stop in pairwise(bounds[1:]):
            index.add(self.codes[start:stop], self.ids[start:stop])
            index.add(gone, [1000 + start, 2000 + start])
            index.remove([1000 + start, 2000 + start])
        return index

    def in_chunks(self, kind, cuts):
        """Return an index over runs of the codes, some of which cannot be found.

        The codes are put in the order of their ids before.
        """
        order = np.argsort(self.ids)
        self.codes, self.ids = self.codes[order], self.ids[order]
        live = self.rng.random(len(self.ids)) < 0.8
        bounds = [0, *sorted(min(cut, len(self.ids)) for cut in cuts), len(self.ids)]
        parts = [
            (self.codes[a:b], self.ids[a:b], None if live[a:b].all() else live[a:b])
            for a, b in pairwise(bounds)
        ]
        self.codes, self.ids = self.codes[live], self.ids[live]
        return of_chunks(kind, parts)

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


@scanned_or_looked_up
@in_any_way
@given(case=cases, cuts=cuts, k=st.integers(1, 50), radius=st.integers(0, 150))
def test_answers_are_those_of_brute_force(kind, made, case, cuts, k, radius):
    index = getattr(case, made)(kind, cuts)
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


@scanned_or_looked_up
@in_any_way
@given(case=cases, cuts=cuts, k=st.integers(1, 20), steps=st.integers(0, 2))
def test_reranking_is_that_of_one_chunk(kind, made, case, cuts, k, steps):
    index = getattr(case, made)(kind, cuts)
    case.without(index, case.rng.random(len(case.ids)) < 0.3)
    plain = FlatIndex(case.codes, case.ids)
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
def test_copies(kind, how):
    case = Case(0, 30, 8, rising=True)
    index = case.built(kind, [3, 9, 20])
    index.remove(case.ids[4:6])
    before = index.ids.tolist(), index.search(case.queries, 9).ids.tolist()
    other = how(index)
    assert type(other) is type(index)
    other.add(case.codes[:1]).remove(case.ids[:3])
    assert len(other) == 26
    assert (index.ids.tolist(), index.search(case.queries, 9).ids.tolist()) == before


@every_index
def test_memory_maps_stay_where_they_are(kind, tmp_path):
    case = Case(1, 30, 8, rising=True)
    np.save(tmp_path / "codes.npy", case.codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    index = kind(mapped, case.ids)
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
    with pytest.raises(ArgumentError, match="radius must be at least 0"):
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


@scanned_or_looked_up
@in_any_way
@given(case=cases, cuts=cuts, radius=st.integers(0, 20), ordered=st.booleans())
def test_pairs_are_those_of_brute_force(kind, made, case, cuts, radius, ordered):
    index = getattr(case, made)(kind, cuts)
    case.without(index, case.rng.random(len(case.ids)) < 0.3)
    mask = case.rng.random(len(case.ids)) < 0.7
    everything = np.ones(len(case.ids), np.bool_)
    for allowed, chosen in ((None, everything), (mask, mask)):
        blocks = index.pairs_within(radius, allowed=allowed, ordered=ordered)
        pairs = [
            (*ids, distance)
            for block in blocks
            for ids, distance in zip(
                block.ids.tolist(), block.distances.tolist(), strict=True
            )
        ]
        expected = case.expected_pairs(radius, chosen)
        assert (pairs if ordered else sorted(pairs)) == expected
        groups = index.groups_within(radius, allowed=allowed)
        assert [each.tolist() for each in groups] == joined(expected)
        assert groups.n_pairs == len(expected)


def test_many_pairs_come_in_order_and_each_once():
    """So many that they are counted, and found anew for a range at a time."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (40_000, 8), dtype=np.uint8)
    codes[::25] = codes[0]
    codes[::50, 0] ^= 1
    index = FlatIndex(codes)
    n = 40_000 // 25
    ordered = [each.ids for each in index.pairs_within(1, ordered=True)]
    assert len(ordered) > 1
    ids = np.concatenate(ordered)
    assert len(ids) == n * (n - 1) // 2
    numbers = ids[:, 0] * 40_000 + ids[:, 1]
    assert (np.diff(numbers) > 0).all()
    blocks = [each.ids for each in index.pairs_within(1)]
    found = np.concatenate(blocks)
    assert np.array_equal(np.sort(found[:, 0] * 40_000 + found[:, 1]), numbers)


@scanned_or_looked_up
@pytest.mark.parametrize("radius", [15, 16, 1000])
def test_opposite_codes_differ_in_all_bits(kind, radius):
    hits = kind(np.full((3, 2), 255, np.uint8)).range_search(
        np.zeros((1, 2), np.uint8), radius
    )
    assert hits.ids.tolist() == ([] if radius < 16 else [0, 1, 2])


def test_a_radius_of_pairs_is_checked_at_once():
    index = FlatIndex(np.zeros((3, 8), np.uint8))
    with pytest.raises(ArgumentError, match="radius must be at least 0"):
        index.pairs_within(-1)


def test_additions_to_many_codes():
    """Beyond 65,536 codes, what is added later lies apart, and is joined at times."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (70_000, 2), dtype=np.uint8)
    index, plain = FlatIndex(codes[:66_000]), FlatIndex(codes)
    for start in range(66_000, 70_000, 50):
        index.add(codes[start : start + 50])
    for gone in (np.arange(0, 70_000, 3), [69_998], np.arange(40_001, 69_000, 3)):
        index.remove(gone)
        plain.remove(gone)
        for one, other in zip(
            index.search(codes[:9], 70), plain.search(codes[:9], 70), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    back = [69_998, 3]
    index.add(codes[back], back)
    plain.add(codes[back], back)
    np.testing.assert_array_equal(index.ids, plain.ids)
    np.testing.assert_array_equal(index.codes, plain.codes)
    found = index.range_search(codes[:9], 1), plain.range_search(codes[:9], 1)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
