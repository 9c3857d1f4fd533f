"""The named splits have their published sizes."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from research.common.splits import standard_split

CIFAR = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 6000))


def sizes(split):
    return len(split.query), len(split.train), len(split.database)


@pytest.mark.parametrize(
    ("name", "expected", "train_in_database"),
    [
        ("cifar10", (1000, 5000, 54_000), False),
        ("cifar10-1", (1000, 5000, 59_000), True),
        ("cifar10-2", (10_000, 50_000, 50_000), True),
    ],
)
def test_sizes_of_the_named_splits(name, expected, train_in_database):
    split = standard_split(name, CIFAR, random_state=1)
    assert sizes(split) == expected
    assert not np.isin(split.query, split.database).any()
    assert not np.isin(split.query, split.train).any()
    assert np.isin(split.train, split.database).all() == train_in_database
    assert set(np.bincount(CIFAR[split.query])) == {expected[0] // 10}
    assert set(np.bincount(CIFAR[split.train])) == {expected[1] // 10}
    assert name in split.protocol


def test_official_test_images_are_the_queries():
    test = np.arange(60_000) >= 50_000
    split = standard_split("cifar10-2", CIFAR, query=test, random_state=0)
    assert split.query.tolist() == list(range(50_000, 60_000))
    assert sizes(split) == (10_000, 50_000, 50_000)
    with pytest.raises(ArgumentError, match=r"imagenet-100 needs query="):
        standard_split("imagenet-100", CIFAR)
    split = standard_split("imagenet-100", CIFAR, query=test, random_state=0)
    assert sizes(split) == (10_000, 1300, 50_000)
