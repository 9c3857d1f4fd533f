"""Groups and streams of more pairs than a list may hold, beside SciPy and NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fewbits.bundle import Bundle, _ordered_pairs
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError
from fewbits.index import _groups


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
        patch.setattr(_ordered_pairs, "_BLOCK", 3)
        patch.setattr(_groups, "_BLOCK", 5)
        found = bundle.duplicate_groups(radius, allowed=mask)
        blocks = list(bundle.stream_duplicates(radius, allowed=mask))
    assert [rows.tolist() for rows in found] == connected(expected)
    assert found.n_pairs == expected.sum()
    assert all(len(block) <= 6 for block in blocks)
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
