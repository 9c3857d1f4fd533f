import numpy as np
import pytest

from fewbits.codes import Neighbours
from fewbits.decoding import vote
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
        (["a", None], "labels must be all strings or all numbers"),
        ([["a", "b"]], r"must be a list, got shape \(1, 2\)"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(ArgumentError, match=message):
        vote(neighbours([[1, 2]], [[0, 1]]), labels)
