"""Near duplicates equal a comparison of every item with every other."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

N, N_BITS = 60, 12
rng = np.random.default_rng(0)
X = rng.normal(size=(N, N_BITS)).astype(np.float32)
X[20:30] = X[:10]  # equal
X[30:35] = X[:5] + 0.01  # near
KINDS = ["red", "green", "blue"] * 20
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))


def made(form=None, ids=None, items=X, index="auto"):
    columns = {"kind": KINDS[: len(items)], "row": np.arange(len(items))}
    return Collection.create(
        None,
        items,
        encoder=ENCODER,
        ids=ids,
        columns=columns,
        keep_vectors=form,
        index=index,
    )


def by_hand(bits, radius, mask=None):
    """Return (first, second, bits that differ) of all pairs, by position."""
    mask = np.ones(len(bits), np.bool_) if mask is None else mask
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    near = np.triu((apart <= radius) & mask & mask[:, None], 1)
    return [(i, j, int(apart[i, j])) for i, j in np.argwhere(near).tolist()]


def groups_by_hand(pairs, n):
    """Return connected items by SciPy, in the order of their first ones."""
    near = np.zeros((n, n), np.bool_)
    for i, j, _ in pairs:
        near[i, j] = True
    labels = connected_components(near, directed=False)[1]
    groups = {}
    for position, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(position)
    return [group for group in groups.values() if len(group) > 1]


def listing(duplicates, ids):
    where = {id: position for position, id in enumerate(ids.tolist())}
    return [
        (*(where[id] for id in pair["ids"]), pair["distance"])
        for pair in duplicates.to_list()
    ]


@pytest.mark.parametrize("radius", [0, 3, 99])
@pytest.mark.parametrize(
    ("ids", "index"),
    [
        (None, "auto"),
        ([f"t{i}" for i in range(N)][::-1], "flat"),
        (None, "multi-index"),
    ],
)
def test_pairs_and_groups(home, radius, ids, index):
    col = home(made(ids=ids, index=index))
    duplicates, expected = col.duplicates(radius), by_hand(X > 0, radius)
    assert listing(duplicates, col.ids) == expected
    assert len(expected) >= 10
    assert sum(map(len, duplicates)) == len(expected)
    groups = duplicates.groups()
    members = groups_by_hand(expected, N)
    assert [group.tolist() for group in groups] == [
        col.ids[group].tolist() for group in members
    ]
    assert [groups[i].tolist() for i in range(len(groups))] == [
        group.tolist() for group in groups
    ]
    assert groups.positions.tolist() == [i for group in members for i in group]
    assert groups.n_pairs == len(expected)
    table = duplicates.to_arrow()
    assert table.column_names == ["first", "second", "distance"]
    assert table["first"].type == (pa.int64() if ids is None else pa.large_string())
    assert table["first"].to_pylist() == [col.ids[i] for i, _, _ in expected]
    assert table["distance"].to_pylist() == [d for _, _, d in expected]
    for group, records in zip(members, groups.records(), strict=True):
        apart = ((X[group] > 0) != (X[group[0]] > 0)).sum(axis=1)
        assert records == [
            {
                "id": col.ids[i],
                "distance": d,
                "columns": {"kind": KINDS[i], "row": i},
            }
            for i, d in zip(group, apart.tolist(), strict=True)
        ]


@given(
    codes=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=30),
    width=st.sampled_from([1, 3, 9]),
    radius=st.integers(0, 6),
    data=st.data(),
)
def test_any_codes(codes, width, radius, data):
    bits = np.repeat(np.array(codes, np.bool_).reshape(-1, 5), width, axis=1)
    size = len(bits)
    bools = st.lists(st.booleans(), min_size=size, max_size=size)
    mask = np.array(data.draw(bools), np.bool_)
    packed = np.packbits(bits, axis=1)
    col = Collection.create(None, codes=packed, bits=5 * width)
    duplicates = col.duplicates(radius, allowed=mask)
    expected = by_hand(bits, radius, mask)
    assert listing(duplicates, col.ids) == expected
    groups = duplicates.groups()
    assert [group.tolist() for group in groups] == groups_by_hand(expected, size)
    assert groups.n_pairs == len(expected)


def test_a_filter_looks_at_no_others(home):
    col = home(made())
    duplicates = col.duplicates(4, filter="kind = 'red' and row < 40")
    mask = (np.array(KINDS) == "red") & (np.arange(N) < 40)
    assert listing(duplicates, col.ids) == by_hand(X > 0, 4, mask)
    some = pa.chunked_array([[0, 20], [1, 21]])
    pairs = col.duplicates(0, allowed=some).to_list()
    assert [pair["ids"] for pair in pairs] == [[0, 20], [1, 21]]
    assert col.duplicates(0, allowed=[]).to_list() == []


@pytest.mark.parametrize("form", ["float16", "float32", "int8"])
@pytest.mark.parametrize("farthest", [0, 0.05, 2.5])
def test_vectors_confirm_pairs(home, form, farthest):
    col = home(made(form))
    vectors = np.asarray(col.vectors, np.float64)
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    every = by_hand(X > 0, 3)
    expected = [pair for pair in every if apart[pair[:2]] <= farthest]
    duplicates = col.duplicates(3, max_vector_distance=farthest)
    assert listing(duplicates, col.ids) == expected
    assert len(expected) >= 10
    table = duplicates.to_arrow()
    np.testing.assert_allclose(
        table["vector_distance"].to_numpy(),
        [apart[pair[:2]] for pair in expected],
        rtol=1e-9,
    )
    assert {*duplicates.to_list()[0]} == {"ids", "distance", "vector_distance"}
    groups = duplicates.groups()
    assert [group.tolist() for group in groups] == groups_by_hand(expected, N)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_items_for_a_pair(home, n):
    duplicates = home(made(items=X[:n])).duplicates(3)
    assert (duplicates.to_list(), len(duplicates.groups())) == ([], 0)
    assert duplicates.to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": -1}, "radius must be at least 0, got -1"),
        ({"radius": 1.5}, "radius must be a whole number, got 1.5"),
        ({"radius": None}, "radius must be a whole number"),
        ({"radius": 1, "max_vector_distance": -1}, "must be a number from 0 on"),
        ({"radius": 1, "max_vector_distance": float("nan")}, "a number from 0 on"),
        ({"radius": 1, "max_vector_distance": "near"}, "a number from 0 on"),
        ({"radius": 1, "max_vector_distance": True}, "a number from 0 on"),
        ({"radius": 1, "max_vector_distance": 1.0}, "keeps no vectors to confirm"),
        ({"radius": 0, "allowed": [N]}, f"no item with id {N}"),
        ({"radius": 0, "filter": "colour = 1"}, "colour"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ArgumentError, match=message):
        made().duplicates(**options)


def test_a_version_is_looked_at(home):
    col = home(made())
    duplicates = col.duplicates(0)
    before = duplicates.to_list()
    col.delete(range(10))
    assert duplicates.to_list() == before
    assert all(pair["ids"][0] >= 20 for pair in col.duplicates(0).to_list())


# Many pairs.


def test_five_thousand_equal_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (20_000, 8), np.uint8)
    equal = np.sort(rng.choice(len(codes), 5000, replace=False))
    codes[equal] = codes[equal[0]]
    col = Collection.create(None, codes=codes)
    groups = col.duplicates(0).groups()
    assert [group.tolist() for group in groups] == [equal.tolist()]
    assert groups.n_pairs == 5000 * 4999 // 2
    few = col.duplicates(0, allowed=equal[::-5]).groups()
    assert few.ids.tolist() == sorted(equal[::-5])


def test_a_bound_on_pairs_of_different_codes():
    codes = np.repeat(np.arange(4, dtype=np.uint8), 50)[:, None]
    duplicates = Collection.create(None, codes=codes).duplicates(2)
    assert duplicates.groups(max_pairs=6).n_pairs == 200 * 199 // 2
    with pytest.raises(ArgumentError, match="more than 5 pairs of different codes"):
        duplicates.groups(max_pairs=5)


@pytest.mark.parametrize("n_others", [0, 60_000])
def test_few_of_many_pairs_are_held(n_others):
    """By a scan of equal codes, and by a join where they are among others."""
    n = 2500
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n + n_others, 8), np.uint8)
    equal = np.sort(rng.choice(len(codes), n, replace=False))
    codes[equal] = 7
    col = Collection.create(None, codes=codes)
    count, last = 0, -1
    tracemalloc.start()
    for pairs in col.duplicates(0):
        numbers = pairs.ids @ np.array([len(codes), 1])
        assert numbers[0] > last
        assert (np.diff(numbers) > 0).all()
        count, last = count + len(pairs), numbers[-1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == n * (n - 1) // 2
    assert peak < 80e6
