"""Recall agrees with counting in every order of the ties."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError
from fewbits.evaluation import neighbour_recall

items = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6)
QUERY = np.zeros((1, 1), np.uint8)


def orders(ranking):
    """Every order of the truth values that sorts the distances."""
    groups = [[t for d, t in ranking if d == level] for level in range(3)]
    return np.array(
        [sum(o, ()) for o in product(*(list(permutations(g)) for g in groups))]
    )


@given(ranking=items, k=st.integers(1, 8))
def test_recall_over_all_orders(ranking, k):
    codes = np.array([[0, 1, 3][d] for d, _ in ranking], np.uint8)[:, None]
    neighbours = [[i for i, (_, near) in enumerate(ranking) if near] or [-1]]
    hits = orders(ranking)[:, : min(k, len(ranking))].sum(axis=1)
    if neighbours == [[-1]]:
        with pytest.raises(ArgumentError, match="none of the 1 queries"):
            neighbour_recall(QUERY, codes, neighbours, k)
    else:
        score = neighbour_recall(QUERY, codes, neighbours, k)
        assert score.value == pytest.approx(hits.mean() / len(neighbours[0]))
