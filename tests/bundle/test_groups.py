"""The best item of each group, against every item sorted by hand."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle
from fewbits.bundle._group_numbers import numbers_of
from fewbits.encoders import LinearEncoder
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


@pytest.mark.parametrize("keep_vectors", [None, "float32"])
def test_re_ranked(keep_vectors):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    names = np.arange(300) % 5
    bundle = Bundle(ENCODER).with_items(
        X, columns={"group": names}, keep_vectors=keep_vectors
    )
    (hits,) = bundle.search_records(X[:1], 3, rerank=True, group_by="group")
    every = bundle.search_records(X[:1], 300, rerank=True)[0]
    first = {}
    for hit in every:
        first.setdefault(hit["columns"]["group"], hit)
    assert hits == list(first.values())[:3]


def test_mistakes():
    bundle = Bundle(ENCODER).with_items(np.eye(8), columns={"a": [[1]] * 8})
    with pytest.raises(ArgumentError, match="no column 'b'"):
        bundle.search_records(np.eye(8), group_by="b")
    with pytest.raises(ArgumentError, match="cannot be grouped by 'a'"):
        bundle.search_records(np.eye(8), group_by="a")


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
