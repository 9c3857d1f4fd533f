"""Masks of conditions that are asked again."""

import pickle

import numpy as np
import pyarrow.compute as pc
import pytest

from fewbits import filters
from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

X = np.eye(8, dtype=np.float32)
N = np.arange(8)


@pytest.fixture
def bundle():
    encoder = LinearEncoder(np.eye(8), np.zeros(8))
    return Bundle(encoder).with_items(X, columns={"n": N})


@pytest.fixture
def asked(monkeypatch):
    """Return the list of the conditions that are evaluated."""
    asked = []
    evaluate = filters.matching_rows

    def counted(filter, *rest):
        asked.append(str(filter))
        return evaluate(filter, *rest)

    monkeypatch.setattr(filters, "matching_rows", counted)
    return asked


def found(bundle, condition):
    return sorted(bundle.search(X[:1], k=8, filter=condition).ids[0].tolist())


def test_a_condition_is_evaluated_once(bundle, asked):
    for _ in range(3):
        assert found(bundle, "n > 5") == [-1] * 6 + [6, 7]
    assert asked == ["n > 5"]
    for i in range(5):
        found(bundle, f"n > {i}")
    found(bundle, "n > 4")
    assert len(asked) == 6  # of the last ones
    found(bundle, "n > 5")
    assert len(asked) == 7


def test_expressions_are_evaluated_each_time(bundle, asked):
    for _ in range(2):
        assert found(bundle, pc.field("n") > 5) == [-1] * 6 + [6, 7]
    assert len(asked) == 2


def test_changes_are_seen(bundle):
    assert found(bundle, "n > 5") == [-1] * 6 + [6, 7]
    assert found(bundle.delete([7]), "n > 5") == [-1] * 7 + [6]
    more = bundle.add(X[:1], columns={"n": [9]})
    assert found(more, "n > 5") == [-1] * 5 + [6, 7, 8]
    other = bundle.with_column("n", N[::-1])
    assert found(other, "n > 5") == [-1] * 6 + [0, 1]


def test_what_is_wrong_is_told_each_time(bundle):
    for _ in range(2):
        with pytest.raises(ArgumentError, match="no column 'm'"):
            found(bundle, "m > 5")


def test_a_copy_answers_alike(bundle):
    found(bundle, "n > 5")
    other = pickle.loads(pickle.dumps(bundle))
    assert found(other, "n > 5") == found(bundle, "n > 5")
