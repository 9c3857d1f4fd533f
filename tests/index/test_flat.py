"""The flat index equals sorting all distances by (distance, id)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import pack
from fewbits.errors import ArgumentError, CodeError
from fewbits.index import FlatIndex


def hamming(a, b):
    return sum(int(x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def brute_force(query, codes, ids):
    return sorted(
        (hamming(query, code), int(i)) for code, i in zip(codes, ids, strict=True)
    )


@st.composite
def collections(draw):
    """Few distinct codes, so that there are ties, and ids in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, width = draw(st.integers(0, 25)), draw(st.integers(1, 10))
    codes = rng.integers(0, 4, (n, width), dtype=np.uint8)
    ids = rng.choice(60, n, replace=False)
    if draw(st.booleans()):
        ids.sort()
    queries = rng.integers(0, 4, (3, width), dtype=np.uint8)
    return codes, ids, queries, rng


def test_bits_in_a_byte_each_are_told():
    bits = np.random.default_rng(0).integers(0, 2, (200, 16), dtype=np.uint8)
    with pytest.warns(UserWarning, match="each code holds 16 bytes that are 0 or 1"):
        index = FlatIndex(bits)
    FlatIndex(pack(bits))
    FlatIndex(np.zeros((200, 16), np.uint8))
    FlatIndex(np.repeat(np.arange(256, dtype=np.uint8), 400)[:, None])
    asked = index.search(bits[:5], k=3), FlatIndex(pack(bits)).search(pack(bits[:5]), 3)
    np.testing.assert_array_equal(asked[0].ids, asked[1].ids)


def check_search(index, codes, ids, queries, k, allowed=None):
    found = index.search(queries, k, allowed=allowed)
    assert found.distances.dtype == np.int32
    assert found.ids.dtype == np.int64
    for row, query in enumerate(queries):
        expected = brute_force(query, codes, ids)[:k]
        expected += [(-1, -1)] * (k - len(expected))
        answer = zip(found.distances[row], found.ids[row], strict=True)
        assert list(answer) == expected


@given(collection=collections(), k=st.integers(1, 30))
def test_search(collection, k):
    codes, ids, queries, _ = collection
    check_search(FlatIndex(codes, ids), codes, ids, queries, k)


@given(collection=collections(), k=st.integers(1, 30))
def test_search_among_allowed(collection, k):
    codes, ids, queries, rng = collection
    mask = rng.random(len(codes)) < 0.5
    index = FlatIndex(codes, ids)
    check_search(index, codes[mask], ids[mask], queries, k, allowed=mask)
    listed = rng.permutation(ids[mask])
    check_search(index, codes[mask], ids[mask], queries, k, allowed=listed)


@given(collection=collections(), radius=st.integers(0, 12))
def test_within(collection, radius):
    codes, ids, queries, rng = collection
    mask = rng.random(len(codes)) < 0.7
    found = FlatIndex(codes, ids).range_search(queries, radius, allowed=mask)
    for row, query in enumerate(queries):
        span = slice(found.offsets[row], found.offsets[row + 1])
        answer = list(zip(found.distances[span], found.ids[span], strict=True))
        everything = brute_force(query, codes[mask], ids[mask])
        assert answer == [pair for pair in everything if pair[0] <= radius]


def test_default_ids_are_numbers():
    assert FlatIndex(np.zeros((3, 1), np.uint8)).ids.tolist() == [0, 1, 2]


def test_what_is_given_is_not_copied_and_never_written():
    codes = np.frombuffer(bytes(8), np.uint8).reshape(4, 2)  # which cannot change
    index = FlatIndex(codes)
    assert np.shares_memory(index.codes, codes)
    for array in (index.codes, index.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_memory_map(tmp_path):
    codes = np.random.default_rng(0).integers(0, 256, (20, 3), dtype=np.uint8)
    np.save(tmp_path / "codes.npy", codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    index = FlatIndex(mapped)
    assert np.shares_memory(index.codes, mapped)
    check_search(index, codes, np.arange(20), codes[:2], 5)


def test_no_queries_and_no_codes():
    empty = FlatIndex(np.zeros((0, 2), np.uint8))
    query = np.zeros((1, 2), np.uint8)
    assert empty.search(query, 2).ids.tolist() == [[-1, -1]]
    assert empty.search(query, 2, allowed=[]).ids.tolist() == [[-1, -1]]
    assert empty.range_search(query, 3).offsets.tolist() == [0, 0]
    full = FlatIndex(query)
    assert full.search(query[:0], 2).ids.shape == (0, 2)
    assert full.search(query, 2, allowed=[]).ids.tolist() == [[-1, -1]]


CODES = np.zeros((3, 2), np.uint8)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "need one id per code, got 2 ids for 3 codes"),
        ([1, 5, 1], "ids must be unique, got 1 twice"),
        ([1, -1, 2], "between 0 and 2\\*\\*63 - 1, got -1"),
        (np.array([1, 2**63, 2], np.uint64), "got 9223372036854775808"),
        ([1.0, 2.0, 3.0], "must be a list of whole numbers, got dtype float64"),
        ([[1, 2, 3]], r"got dtype int64 and shape \(1, 3\)"),
        (["a", "b", "c"], "whole numbers"),
        ([True, False, True], "whole numbers"),
    ],
)
def test_bad_ids_have_one_clear_line(ids, message):
    with pytest.raises(ArgumentError, match=message):
        FlatIndex(CODES, ids)


@pytest.mark.parametrize(
    ("arguments", "allowed", "error", "message"),
    [
        ((CODES, 0), None, ArgumentError, "k must be at least 1"),
        ((CODES, -1), None, ArgumentError, "k must be at least 1"),
        ((CODES, 1.5), None, ArgumentError, "k must be a whole number"),
        ((CODES[:, :1], 1), None, CodeError, "queries have 1 bytes"),
        ((CODES * 1.0, 1), None, CodeError, "packed into uint8"),
        ((CODES[0], 1), None, CodeError, "2 dimensions"),
        ((CODES, 1), [True], ArgumentError, r"shape \(3,\), got \(1,\)"),
        ((CODES, 1), [4, 3, 5], ArgumentError, "allowed must be ids .* 2 are not: 3"),
        ((CODES, 1), ["a"], ArgumentError, "allowed must be a list"),
    ],
)
def test_bad_searches_have_one_clear_line(arguments, allowed, error, message):
    index = FlatIndex(CODES, [4, 2, 8])
    with pytest.raises(error, match=message):
        index.search(*arguments, allowed=allowed)
    if "k must" not in message:
        with pytest.raises(error, match=message):
            index.range_search(*arguments, allowed=allowed)


def test_repr():
    assert repr(FlatIndex(CODES)) == "FlatIndex(3 codes of 2 bytes)"
