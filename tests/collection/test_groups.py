"""The best item of each group, against every item sorted by hand."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

ENCODER = LinearEncoder(np.eye(8), np.zeros(8))


def made(X, form=None, **columns):
    return Collection.create(
        None, X, encoder=ENCODER, columns=columns, keep_vectors=form
    )


def by_hand(distances, k, groups, allowed):
    """Return (row, distance) of the first item of each group, by (distance, row)."""
    seen, best = set(), []
    for row in np.argsort(distances, kind="stable").tolist():
        if allowed[row] and groups[row] not in seen:
            seen.add(groups[row])
            best.append((row, distances[row]))
    return best[:k]


def hamming(X, query):
    return ((X > 0) != (query > 0)).sum(axis=1)


def answer(hits):
    return [[(hit.id, hit.distance) for hit in some] for some in hits]


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 40), st.integers(1, 12))
def test_any_groups(seed, n, n_groups, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)).astype(np.float32)
    names = [None if g == 0 else f"g{g}" for g in rng.integers(0, n_groups, n)]
    col, allowed = made(X, group=names), rng.random(n) < 0.7
    queries = rng.normal(size=(3, 8)).astype(np.float32)
    hits = col.search(queries, k, group_by="group", allowed=allowed)
    assert hits.ids.shape == hits.distances.shape == (3, min(k, n))
    expected = [by_hand(hamming(X, q), k, names, allowed) for q in queries]
    assert answer(hits) == expected
    own = col.search(ids=range(n), k=k, group_by="group", allowed=allowed)
    for row, line in enumerate(answer(own)):
        others = allowed & (np.arange(n) != row)
        assert line == by_hand(hamming(X, X[row]), k, names, others)


@pytest.mark.parametrize("n_queries", [1, 40])
@pytest.mark.parametrize("seed", range(6))
def test_groups_that_stand_behind_many_items_of_another(home, seed, n_queries):
    """One query looks for the groups that lack; many search each group by itself."""
    rng = np.random.default_rng(seed)
    n, k = 1500, int(rng.integers(2, 12))
    groups = np.minimum(rng.geometric(0.3, n) * (rng.random(n) < 0.1), 12)
    X = rng.normal(size=(n, 8)) + 3 * rng.normal(size=(13, 8))[groups]
    X[groups == 0] = rng.normal(size=8) + 0.2 * rng.normal(
        size=((groups == 0).sum(), 8)
    )
    col, queries = home(made(X, group=groups)), X[groups == 0][:n_queries]
    for allowed in (np.ones(n, np.bool_), rng.random(n) < 0.5):
        hits = col.search(queries, k, group_by="group", allowed=allowed)
        expected = [
            by_hand(hamming(X, q), k, groups.tolist(), allowed) for q in queries
        ]
        assert answer(hits) == expected


@pytest.mark.parametrize("form", [None, "float32"])
def test_groups_that_stand_behind_many_items_of_two_others(form):
    groups = np.concatenate([np.arange(320) % 2, np.arange(2, 82)])
    X = 1 + np.random.default_rng(0).random((400, 8), np.float32)
    X[groups > 1] *= -1
    hits = made(X, form, group=groups).search(
        X[:2], 5, rerank=form is not None, group_by="group"
    )
    for query, some in zip(X[:2], hits, strict=True):
        distances = ((X - query) ** 2).sum(axis=1) if form else hamming(X, query)
        expected = by_hand(distances, 5, groups.tolist(), np.ones(400, np.bool_))
        assert [hit.id for hit in some] == [row for row, _ in expected]


@pytest.mark.parametrize("form", [None, "float32", "int8"])
@pytest.mark.parametrize("k", [3, 9])
def test_groups_of_what_is_ranked_again(home, form, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    col = home(made(X, form, group=np.arange(300) % 5))
    hits = col.search(X[:4] + 0.1, k, rerank=True, group_by="group")
    assert hits.metric == ("scores" if form is None else "euclidean")
    every = col.search(X[:4] + 0.1, 300, rerank=True)
    for some, others in zip(hits, every, strict=True):
        first = {}
        for hit in others:
            first.setdefault(hit["group"], hit)
        assert [hit.id for hit in some] == [hit.id for hit in [*first.values()][:k]]
        assert [hit.distance for hit in some] == [
            hit.distance for hit in [*first.values()][:k]
        ]


def test_few_hits_are_held():
    n, k = 40_000, 2
    codes = np.random.default_rng(0).integers(0, 16, (n, 4), np.uint8)
    codes[::4000] |= 240
    groups = np.where(np.arange(n) % 4000, -1, np.arange(n) // 4000)
    names = [f"https://example.org/section/{group:060}" for group in groups]
    col = Collection.create(None, codes=codes, columns={"site": names})
    col.search(codes=codes[:1], group_by="site")
    tracemalloc.start()
    hits = col.search(codes=codes[1:401], k=k, group_by="site", columns=[])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32e6
    assert all(len(set(groups[rows].tolist())) == k for rows in hits.ids)
    distances = np.bitwise_count(codes ^ codes[1]).sum(axis=1, dtype=np.int64)
    assert answer(hits)[0] == by_hand(distances, k, groups.tolist(), np.ones(n, bool))


def test_mistakes():
    col = made(np.eye(8), a=[[1]] * 8)
    with pytest.raises(ArgumentError, match="no column 'b'"):
        col.search(np.eye(8), group_by="b")
    with pytest.raises(ArgumentError, match="cannot be grouped by 'a'"):
        col.search(np.eye(8), group_by="a")
    frame = {"sku": [*range(8)], "v": [*np.eye(8)]}
    of_ids = Collection.create(None, frame, encoder=ENCODER, column="v", id="sku")
    for name in ("sku", "_id"):
        with pytest.raises(ArgumentError, match=f"by '{name}', their ids: each"):
            of_ids.search(np.eye(8), group_by=name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_zero_is_one_group_and_so_is_nan(home, dtype):
    values = np.array([0.0, -0.0, np.nan, -np.nan, np.inf] * 4, dtype)
    column = pa.array(values, mask=np.arange(20) == 0)
    col = home(made(np.ones((20, 8)), f=column))
    (hits,) = col.search(np.ones((1, 8)), 9, group_by="f")
    assert [hit.id for hit in hits] == [0, 1, 2, 4]  # null is the first


@pytest.mark.parametrize("plain", [False, True])
def test_dictionaries_whose_entries_repeat(home, plain):
    entries = pa.array(["x", "y", "x", None])
    first = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 3]), entries)
    second = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["z", "u", "y"]))
    columns = [first, second]
    if plain:
        columns = [column.cast(pa.string()) for column in columns]
    col = home(made(np.ones((4, 8)), c=columns[0]))
    col.add(np.ones((2, 8)), columns={"c": columns[1]})
    (hits,) = col.search(np.ones((1, 8)), 9, group_by="c")
    assert [hit.id for hit in hits] == [0, 1, 2, 5]
    assert [hit["c"] for hit in hits] == ["y", "x", None, "z"]


def test_groups_of_later_versions(home):
    X = np.repeat(np.eye(8), 2, axis=0)
    col = home(made(X, g=[*range(16)]))
    assert len(col.search(X[:1], 99, group_by="g")[0]) == 16
    col.update(None, ids=col.ids, columns={"g": [i // 4 for i in range(16)]})
    assert [hit.id for hit in col.search(X[:1], 99, group_by="g")[0]] == [0, 4, 8, 12]
    col.delete([0])
    assert [hit.id for hit in col.search(X[:1], 2, group_by="g")[0]] == [1, 4]
