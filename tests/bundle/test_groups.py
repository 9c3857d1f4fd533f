"""The best item of each group, against every item sorted by hand."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle, _grouped, _user_columns
from fewbits.bundle._group_numbers import numbers_of
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError

ENCODER = LinearEncoder(np.eye(8), np.zeros(8))


def by_hand(bundle, query, k, groups, allowed):
    """Return the ids of the first item of each group, by (distance, row)."""
    differing = bundle.collection.codes ^ bundle.encode(query[None])
    distances = np.bitwise_count(differing).sum(axis=1)
    seen, found = set(), []
    for row in np.argsort(distances, kind="stable"):
        if allowed[row] and groups[row] not in seen:
            seen.add(groups[row])
            found.append((int(row), int(distances[row])))
    return found[:k]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 40), st.integers(1, 12))
def test_any_groups(seed, n, n_groups, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)).astype(np.float32)
    names = [None if g == 0 else f"g{g}" for g in rng.integers(0, n_groups, n)]
    bundle = Bundle(ENCODER).with_items(X, columns={"group": names})
    allowed = rng.random(n) < 0.7
    queries = rng.normal(size=(3, 8)).astype(np.float32)
    found = bundle.search_records(queries, k, group_by="group", allowed=allowed)
    best = bundle.search(queries, k, group_by="group", allowed=allowed)
    assert best.ids.shape == best.distances.shape == (3, k)
    for query, hits, *rest in zip(queries, found, *best, strict=True):
        told = [(hit["id"], hit["distance"]) for hit in hits]
        assert told == by_hand(bundle, query, k, names, allowed)
        padded = told + [(-1, -1)] * (k - len(told))
        assert [
            tuple(map(int, each[::-1])) for each in zip(*rest, strict=True)
        ] == padded


@pytest.mark.parametrize("most", [0, 99])
@pytest.mark.parametrize("seed", range(20))
def test_every_way_to_the_missing_groups(monkeypatch, seed, most):
    """Each group by itself, or those that were not found, a few hits at a time."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 80)), int(rng.integers(2, 9))
    groups = np.minimum(rng.geometric(0.3, n), 6)
    X = rng.normal(size=(n, 8)) + 3 * rng.normal(size=(9, 8))[groups]
    bundle = Bundle(ENCODER).with_items(X, columns={"group": groups})
    allowed = rng.random(n) < rng.choice([0.3, 1.0])
    queries = X[:7]
    monkeypatch.setattr(_grouped, "_LOOKED_AT", (1, 2))
    monkeypatch.setattr(_grouped, "_HITS", rng.choice([1, 20, 99]))
    monkeypatch.setattr(_grouped, "_MOST_ALONE", most)
    way = "_take_each_group" if most else "_take_other_groups"
    asked, take = [], getattr(_grouped.GroupSearch, way)
    monkeypatch.setattr(
        _grouped.GroupSearch,
        way,
        lambda self, left, *rest: (asked.extend(left), take(self, left, *rest)),
    )
    found = bundle.search(queries, k, group_by="group", allowed=allowed)
    assert asked
    for query, *answer in zip(queries, *found, strict=True):
        told = by_hand(bundle, query, k, groups, allowed)
        told += [(-1, -1)] * (k - len(told))
        distances, ids = (each.tolist() for each in answer)
        assert list(zip(ids, distances, strict=True)) == told


@pytest.mark.parametrize("k", [2, 30])
@pytest.mark.parametrize("case", ["few groups", "one large group"])
def test_few_hits_are_held(case, k):
    n = 80_000
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, (n, 4), np.uint8)
    groups = np.arange(n) % 20
    if case == "one large group":
        codes[::4000] |= 240
        groups = np.where(np.arange(n) % 4000, -1, groups + np.arange(n) // 4000)
    names = [f"https://example.org/section/{group:060}" for group in groups]
    bundle = Bundle(PackedEncoder(32)).with_codes(codes, columns={"site": names})
    bundle.collection.numbered_groups("site")
    tracemalloc.start()
    found = bundle.search_rows_by_code(codes[1:401], k, group_by="site")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32e6
    n_groups = min(k, len(set(groups.tolist())))
    for rows in found.rows[:, :n_groups]:
        assert len(set(groups[rows].tolist())) == n_groups
    assert (found.rows[:, n_groups:] == -1).all()
    distances = np.bitwise_count(codes ^ codes[1]).sum(axis=1, dtype=np.int64)
    best = [
        min(zip(distances[of].tolist(), np.flatnonzero(of).tolist(), strict=True))
        for of in (groups == group for group in set(groups.tolist()))
    ]
    told = zip(found.distances[0].tolist(), found.rows[0].tolist(), strict=True)
    assert list(told)[:n_groups] == sorted(best)[:n_groups]


def test_a_column_is_numbered_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 8))
    bundle = Bundle(ENCODER).with_items(X, columns={"a": list("abcde") * 10})
    (first,) = bundle.search_records(X[:1], 9, group_by="a")
    monkeypatch.setattr(_user_columns, "numbers_of", None)
    assert bundle.search_records(X[:1], 9, group_by="a") == [first]


@pytest.mark.parametrize("keep_vectors", [None, "float32"])
@pytest.mark.parametrize("k", [3, 9])
def test_re_ranked(keep_vectors, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    names = np.arange(300) % 5
    bundle = Bundle(ENCODER).with_items(
        X, columns={"group": names}, keep_vectors=keep_vectors
    )
    (hits,) = bundle.search_records(X[:1], k, rerank=True, group_by="group")
    every = bundle.search_records(X[:1], 300, rerank=True)[0]
    first = {}
    for hit in every:
        first.setdefault(hit["columns"]["group"], hit)
    assert hits == list(first.values())[:k]


def test_mistakes():
    bundle = Bundle(ENCODER).with_items(np.eye(8), columns={"a": [[1]] * 8})
    with pytest.raises(ArgumentError, match="no column 'b'"):
        bundle.search_records(np.eye(8), group_by="b")
    with pytest.raises(ArgumentError, match="cannot be grouped by 'a'"):
        bundle.search_records(np.eye(8), group_by="a")
    frame = {"sku": [*range(8)], "v": [*np.eye(8)]}
    of_ids = Bundle(ENCODER).with_items(frame, vectors="v", id="sku")
    for name in ("sku", "_id"):
        with pytest.raises(ArgumentError, match=f"by '{name}', their ids: each"):
            of_ids.search(np.eye(8), group_by=name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_zero_is_one_group_and_so_is_nan(dtype):
    values = np.array([0.0, -0.0, np.nan, -np.nan, np.inf] * 4, dtype)
    column = pa.array(values, mask=np.arange(20) == 0)
    bundle = Bundle(ENCODER).with_items(np.ones((20, 8)), columns={"f": column})
    (hits,) = bundle.search_records(np.ones((1, 8)), 9, group_by="f")
    assert [hit["id"] for hit in hits] == [0, 1, 2, 4]  # null is the first


def test_dictionaries():
    entries = pa.array(["x", "y", "x", None])
    first = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 3]), entries)
    second = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["z", "u", "y"]))
    column = pa.chunked_array([first, second])
    assert numbers_of(column).tolist() == [0, 1, 2, 2, 0, 3]
    assert numbers_of(column[:0]).tolist() == []
    assert numbers_of(column.slice(1, 4)).tolist() == [0, 1, 1, 2]
    assert numbers_of(column.cast(pa.string())).tolist() == [0, 1, 2, 2, 0, 3]
