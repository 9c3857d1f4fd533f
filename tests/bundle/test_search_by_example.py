"""Search by example through a bundle."""

import numpy as np
import pytest

from fewbits.bundle import Bundle
from fewbits.bundle._examples import balance_of
from fewbits.codes import unpack
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.learners import ITQ

CLASSES, EACH = 20, 30


@pytest.fixture(scope="module")
def bundle():
    """Twenty clusters; ids count down, so that they are not rows."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, 16)) * 2
    X = np.repeat(centres, EACH, axis=0) + rng.normal(size=(CLASSES * EACH, 16))
    encoder = ITQ(n_bits=64, random_state=0).fit(X).encoder_
    return Bundle(encoder).with_items(X, ids=np.arange(len(X))[::-1] + 7)


def members(bundle, number):
    return bundle.collection.ids[number * EACH : (number + 1) * EACH]


def test_most_answers_are_members(bundle):
    precision = [
        np.isin(bundle.search_by_example(ids=ids[:5], k=20).ids, ids).mean()
        for ids in (members(bundle, number) for number in range(CLASSES))
    ]
    assert np.mean(precision) > 0.8


def test_more_examples_find_more_though_members_are_among_the_random_items(bundle):
    """All that is not given is a random item here, a third of each class at least."""

    def precision(n):
        return np.mean(
            [
                np.isin(bundle.search_by_example(ids=ids[:n], k=10).ids, ids).mean()
                for ids in (members(bundle, number) for number in range(CLASSES))
            ]
        )

    found = [precision(n) for n in (1, 5, 20)]
    assert found == sorted(found)
    assert found[-1] > 0.85


@pytest.mark.parametrize(
    ("n_members", "n_others", "ratio"),
    [(1, 1000, 1000**0.5), (10, 1000, 10**0.5), (50, 1000, 1), (3, 3, 1), (8, 2, 0.25)],
)
def test_weight_of_an_example_beside_a_random_item(n_members, n_others, ratio):
    balance = balance_of(n_members, n_others)
    assert (n_others / n_members) ** balance == pytest.approx(ratio)
    assert 0 <= balance <= 1


def test_examples_are_left_out_and_scores_fall(bundle):
    ids = members(bundle, 3)
    found = bundle.search_by_example(ids=ids[:5], not_ids=ids[5:7], k=10**9)
    assert len(found.ids) == len(bundle.collection) - 7
    assert not np.isin(ids[:7], found.ids).any()
    assert (np.diff(found.scores) <= 0).all()


def test_conditions_leave_the_scores_as_they_are(bundle):
    ids = members(bundle, 3)[:5]
    everything = bundle.search_by_example(ids=ids, k=10**9)
    found = bundle.search_by_example(
        ids=ids, k=10**9, filter="bit(0) = 1 and bit(5) = 0"
    )
    rows = bundle.collection.rows(everything.ids)
    bits = unpack(bundle.collection.codes[rows], bundle.encoder.n_bits)
    kept = (bits[:, 0] == 1) & (bits[:, 5] == 0)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(found.ids, everything.ids[kept])
    np.testing.assert_array_equal(found.scores, everything.scores[kept])


def test_items_from_outside(bundle):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3, 16)) * 0.1 + 1
    found = bundle.search_by_example(X, -X, k=5, n_random=0)
    codes = bundle.collection.codes[bundle.collection.rows(found.ids)]
    np.testing.assert_array_equal(
        found.ids, bundle.search_by_example(np.tile(X, (2, 1)), -X, k=5, n_random=0).ids
    )
    assert len(codes) == 5


def test_what_is_given_twice_counts_once(bundle):
    ids = members(bundle, 3)
    once = bundle.search_by_example(ids=ids[:3], not_ids=ids[5:6])
    twice = bundle.search_by_example(ids=[*ids[:3], ids[0]], not_ids=[ids[5]] * 9)
    np.testing.assert_array_equal(once.scores, twice.scores)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no positive one"),
        ({"ids": [10**6]}, "no item with id 1000000"),
        ({"ids": [7, 8], "not_ids": [8]}, "item 8 is given as a member and as none"),
        ({"ids": [7], "k": 0}, "k must be at least 1"),
        ({"ids": [7.5]}, "whole numbers"),
        (
            {"examples": np.ones((1, 16), "f4"), "counterexamples": np.ones((2, 16))},
            "an item is given as a member and as none",
        ),
        (
            {"examples": [[0.5] * 16], "counterexamples": [[1.0] * 16, [0.5] * 16]},
            "an item is given as a member and as none",
        ),
        ({"ids": [7], "n_random": -1}, "n_random must be at least 0, got -1"),
        ({"ids": [7], "n_random": 1.5}, "n_random must be a whole number"),
        ({"ids": [7], "random_state": None}, "random_state must be a whole number"),
        ({"ids": None}, "ids must be a list of whole numbers"),
        ({"ids": [7], "filter": "nope = 1"}, "nope"),
        ({"ids": [7], "allowed": [999]}, "no item with id 999"),
        ({"ids": [7], "n_random": 0}, "nothing to tell the class from"),
    ],
)
def test_mistakes(bundle, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        bundle.search_by_example(**arguments)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_vectors_of_the_collection_are_known_again(bundle, dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 16)).astype(np.float32)
    encoder = bundle.encoder
    kept = Bundle(encoder).with_items(X, ids=np.arange(40) + 5, keep_vectors=dtype)
    found = kept.search_by_example([*X[[3, 30]], X[0] + 1], k=40)
    assert set(kept.items.ids.tolist()) - set(found.ids.tolist()) == {8, 35}
    with pytest.raises(ArgumentError, match="item 8 is given as a member and as none"):
        kept.search_by_example([X[3]], not_ids=[8])
    without = Bundle(encoder).with_items(X)
    assert len(without.search_by_example(X[:2], k=40).ids) == 40


@pytest.mark.parametrize("items", [None, 3, "a text", {1: 2}])
def test_examples_that_are_no_items(bundle, items):
    for sides in ((items, ()), (np.ones((1, 16)), items)):
        with pytest.raises(FewbitsError):
            bundle.search_by_example(*sides)
