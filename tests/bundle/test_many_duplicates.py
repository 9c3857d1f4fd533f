"""Groups and streams of more pairs than a list may hold, beside SciPy and NumPy."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError
from fewbits.index import _groups, _pairs


def built(codes, ids=None):
    return Bundle(PackedEncoder(8 * codes.shape[1])).with_codes(codes, ids=ids)


def near(codes, radius, mask):
    """Return the matrix of pairs, each above the diagonal."""
    bits = np.unpackbits(codes, axis=1)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    return np.triu((apart <= radius) & mask & mask[:, None], 1)


def connected(pairs):
    """Return groups by SciPy, in the order of their first rows."""
    labels = connected_components(pairs, directed=False)[1]
    groups = {}
    for row, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(row)
    return [group for group in groups.values() if len(group) > 1]


def test_five_thousand_equal_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (20_000, 8), np.uint8)
    equal = np.sort(rng.choice(len(codes), 5000, replace=False))
    codes[equal] = codes[equal[0]]
    bundle = built(codes)
    found = bundle.duplicate_groups(0)
    assert [rows.tolist() for rows in found] == [equal.tolist()]
    assert found.n_pairs == 5000 * 4999 // 2
    with pytest.raises(ArgumentError, match="duplicate_groups joins and stream_dup"):
        bundle.duplicates(0)
    few = bundle.duplicate_groups(0, allowed=equal[::-5])
    assert few.members.tolist() == sorted(equal[::-5])


@given(data=st.data(), radius=st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_groups_and_pairs_of_any_codes(data, radius):
    size = data.draw(st.integers(0, 40))
    width = data.draw(st.sampled_from([1, 3, 8, 9]))
    values = st.lists(st.sampled_from([0, 1, 7, 255]), min_size=size, max_size=size)
    codes = np.zeros((size, width), np.uint8)
    codes[:, 0], codes[:, -1] = data.draw(values), data.draw(values)
    bools = st.lists(st.booleans(), min_size=size, max_size=size)
    mask = np.array(data.draw(bools), np.bool_)
    bundle = built(codes)
    expected = near(codes, radius, mask)
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            patch.setattr(_pairs, "_SCAN", 10**9)
        patch.setattr(_pairs, "_BLOCK", 5)
        patch.setattr(_pairs, "_HELD", 1)
        patch.setattr(_pairs, "_HITS", 3)
        patch.setattr(_groups, "_BLOCK", 5)
        found = bundle.duplicate_groups(radius, allowed=mask)
        blocks = list(bundle.stream_duplicates(radius, allowed=mask))
    assert [rows.tolist() for rows in found] == connected(expected)
    assert found.n_pairs == expected.sum()
    assert all(len(block) < 5 + size for block in blocks)
    rows = np.concatenate([block.rows for block in blocks])
    np.testing.assert_array_equal(rows, np.argwhere(expected))


def test_vectors_confirm_groups():
    X = np.array([[1, 1], [1, 1.5], [9, 9], [1, 2], [9, 9.5]], np.float32)
    bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    bundle = bundle.with_items(X, keep_vectors="float32", ids=list("vwxyz"))
    found = bundle.duplicate_groups(0, max_vector_distance=0.6)
    assert [rows.tolist() for rows in found] == [[0, 1, 3], [2, 4]]
    assert found.n_pairs == 3
    (pairs,) = bundle.stream_duplicates(0, max_vector_distance=0.6)
    assert pairs.ids.tolist() == [["v", "w"], ["w", "y"], ["x", "z"]]


def test_a_bound_on_pairs_of_different_codes():
    codes = np.repeat(np.arange(4, dtype=np.uint8), 50)[:, None]
    bundle = built(codes)
    assert bundle.duplicate_groups(2, max_pairs=6).n_pairs == 200 * 199 // 2
    with pytest.raises(ArgumentError, match="more than 5 pairs of different codes"):
        bundle.duplicate_groups(2, max_pairs=5)


@pytest.mark.parametrize("n_others", [0, 60_000])
def test_streams_hold_few_of_many_pairs(n_others):
    """By a scan of equal codes, and by a join where they are among others."""
    n = 2500
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n + n_others, 8), np.uint8)
    equal = np.sort(rng.choice(len(codes), n, replace=False))
    codes[equal] = 7
    bundle = built(codes)
    count, last = 0, -1
    tracemalloc.start()
    for found in bundle.stream_duplicates(0):
        numbers = found.rows @ np.array([len(codes), 1])
        assert numbers[0] > last
        assert (np.diff(numbers) > 0).all()
        count, last = count + len(found), numbers[-1]
        assert len(found) <= 2**18 + n
    stream = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    blocks = (len(pairs.ids) for pairs in bundle.index.pairs_within(0))
    assert sum(blocks) == count == n * (n - 1) // 2
    pairs = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stream < 80e6
    assert pairs < 40e6


def test_nothing_is_one_empty_block():
    (found,) = built(np.arange(9, dtype=np.uint8)[:, None]).stream_duplicates(0)
    assert found.rows.shape == (0, 2)
