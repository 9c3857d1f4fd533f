"""Precision and recall agree with counting in every order of the ties."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    precision_at,
    recall_at,
    same_label,
)

items = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6)


def orders(ranking):
    """Every order of the truth values that sorts the distances."""
    groups = [[t for d, t in ranking if d == level] for level in range(3)]
    return np.array(
        [sum(o, ()) for o in product(*(list(permutations(g)) for g in groups))]
    )


def as_data(ranking):
    """Codes at the wanted distances from a query of zeros, and their relevance."""
    database = np.array([[0, 1, 3][d] for d, _ in ranking], np.uint8)[:, None]
    truth = [int(t) for _, t in ranking]
    return np.zeros((1, 1), np.uint8), database, same_label([1], truth)


@given(ranking=items, k=st.integers(1, 8))
def test_precision_and_recall_over_all_orders(ranking, k):
    queries, database, relevance = as_data(ranking)
    length = min(k, len(ranking))
    hits = orders(ranking)[:, :length].sum(axis=1)
    for ties, expected in [
        ("expected", hits.mean()),
        ("optimistic", hits.max()),
        ("pessimistic", hits.min()),
        ("stable", sum(t for _, t in sorted(ranking, key=lambda x: x[0])[:length])),
    ]:
        score = precision_at(queries, database, relevance, k, ties=ties)
        assert score.value == pytest.approx(expected / length)
        relevant = sum(t for _, t in ranking)
        if relevant:
            score = recall_at(queries, database, relevance, k, ties=ties)
            assert score.value == pytest.approx(expected / relevant)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    database = rng.integers(0, 8, (50, 2), dtype=np.uint8)
    labels = rng.integers(0, 5, 50)
    return database[:9], database, same_label([*labels[:8], 99], labels)


def test_query_without_relevant_items_has_precision_zero_and_no_recall(data):
    assert precision_at(*data, 5).per_query[8] == 0
    recall = recall_at(*data, 5)
    assert np.isnan(recall.per_query[8])
    assert recall.n_skipped == 1


def test_options_are_checked(data):
    with pytest.raises(ArgumentError, match="k must be at least 1, got 0"):
        precision_at(*data, 0)
    with pytest.raises(ArgumentError, match="k must be at least 1, got -1"):
        recall_at(*data, -1)
    queries, database, _ = data
    unknown = same_label(np.full(9, 7), np.zeros(50))
    with pytest.raises(ArgumentError, match="none of the 9 queries"):
        recall_at(queries, database, unknown, 3)
