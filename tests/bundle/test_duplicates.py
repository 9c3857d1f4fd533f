"""Near duplicates equal a comparison of every item with every other."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle, _duplicates
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError
from fewbits.index import _pairs

N, N_BITS = 60, 12
rng = np.random.default_rng(0)
X = rng.normal(size=(N, N_BITS)).astype(np.float32)
X[20:30] = X[:10]  # equal
X[30:35] = X[:5] + 0.01  # near
KINDS = ["red", "green", "blue"] * 20
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))


def built(form=None, ids=None):
    columns = {"kind": KINDS, "row": np.arange(N)}
    return Bundle(ENCODER).with_items(X, ids=ids, columns=columns, keep_vectors=form)


def by_hand(bits, radius, mask=None):
    """Return (first row, second row, bits that differ) of all pairs."""
    chosen = range(len(bits)) if mask is None else np.flatnonzero(mask).tolist()
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    return [
        (i, j, int(apart[i, j]))
        for i in chosen
        for j in chosen
        if i < j and apart[i, j] <= radius
    ]


def listing(found):
    return [
        (*pair, distance)
        for pair, distance in zip(
            found.rows.tolist(), found.distances.tolist(), strict=True
        )
    ]


def groups_by_hand(pairs):
    """Return connected items, joined one pair after another."""
    groups = []
    for i, j, _ in pairs:
        touched = [group for group in groups if {i, j} & group]
        groups = [group for group in groups if not {i, j} & group]
        groups.append({i, j}.union(*touched))
    return sorted(sorted(group) for group in groups)


@pytest.mark.parametrize("radius", [0, 1, 3, 12, 99])
@pytest.mark.parametrize("block", [1, 7, 4096])
def test_pairs_and_groups(radius, block, monkeypatch):
    monkeypatch.setattr(_pairs, "_QUERIES", block)
    expected = by_hand(X > 0, radius)
    found = built().duplicates(radius)
    assert listing(found) == expected
    assert len(found) == len(expected) >= 10
    assert [rows.tolist() for rows in found.groups()] == groups_by_hand(expected)


@given(
    codes=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=20),
    radius=st.integers(0, 6),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_any_codes(codes, radius, data):
    bits = np.array(codes, np.bool_).reshape(-1, 5)
    size = len(bits)
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_
    )
    bundle = Bundle(PackedEncoder(5)).with_codes(np.packbits(bits, axis=1))
    found = bundle.duplicates(radius, allowed=mask)
    expected = by_hand(bits, radius, mask)
    assert listing(found) == expected
    assert [rows.tolist() for rows in found.groups()] == groups_by_hand(expected)


@pytest.mark.parametrize("ids", [np.arange(N)[::-1] * 3, [f"t{i}" for i in range(N)]])
def test_ids_are_the_users(ids):
    found = built(ids=ids).duplicates(0)
    np.testing.assert_array_equal(found.ids, np.asarray(ids, object)[found.rows])


def test_a_filter_looks_at_no_others():
    found = built().duplicates(4, filter="kind = 'red' and row < 40")
    mask = (np.array(KINDS) == "red") & (np.arange(N) < 40)
    assert listing(found) == by_hand(X > 0, 4, mask)


@pytest.mark.parametrize("form", ["float16", "float32", "int8"])
@pytest.mark.parametrize("farthest", [0, 0.05, 2.5])
def test_vectors_confirm_pairs(form, farthest):
    bundle = built(form)
    vectors = np.asarray(bundle.collection.some_vectors(), np.float64)
    expected = [
        (i, j, bits, np.linalg.norm(vectors[i] - vectors[j]))
        for i, j, bits in by_hand(X > 0, 3)
        if np.linalg.norm(vectors[i] - vectors[j]) <= farthest
    ]
    found = bundle.duplicates(3, max_vector_distance=farthest)
    assert listing(found) == [pair[:3] for pair in expected]
    assert len(expected) >= 10
    np.testing.assert_allclose(
        found.vector_distances, [pair[3] for pair in expected], rtol=1e-9
    )


def test_vectors_are_compared_in_blocks(monkeypatch):
    whole = built("float32").duplicates(5, max_vector_distance=3)
    monkeypatch.setattr(_duplicates, "_NUMBERS", 5 * N_BITS)
    parts = built("float32").duplicates(5, max_vector_distance=3)
    np.testing.assert_array_equal(parts.vector_distances, whole.vector_distances)


@pytest.mark.parametrize("n_items", [0, 1])
def test_too_few_items_for_a_pair(n_items):
    found = Bundle(ENCODER).with_items(X[:n_items]).duplicates(3)
    assert (len(found), found.ids.shape, found.groups()) == (0, (0, 2), [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": -1}, "radius must be at least 0, got -1"),
        ({"radius": 1.5}, "radius must be a whole number, got 1.5"),
        ({"radius": None}, "radius must be a whole number"),
        ({"radius": 1, "max_vector_distance": -1}, "must be a number from 0 on"),
        ({"radius": 1, "max_vector_distance": float("nan")}, "a number from 0 on"),
        ({"radius": 1, "max_vector_distance": "near"}, "a number from 0 on"),
        ({"radius": 1, "max_vector_distance": 1.0}, "keeps no vectors to confirm"),
        ({"radius": 0, "max_pairs": 9}, "more than 9 pairs .* at most 0 bits"),
        ({"radius": 0, "max_pairs": 0}, "max_pairs must be at least 1"),
        ({"radius": 0, "allowed": [N]}, f"no item with id {N}"),
        ({"radius": 0, "filter": "colour = 1"}, "colour"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ArgumentError, match=message):
        built().duplicates(**options)


def test_a_bundle_without_items():
    with pytest.raises(ArgumentError, match="holds no items yet"):
        Bundle(ENCODER).duplicates(1)


def test_columns_of_arrow_choose_items():
    chosen = pa.chunked_array([[0, 20], [1, 21]])
    assert built().duplicates(0, allowed=chosen).rows.tolist() == [[0, 20], [1, 21]]
