"""Splits have the published sizes, never leak, and come back from their seed."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from research.common.splits import per_class_split

CIFAR = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 6000))


def sizes(split):
    return len(split.query), len(split.train), len(split.database)


def test_the_stored_seed_gives_the_split_again():
    first = per_class_split(CIFAR[:5000], query=5, train=7)
    again = per_class_split(
        CIFAR[:5000], query=5, train=7, random_state=first.random_state
    )
    other = per_class_split(
        CIFAR[:5000], query=5, train=7, random_state=first.random_state + 1
    )
    for role in ("query", "train", "database"):
        np.testing.assert_array_equal(getattr(first, role), getattr(again, role))
    assert first.query.tolist() != other.query.tolist()
    assert str(first.random_state) in first.protocol


def test_rows_with_several_labels_are_drawn_once():
    y = np.random.default_rng(0).random((400, 6)) < 0.4
    split = per_class_split(y, query=10, train=20, database="all", random_state=3)
    assert sizes(split) == (60, 120, 340)
    assert len(np.unique(split.query)) == 60
    assert not np.isin(split.query, split.database).any()


def test_labels_may_be_words():
    y = np.repeat(["cat", "dog"], 10)
    split = per_class_split(y, query=2, train=None, random_state=0)
    assert sizes(split) == (4, 16, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": 9, "train": 1}, "need 9 queries of class 0, only 8 rows"),
        ({"query": 5, "train": 4}, "need 4 training rows of class 0, only 3 rows"),
        ({"query": 0}, "query must be at least 1"),
        ({"query": 1, "train": -1}, "train must be at least 1"),
        ({"query": 1, "train": 1, "database": "most"}, "database must be one of rest"),
        ({"query": [True]}, r"boolean mask of shape \(16,\)"),
        ({"query": np.zeros(16, bool)}, "true for some rows"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"random_state": "x"}, "random_state must be a whole number"),
    ],
)
def test_bad_options_have_one_clear_line(options, message):
    with pytest.raises(ArgumentError, match=message):
        per_class_split(np.arange(16) % 2, **options)


def test_labels_are_checked():
    with pytest.raises(ArgumentError, match="y must not be empty"):
        per_class_split([])
    with pytest.raises(ArgumentError, match="0 and 1 only, got 3"):
        per_class_split([[0, 3]])
