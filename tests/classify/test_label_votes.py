"""Votes of neighbours with several labels, beside counting by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import label_votes, nearest_label_votes
from fewbits.codes import Neighbours, hamming_distances, hamming_topk
from fewbits.errors import ArgumentError


def by_hand(distances, labels, k):
    """Return the shares of one query: those at the last distance share what is left."""
    last = sorted(distances)[k - 1]
    nearer = [i for i, each in enumerate(distances) if each < last]
    tied = [i for i, each in enumerate(distances) if each == last]
    weight = dict.fromkeys(nearer, Fraction(1))
    weight |= dict.fromkeys(tied, Fraction(k - len(nearer), len(tied)))
    return [
        float(sum(share for i, share in weight.items() if labels[i][label]) / k)
        for label in range(len(labels[0]))
    ]


@given(data=st.data())
def test_nearest_codes_vote(data):
    draw = data.draw
    n, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, 4, (n, 1), np.uint8)  # so few that many are equally near
    queries = rng.integers(0, 4, (draw(st.integers(0, 3)), 1), np.uint8)
    labels, k = rng.integers(0, 2, (n, n_labels)), draw(st.integers(1, n))
    distances = hamming_distances(queries, codes).tolist()
    expected = [by_hand(row, labels.tolist(), k) for row in distances]
    expected = np.array(expected).reshape(len(queries), n_labels)
    found = nearest_label_votes(queries, codes, labels, k)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if len(queries):
        everything = hamming_topk(queries, codes, n)
        found = label_votes(everything, labels, k)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_each_neighbour_has_a_vote():
    found = Neighbours(np.array([[0, 5, -1]]), np.array([[2, 0, -1]]))
    shares = label_votes(found, np.array([[True, False], [True, True], [True, True]]))
    assert shares.tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize("labels", [[1, 0, 1], [[1], [0]], 3, np.zeros((2, 2, 2))])
def test_labels_that_do_not_fit(labels):
    codes = np.zeros((3, 1), np.uint8)
    for ask in (
        lambda: nearest_label_votes(codes, codes, labels, 1),
        lambda: label_votes(hamming_topk(codes, codes, 3), labels),
    ):
        with pytest.raises(ArgumentError, match="a matrix with a row for each of 3"):
            ask()


def test_no_votes():
    codes = np.zeros((3, 1), np.uint8)
    with pytest.raises(ArgumentError, match="without codes"):
        nearest_label_votes(codes, codes[:0], np.zeros((0, 2)))
    nothing = Neighbours(np.array([[-1]]), np.array([[-1]]))
    with pytest.raises(ArgumentError, match="without neighbours"):
        label_votes(nothing, np.zeros((1, 2)))
