import numpy as np
import pytest

from fewbits.classify import nearest_vote, vote
from fewbits.codes import Neighbours, hamming_topk
from fewbits.errors import ArgumentError


def neighbours(distances, ids):
    return Neighbours(np.array(distances, np.int32), np.array(ids, np.int64))


def test_majority_wins():
    found = vote(neighbours([[1, 2, 3]], [[0, 1, 2]]), ["b", "a", "a"])
    assert found.labels.tolist() == ["a"]
    assert found.shares[0] == pytest.approx(2 / 3)


def test_of_equal_votes_the_nearer_wins():
    assert vote(neighbours([[1, 5]], [[0, 1]]), ["z", "a"]).labels[0] == "z"


def test_of_equal_votes_and_distances_the_first_label_wins():
    assert vote(neighbours([[5, 5]], [[0, 1]]), ["z", "a"]).labels[0] == "a"


def test_equally_near_share_what_is_left():
    found = vote(neighbours([[1, 2, 2, 2]], [[0, 1, 2, 3]]), ["a", "b", "b", "a"], k=2)
    assert found.labels[0] == "a"
    assert found.shares[0] == pytest.approx((1 + 1 / 3) / 2)
    found = vote(neighbours([[2, 2, 2, 9]], [[0, 1, 2, 3]]), ["a", "b", "b", "a"], k=1)
    assert found.labels[0] == "b"
    assert found.shares[0] == pytest.approx(2 / 3)


def test_order_of_neighbours_does_not_matter():
    mixed = neighbours([[3, 1, 2, -1, 2]], [[0, 1, 2, -1, 3]])
    ordered = neighbours([[1, 2, 2, 3, -1]], [[1, 3, 2, 0, -1]])
    labels = ["a", "c", "b", "b"]
    for k in [None, 1, 2, 3, 9]:
        assert vote(mixed, labels, k) == vote(ordered, labels, k)


def test_nearest_vote_is_a_vote_of_all_that_are_as_near():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (60, 1), np.uint8)
    queries, labels = codes[:20], rng.integers(4, size=60)
    everyone = hamming_topk(queries, codes, 60)
    for k in [1, 7, 60, 99]:
        found, expected = (
            nearest_vote(queries, codes, labels, k),
            vote(everyone, labels, k),
        )
        assert found.labels.tolist() == expected.labels.tolist()
        np.testing.assert_array_equal(found.shares, expected.shares)


def test_no_queries_and_no_codes():
    codes = np.zeros((3, 1), np.uint8)
    assert nearest_vote(codes[:0], codes, ["a", "b", "b"]).labels.tolist() == []
    with pytest.raises(ArgumentError, match="without codes"):
        nearest_vote(codes, codes[:0], [])
    with pytest.raises(ArgumentError, match="k must be"):
        nearest_vote(codes, codes, ["a", "b", "b"], 0)


def test_padding_does_not_vote():
    found = vote(neighbours([[4, -1, -1]], [[2, -1, -1]]), [7, 7, 3])
    assert found.labels.tolist() == [3]
    assert found.shares.tolist() == [1.0]


def test_nobody_to_vote():
    with pytest.raises(ArgumentError, match="no votes to count"):
        vote(neighbours([[-1]], [[-1]]), ["a"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"], "got 1 for at least 2 items"),
        ([], "got 0 for at least 2 items"),
        ([None, None], "labels must be classes, but are missing in 2 of 2"),
        ([["a", "b"]], r"must have 1 dimension, got shape \(1, 2\)"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(ArgumentError, match=message):
        vote(neighbours([[1, 2]], [[0, 1]]), labels)
