"""Items ranked by a class that a few examples define."""

import numpy as np
import pytest

from fewbits import Collection
from fewbits.codes import unpack
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.learners import ITQ

CLASSES, EACH = 20, 30


@pytest.fixture(scope="module")
def col(home):
    """Twenty clusters; ids count down, so that they are not positions."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, 16)) * 2
    X = np.repeat(centres, EACH, axis=0) + rng.normal(size=(CLASSES * EACH, 16))
    encoder = ITQ(n_bits=64, random_state=0).fit(X).encoder_
    ids = np.arange(len(X))[::-1] + 7
    columns = {"row": np.arange(len(X))}
    return home(Collection.create(None, X, encoder=encoder, ids=ids, columns=columns))


def members(col, number):
    return col.ids[number * EACH : (number + 1) * EACH]


def precision(col, n, k=20):
    return np.mean(
        [
            np.isin(col.like(good_ids=ids[:n], k=k).ids, ids).mean()
            for ids in (members(col, number) for number in range(CLASSES))
        ]
    )


def test_most_answers_are_members(col):
    assert precision(col, 5) > 0.8


def test_more_examples_find_more_though_members_are_among_the_random_items(col):
    """All that is not given is a random item here, a third of each class at least."""
    shares = [precision(col, n, 10) for n in (1, 5, 20)]
    assert shares == sorted(shares)
    assert shares[-1] > 0.85


def test_answers_are_hits(col):
    ids = members(col, 3)
    hits = col.like(good_ids=ids[:5], bad_ids=ids[5:7], k=10**9)
    assert (len(hits), hits.metric, hits.version) == (1, "margin", col.version)
    assert hits.ids.shape == (1, len(col) - 7)
    assert not np.isin(ids[:7], hits.ids).any()
    assert (np.diff(hits.distances[0]) >= 0).all()
    for hit in hits[0][:9]:
        assert col.ids[hit["row"]] == hit.id
    assert hits.distances[0, 0] < 0 < hits.distances[0, -1]
    few = col.like(good_ids=ids[:5], bad_ids=ids[5:7], columns=[])
    assert few.ids.shape == (1, 10)
    np.testing.assert_array_equal(few.ids, hits.ids[:, :10])
    assert few[0][0].columns == {}


def test_conditions_leave_the_margins_as_they_are(col):
    ids = members(col, 3)[:5]
    every = col.like(good_ids=ids, k=10**9)
    some = col.like(good_ids=ids, k=10**9, filter="bit(0) = 1 and bit(5) = 0")
    bits = unpack(col.encode(ids=every.ids[0]), col.encoder.n_bits)
    kept = (bits[:, 0] == 1) & (bits[:, 5] == 0)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(some.ids[0], every.ids[0, kept])
    np.testing.assert_array_equal(some.distances[0], every.distances[0, kept])
    allowed = col.like(good_ids=ids, allowed=every.ids[0, 100:109])
    np.testing.assert_array_equal(allowed.ids, every.ids[:, 100:109])
    assert col.like(good_ids=ids, filter="bit(0) = 1", allowed=[]).to_list() == [[]]


def test_items_from_outside(col):
    X = np.random.default_rng(1).normal(size=(3, 16)) * 0.1 + 1
    hits = col.like(X, -X, k=5, n_random=0)
    twice = col.like(np.tile(X, (2, 1)), -X, k=5, n_random=0)
    np.testing.assert_array_equal(hits.ids, twice.ids)
    assert hits.ids.shape == (1, 5)
    others = col.like(X, -X, k=5, n_random=0, C=1e-4)
    assert abs(others.distances).max() < abs(hits.distances).max()


def test_what_is_given_twice_counts_once(col):
    ids = members(col, 3)
    once = col.like(good_ids=ids[:3], bad_ids=ids[5:6])
    twice = col.like(good_ids=[*ids[:3], ids[0]], bad_ids=[ids[5]] * 9)
    np.testing.assert_array_equal(once.distances, twice.distances)


def test_the_seed_chooses_the_random_items(col):
    ids = members(col, 3)[:1]
    one, same, other = (
        col.like(good_ids=ids, n_random=30, random_state=seed).ids.tolist()
        for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no positive one"),
        ({"good_ids": [10**6]}, "no item with id 1000000"),
        ({"good_ids": [7, 8], "bad_ids": [8]}, "item 8 is given as a member and"),
        ({"good_ids": [7], "k": 0}, "k must be at least 1"),
        ({"good_ids": [7], "k": 1.5}, "k must be a whole number"),
        ({"good_ids": [7.5]}, "whole numbers"),
        ({"good_ids": ["a"]}, "whole numbers"),
        (
            {"good": np.ones((1, 16), "f4"), "bad": np.ones((2, 16))},
            "an item is given as a member and as none",
        ),
        (
            {"good": [[0.5] * 16], "bad": [[1.0] * 16, [0.5] * 16]},
            "an item is given as a member and as none",
        ),
        ({"good_ids": [7], "n_random": -1}, "n_random must be at least 0, got -1"),
        ({"good_ids": [7], "n_random": 1.5}, "n_random must be a whole number"),
        ({"good_ids": [7], "random_state": None}, "random_state must be a whole"),
        ({"good_ids": [7], "random_state": "x"}, "random_state must be a whole"),
        ({"good_ids": [7], "C": 0}, "C"),
        ({"good_ids": None}, "ids must be a list of whole numbers"),
        ({"good_ids": [7], "filter": "nope = 1"}, "nope"),
        ({"good_ids": [7], "allowed": [999]}, "no item with id 999"),
        ({"good_ids": [7], "columns": ["x"]}, "no column 'x'"),
        ({"good_ids": [7], "n_random": 0}, "nothing to tell the class from"),
        ({"good": "a text"}, "."),
        ({"good": None}, "."),
        ({"good": 3}, "."),
        ({"good": np.ones((1, 16)), "bad": {1: 2}}, "."),
        ({"good": np.ones((1, 16)), "bad": "a cat"}, "not one string"),
        ({"good": np.ones((1, 3))}, "features"),
    ],
)
def test_mistakes_are_told_in_one_line(col, options, message):
    with pytest.raises(FewbitsError, match=message) as caught:
        col.like(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["float16", "float32", "int8"])
def test_vectors_of_the_collection_are_known_again(col, home, form):
    X = np.random.default_rng(1).normal(size=(40, 16)).astype(np.float32)
    X[9] = X[3]  # whose id is another, but which is the same item
    kept = home(
        Collection.create(
            None, X, encoder=col.encoder, ids=np.arange(40) + 5, keep_vectors=form
        )
    )
    hits = kept.like([*X[[3, 30]], X[0] + 1], k=40)
    assert {*kept.ids.tolist()} - {*hits.ids[0].tolist()} == {8, 14, 35}
    with pytest.raises(ArgumentError, match="item 8 is given as a member and as none"):
        kept.like([X[3]], bad_ids=[8])
    without = Collection.create(None, X, encoder=col.encoder)
    assert without.like(X[:2], k=40).ids.shape == (1, 40)


def test_texts_of_the_collection_are_known_again(home):
    pytest.importorskip("wordllama")
    texts = ["a cat", "a dog", "a horse", "red wine", "white wine", "beer"]
    col = home(Collection.create(None, texts, bits=64))
    hits = col.like(["a cat", "a mouse"], ["beer"], k=9)
    assert {hit["text"] for hit in hits[0]} == {*texts} - {"a cat", "beer"}
    with pytest.raises(ArgumentError, match="'a cat' is given as a member and as none"):
        col.like(["a cat"], ["a cat", "beer"])
